"""What can go wrong in words a librarian understands: what happened, with which value, what to do."""


class TriptychError(Exception):
    """The text is one sentence that a page or the command line may show as it is."""


class InputError(TriptychError):
    """Something the user gave cannot be used: a query, a file, an option."""


class SettingsError(TriptychError):
    """A setting is unknown or has a value that makes no sense."""


class CorpusError(TriptychError):
    """A corpus is missing, damaged, or was built by something that does not fit."""


class ModelError(TriptychError):
    """A model is missing, cannot be loaded, or is not the one its hash promises."""


class SourceError(TriptychError):
    """A source in the network does not answer, refuses what is asked, or wants something first."""
