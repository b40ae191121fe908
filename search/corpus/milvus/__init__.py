"""A corpus on a Milvus server: the same answers as from a folder, on as many machines as it takes."""
