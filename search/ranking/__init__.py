"""From what is asked to ranked papers with their evidence: candidates, matching, scoring, explanation."""
