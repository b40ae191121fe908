"""Search the literature by the part that matters: background, method or result."""

import os

__version__ = "0.7.0"

# Else POT loads torch, seconds and 200 MB, for arrays that it is never given here.
os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")
