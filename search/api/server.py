"""`python -m search serve`: the API alone, in one process or several, stopped without losing an answer."""

from __future__ import annotations

import argparse
import logging
import os
import threading
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from search.api import PREFIX
from search.api.answers import load
from search.api.application import make_api
from search.api.surroundings import alone
from search.corpus.places import require_corpus
from search.errors import InputError, TriptychError
from search.hosts import ANY_ADDRESS
from search.logs import keep_texts_out
from search.settings import API, load_settings, make_new_files_private, place_of

PORT = 8502
MOST_WORKERS = 64
GRACE = 30
"""Seconds that a stopped server gives to what it is doing."""
IDLE = 60
"""Seconds that a connection may be idle; a notebook's next question often takes longer than the usual 5."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--corpus", type=place_of, metavar="DIR", help="a built corpus (default: from the settings)")
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (default: this machine)")
    add("--port", type=int, default=PORT, metavar="N", help=f"default: {PORT}")
    add("--workers", type=int, default=1, metavar="N", help="processes, each with the corpus (default: 1)")
    add("--access", choices=API[:2], help="who may ask: whoever reaches it, or keys (default: setting `api`)")


def run(args: argparse.Namespace) -> int:
    if not 1 <= args.workers <= MOST_WORKERS:
        raise InputError(f"--workers takes 1 to {MOST_WORKERS}, not {args.workers}: choose another number.")
    settings = load_settings()
    settings = settings.at(args.corpus or settings.place).resolved()
    require_corpus(settings.place, settings.milvus_token, settings.milvus_certificate)
    names = [] if args.host in ANY_ADDRESS | {"::"} else [args.host]
    # Workers are processes of their own, and this is how they are told.
    os.environ |= {
        "TRIPTYCH_CORPUS": str(settings.place),
        "TRIPTYCH_API": args.access or ("open" if settings.api == "off" else settings.api),
        "TRIPTYCH_ALLOWED_HOSTS": ",".join([*settings.allowed_hosts, *names]),
        # Each worker counts alone, so each gives its share: all together never more than is set.
        "TRIPTYCH_API_RATE": str(max(1, settings.api_rate // args.workers)),
    }
    load_settings()  # a host name that cannot be one is said here, once
    print(f"Serving http://{args.host}:{args.port}{PREFIX}, Ctrl-C stops it.", flush=True)
    uvicorn.run(
        "search.api.server:make_server",
        factory=True,
        host=args.host,
        port=args.port,
        workers=args.workers,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=IDLE,
        server_header=False,
    )
    return 0


def make_server() -> ASGIApp:
    """One worker: its own engine, opened at once, and a log without texts."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    keep_texts_out()
    settings = load_settings()
    make_new_files_private(settings)
    here = alone(settings.resolved(), settings.api_rate)

    def warm() -> None:
        with suppress(TriptychError):  # told to whoever asks
            load(here.engine())

    threading.Thread(target=warm, name="opening", daemon=True).start()
    return make_api(here)
