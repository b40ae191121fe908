"""Small files of every format, damaged at random, and what must hold whatever the damage."""
