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
        st.error(plain(str(error)), icon=":material/database_off:")
    except TriptychError as error:
        st.warning(plain(str(error)), icon=":material/info:")
    except Exception:
        reference = secrets.token_hex(4)
        log.exception("Fault %s", reference)
        st.error(
            f"Something went wrong that should not have (reference {reference}). "
            "Try again; if it stays, send the reference to whoever runs this app: its log has the details.",
            icon=":material/bug_report:",
        )
