"""A built corpus on disk: its store, vectors and words, and the manifest that names them."""
