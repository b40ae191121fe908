"""What is too long is cut and the page says so; bad list files get a sentence; the library is locked."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from search.errors import InputError
from search.library.files import load_lists
from search.library.store import Library
from tests.app_driver import open_app, press, text_of


@pytest.mark.usefixtures("host")
def test_a_text_of_too_many_sentences_says_how_many_were_read() -> None:
    app = open_app()
    app.text_area(key="pasted").set_value("Rain\n" + "It rains. " * 1500)
    press(app, "Find papers")
    assert "The text was long: its first 1,000 sentences were taken." in text_of(app)


def test_a_file_of_too_many_papers_says_how_many_are_offered(host: pytest.MonkeyPatch) -> None:
    host.setenv("TRIPTYCH_UPLOAD_PAPERS", "2")
    data = b"".join(b"TY  - JOUR\nTI  - Seals %d\nAB  - We count.\nER  - \n" % n for n in range(3))
    app = open_app()
    app.file_uploader(key="file").set_value(("a.ris", data, "text/plain")).run()
    assert "more than 2 papers: the first 2 are offered" in text_of(app)
    assert app.selectbox[-1].options == ["Seals 0", "Seals 1"]
    fewer = open_app()
    fewer.file_uploader(key="file").set_value(("b.ris", data[: len(data) * 2 // 3], "text/plain")).run()
    assert "are offered" not in text_of(fewer)


SOUND = {"format": "triptych-lists", "version": 1}
DEEP: list[object] = []
for _ in range(400):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "data",
    [
        b'{"format": "triptych-lists", "version": ' + b"9" * 5000 + b"}",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        json.dumps(SOUND | {"version": "x" * 100_000}).encode(),
        json.dumps(SOUND | {"lists": [{"papers": [{"paper": {"id": DEEP}}]}]}).encode(),
        json.dumps(SOUND | {"lists": [{"papers": [{"paper": {"title": 10**4000}}]}]}).encode(),
    ],
    ids=["a long number", "no text", "deep", "a long version", "a deep id", "a long title"],
)
def test_a_bad_list_file_gets_one_short_sentence(data: bytes) -> None:
    with pytest.raises(InputError) as told:
        load_lists(data)
    assert len(str(told.value)) < 200


def test_the_library_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    library = Library.open(tmp_path)
    for sql in (
        f"select * from read_csv('{tmp_path / 'secret.csv'}')",
        f"attach '{tmp_path / 'other.duckdb'}'",
        "set enable_external_access = true",
    ):
        with pytest.raises(duckdb.Error):
            library._connection.execute(sql)
    library.close()
