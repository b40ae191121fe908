"""How the shipped weights were made."""
