"""From files of papers to a corpus that can be searched."""
