"""Is it good, is it fast: measured the way the field does."""
