"""Whole files of every format, in the shapes that programs write, and what must be read from them."""
