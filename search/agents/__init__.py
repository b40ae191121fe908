"""The door for AI agents: six tools that only read, over the Model Context Protocol."""
