"""`python -m search keys`: create, list and revoke the keys of the API."""

from __future__ import annotations

import argparse

from search.api.keys import Keys
from search.settings import load_settings, make_new_files_private


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("create", "list", "revoke"))
    parser.add_argument("name", nargs="?", default="", help="of the key, such as its user or program")
    parser.add_argument("--owner", default="", metavar="EMAIL", help="whose kept searches it may use")


def run(args: argparse.Namespace) -> int:
    settings = load_settings()
    make_new_files_private(settings)
    keys = Keys(settings.library)
    if args.action == "create":
        secret = keys.create(args.name, args.owner)
        print(f"{secret}\n\nKeep it now: it is shown once. Send it as `Authorization: Bearer KEY`.")
    elif args.action == "revoke":
        keys.revoke(args.name)
        print(f"The key {args.name} is not valid any more.")
    else:
        for key in keys.all():
            print(f"{key.name}\t{key.created}\t{key.owner}")
    return 0
