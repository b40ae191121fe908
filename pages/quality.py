"""Explore: a topic in words, answered by facet."""
