"""What visitors see when something fails: the engine's own sentence, or a reference to the log."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pages.ui.escape import plain
from search.errors import CorpusError, TriptychError

log = logging.getLogger("triptych.app")


@contextmanager
def shown() -> Iterator[None]:
    """Draws an error in place of whatever it interrupted. Also a decorator, for fragments."""
    try:
        yield
    except CorpusError as error:
        st.error(plain(str(error)), icon=":material/error:")
    except TriptychError as error:
        st.warning(plain(str(error)), icon=":material/info:")
    except Exception:
        st.error(sentence(), icon=":material/bug_report:")


def sentence() -> str:
    """Logs the exception being handled and says how to find it again."""
    reference = secrets.token_hex(4)
    log.exception("Fault %s", reference)
    return (
        f"Something went wrong that should not have (reference {reference}). "
        "Try again; if it stays, send the reference to whoever runs this app: its log has the details."
    )
