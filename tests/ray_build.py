"""Builds a corpus on Ray in a network of its own, for Ray listens on every address: CORPUS STORAGE [FOLDER].

With a folder, an object store runs there, and STORAGE is a folder of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests import own_network

SHARD = 12
"""Papers: a small corpus has several shards."""


def main(corpus: str, storage: str, stored: str = "") -> int:
    own_network.enter()
    from index_build import on_ray
    from index_build.__main__ import main as index_build
    from tests import object_store

    on_ray.SHARD = SHARD
    store = object_store.start(Path(stored)) if stored else None
    try:
        place = object_store.address(storage) if stored else storage
        return index_build(["build", "--out", corpus, "--ray", "--storage", place, "--quiet"])
    finally:
        if store:
            store.kill()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
