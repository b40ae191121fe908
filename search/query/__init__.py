"""From a pasted text or a paper of the corpus to what is asked: sentences, choices, vectors, links."""
