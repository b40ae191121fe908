"""Servers that speak the protocols of the live sources, and what they do wrong at times."""
