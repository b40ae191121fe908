"""What is new for kept searches: papers that came since, with the reason and the matching sentences."""
