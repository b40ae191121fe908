"""Text -> contextual sentence vectors and facet probabilities. Entered through `load_encoder`."""

from search.encoder.encoder import Encoder
from search.encoder.loading import ModelFolders, load_encoder

__all__ = ["Encoder", "ModelFolders", "load_encoder"]
