"""Plain text in pieces: cleaned, parted into title and abstract, sentences, search terms."""
