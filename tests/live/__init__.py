"""Servers that speak the protocols of the live sources, written from their documentation, and what they do wrong."""
