"""Papers from live sources: asked politely, kept as they came, counted against what was announced."""
