"""The speed command runs its parts and prints what they found."""

import gzip
import json

from evaluation.__main__ import main


def test_import_part(tmp_path, capsys):
    file = tmp_path / "papers.jsonl.gz"
    records = [
        {"id": f"p{n}", "title": f"Paper number {n}", "abstract": "We cut. It works."} for n in range(50)
    ]
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    arguments = ["speed", "--only", "import", "--import-file", str(file), "--import-papers", "40"]
    assert main([*arguments, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["import"]
    assert figures["papers"] == 40
    assert figures["times_bare"] > 0
    assert figures["peak_megabytes"] is None or figures["peak_megabytes"] > 10


def test_missing_file_is_named(tmp_path, capsys):
    assert main(["speed", "--only", "import", "--import-file", str(tmp_path / "nowhere.gz")]) == 2
    assert "nowhere.gz" in capsys.readouterr().err
