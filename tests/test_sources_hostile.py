"""Files that are damaged, hostile or merely odd: what can be read is read, the rest is said in a sentence."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from index_build.sources import Reason, Reject, read, read_bytes, read_stream
from index_build.sources.streams import LIMIT, decode
from search.errors import InputError
from search.types import Paper

RAIN = {"id": "1", "title": "Régen", "abstract": "Ça pleut."}
SNOW = {"id": "2", "title": "Snow", "abstract": "It snows."}


def line(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def parted(items: Iterator[Paper | Reject]) -> tuple[list[Paper], list[Reject]]:
    papers, rejects = [], []
    for item in items:
        if isinstance(item, Paper):
            papers.append(item)
        else:
            rejects.append(item)
    return papers, rejects


def test_every_reason_has_a_sentence_of_advice() -> None:
    for reason in Reason:
        assert reason.advice.endswith(".")
        assert reason.advice[0].isupper()
        assert reason.value == reason.value.lower() or reason.value.isascii()


# -- encodings


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252"]
)
def test_encodings_are_found_out(encoding: str) -> None:
    papers, rejects = parted(read_bytes((line(RAIN) + line(SNOW)).decode().encode(encoding), "x"))
    assert [paper.title for paper in papers] == ["Régen", "Snow"]
    assert papers[0].abstract == "Ça pleut."
    assert not rejects


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_a_json_array_in_any_encoding(encoding: str) -> None:
    papers, rejects = parted(read_bytes(json.dumps([RAIN, SNOW], ensure_ascii=False).encode(encoding), "x"))
    assert [paper.title for paper in papers] == ["Régen", "Snow"]
    assert not rejects


def test_one_line_in_another_encoding_does_not_spoil_the_others() -> None:
    data = line(RAIN) + line({**RAIN, "id": "3"}).decode().encode("latin-1") + line(SNOW)
    papers, _ = parted(read_bytes(data, "x"))
    assert [paper.title for paper in papers] == ["Régen", "Régen", "Snow"]


def test_bytes_without_a_meaning_in_windows_are_still_text() -> None:
    assert decode(b"caf\xe9 \x93quoted\x94") == "café “quoted”"
    assert decode(b"caf\xe9 \x81") == "café \x81"


def test_old_line_ends() -> None:
    ris = "TY  - JOUR\rTI  - Rain\rER  - \rTY  - JOUR\rTI  - Snow\rER  - \r"
    papers, rejects = parted(read_bytes(ris.encode(), "x"))
    assert [paper.title for paper in papers] == ["Rain", "Snow"]
    assert not rejects


def test_null_bytes_are_dropped_and_a_line_of_them_is_empty() -> None:
    data = (
        line(RAIN).replace(b"pleut", b"pl\0eut")
        + b"\0" * 5000
        + b"\n"
        + line({"title": "S\0now"})
        + line(SNOW)
    )
    papers, rejects = parted(read_bytes(data, "x"))
    assert [paper.title for paper in papers] == ["Régen", "Snow", "Snow"]
    assert not rejects


def test_lone_surrogates_do_not_reach_the_store() -> None:
    (paper,) = read_bytes(b'{"id": "\\ud800", "title": "A\\ud800B", "doi": "10.1000/\\ud800x"}', "x")
    assert isinstance(paper, Paper)
    for text in (paper.id, paper.title, paper.doi):
        text.encode()


# -- compression


def test_gzip_is_transparent_also_in_several_members_and_with_padding() -> None:
    data = gzip.compress(line(RAIN)) + gzip.compress(line(SNOW)) + b"\0" * 100
    papers, rejects = parted(read_bytes(data, "x.bib"))
    assert [paper.id for paper in papers] == ["1", "2"]
    assert not rejects


def random_lines(count: int) -> bytes:
    words = [format(zlib.crc32(str(number).encode()), "x") for number in range(count)]
    return b"".join(line({"id": f"p{number}", "title": word}) for number, word in enumerate(words))


@pytest.mark.parametrize("kept", [0.3, 0.9, 0.999])
def test_a_truncated_gzip_gives_what_it_has_and_says_where_it_broke(kept: float) -> None:
    data = random_lines(20_000)
    packed = gzip.compress(data)
    papers, rejects = parted(read_bytes(packed[: int(len(packed) * kept)], "x.jsonl.gz"))
    assert len(papers) > 20_000 * kept * 0.8
    assert [paper.id for paper in papers] == [f"p{number}" for number in range(len(papers))]
    (reject,) = rejects
    assert reject.reason == Reason.CUT_OFF
    given = int(reject.place.removeprefix("after byte ").split()[0])
    assert data[:given].count(b"\n") == len(papers)


def test_a_gzip_damaged_in_the_middle() -> None:
    packed = bytearray(gzip.compress(random_lines(20_000)))
    packed[len(packed) // 2 : len(packed) // 2 + 50] = b"\xff" * 50
    papers, rejects = parted(read_bytes(bytes(packed), "x"))
    assert papers
    assert rejects[-1].reason == Reason.CUT_OFF


@pytest.mark.parametrize("data", [b"\x1f\x8b", b"\x1f\x8b\x08garbage", gzip.compress(b"", mtime=0)])
def test_a_gzip_with_nothing_in_it(data: bytes) -> None:
    (reject,) = read_bytes(data, "x.gz")
    assert isinstance(reject, Reject)
    assert reject.reason in (Reason.CUT_OFF, Reason.EMPTY_FILE)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"<PubmedArticle><ArticleTitle>T{n}</ArticleTitle></PubmedArticle>" for n in range(9000)),
        "".join(f"TY  - JOUR\nTI  - T{n}\nER  - \n" for n in range(9000)),
        "".join(f"@misc{{k{n}, title = {{T{n}}}}}\n" for n in range(9000)),
        "title,year\n" + "".join(f"T{n},2020\n" for n in range(9000)),
        "[" + ",\n".join(f'{{"type": "article", "title": "T{n}", "DOI": ""}}' for n in range(9000)) + "]",
    ],
    ids=["pubmed", "ris", "bibtex", "csv", "csl"],
)  # fmt: skip
def test_every_format_survives_a_truncated_gzip(text: str) -> None:
    packed = gzip.compress(text.encode())
    papers, rejects = parted(read_bytes(packed[: len(packed) // 2], "x"))
    assert len(papers) > 1000
    assert [paper.title for paper in papers] == [f"T{n}" for n in range(len(papers))]
    assert [reject.reason for reject in rejects] == [Reason.CUT_OFF]


# -- size


class Endless(io.RawIOBase):
    """A file made up while it is read, so that the test does not hold what the reader must not hold."""

    def __init__(self, *parts: tuple[bytes, int]) -> None:
        self._parts = [(bytes(piece), times) for piece, times in parts]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while self._parts and self._parts[0][1] == 0:
            self._parts.pop(0)
        if not self._parts:
            return 0
        piece, times = self._parts[0]
        taken = piece[: len(buffer)]
        buffer[: len(taken)] = taken
        rest = [(piece[len(taken) :], 1)] if len(taken) < len(piece) else []
        self._parts[0:1] = [*rest, (piece, times - 1)]
        return len(taken)


@pytest.mark.parametrize(
    ("before", "filling", "after"),
    [
        (line(RAIN) + b'{"title": "', b"x" * 50_000, b'"}\n' + line(SNOW)),
        (
            b"TY  - JOUR\nTI  - Rain\nER  - \nTY  - JOUR\nAB  - x",
            (b"words " * 800 + b"\n") * 10,
            b"\nER  - \nTY  - JOUR\nTI  - Snow\nER  - \n",
        ),
        (
            b"<PubmedArticle><ArticleTitle>Rain</ArticleTitle></PubmedArticle><PubmedArticle><ArticleTitle>",
            b"x" * 50_000,
            b"</ArticleTitle></PubmedArticle><PubmedArticle><ArticleTitle>Snow</ArticleTitle></PubmedArticle>",
        ),
        (
            b'[{"title": "Rain"}, {"title": "',
            b"x" * 50_000,
            b'"}, {"title": "Snow"}]',
        ),
        (b'title,year\nRain,2020\n"', b"x" * 49_999 + b"\n", b'",2020\nSnow,2020\n'),
    ],
    ids=["jsonl", "ris", "xml", "json array", "csv"],
)
def test_a_hundred_megabytes_in_one_record_are_skipped_and_not_held(
    before: bytes, filling: bytes, after: bytes
) -> None:
    stream = Endless((before, 1), (filling, 100_000_000 // len(filling)), (after, 1))
    tracemalloc.start()
    papers, rejects = parted(read_stream(stream, "huge"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [paper.title for paper in papers] in (["Rain", "Snow"], ["Régen", "Snow"])
    assert [reject.reason for reject in rejects] == [Reason.TOO_LONG]
    assert len(rejects[0].raw) <= 500
    assert peak < 8 * LIMIT


# -- JSON


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"title": ', Reason.NOT_JSON),
        (b"[" * 100_000, Reason.TOO_DEEP),
        (b'{"a":' * 100_000, Reason.TOO_DEEP),
        (b'["a", "list"]', Reason.NOT_OBJECT),
        (b'"text"', Reason.NOT_OBJECT),
        (b'{"id": "x", "year": 2000}', Reason.NO_TEXT),
        (b'{"title": "", "abstract": "  "}', Reason.NO_TEXT),
        (b'{"title": ' + b"9" * 5000 + b"}", Reason.NOT_JSON),
    ],
)
def test_bad_lines_are_reported_with_place_and_reason(bad: bytes, reason: Reason) -> None:
    papers, rejects = parted(read_bytes(line(RAIN) + b"\n" + bad + b"\n" + line(SNOW), "x"))
    assert [paper.id for paper in papers] == ["1", "2"]
    (reject,) = rejects
    assert (reject.source, reject.place, reject.reason) == ("x", "line 3", reason)
    assert reject.raw == bad.decode().strip()[:500]


def test_nested_json_in_an_array() -> None:
    data = b'[{"title": "Rain"}, ' + b"[" * 100_000 + b', {"x": 1}, {"title": "Snow"}]'
    papers, rejects = parted(read_bytes(data, "x"))
    assert papers[0].title == "Rain"
    assert papers[-1].title == "Snow"
    assert rejects[0].reason == Reason.TOO_DEEP


# -- XML


def test_entity_bombs_are_not_expanded() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<?xml version="1.0"?><!DOCTYPE s [<!ENTITY e0 "boom">{entities}<!ENTITY f SYSTEM "file:///etc/hostname">]>'
    record = "<PubmedArticle><PMID>{}</PMID><ArticleTitle>{}</ArticleTitle></PubmedArticle>"
    records = record.format(1, "&e9;") + record.format(2, "&f;") + record.format(3, "Fine")
    papers, rejects = parted(
        read_bytes(f"{bomb}<PubmedArticleSet>{records}</PubmedArticleSet>".encode(), "x")
    )
    assert [paper.title for paper in papers] == ["Fine"]
    assert [reject.reason for reject in rejects] == [Reason.NOT_XML, Reason.NOT_XML]


def test_a_record_with_its_own_document_type_is_not_trusted() -> None:
    inner = '<PubmedArticle><!DOCTYPE a [<!ENTITY x "boom">]><ArticleTitle>&x;</ArticleTitle></PubmedArticle>'
    papers, rejects = parted(read_bytes(f"<PubmedArticleSet>{inner}</PubmedArticleSet>".encode(), "x"))
    assert not papers
    assert [reject.reason for reject in rejects] == [Reason.NOT_XML]


# -- files and folders


@pytest.mark.parametrize("content", [b"", b"  \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.bib"
    path.write_bytes(content)
    (reject,) = read(path)
    assert reject == Reject(str(path), "file", "empty file", content.decode("utf-8-sig"))


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n" + bytes(range(256)), b"A letter.\nYours", b"<html></html>"],
    ids=["image", "letter", "page"],
)  # fmt: skip
def test_content_that_is_no_known_format(content: bytes) -> None:
    (reject,) = read_bytes(content, "papers.bib")
    assert isinstance(reject, Reject)
    assert reject.reason == Reason.UNKNOWN_FORMAT
    reject.raw.encode()


def test_a_known_format_without_records() -> None:
    (reject,) = read_bytes(b"title,year\n", "x.csv")
    assert isinstance(reject, Reject)
    assert reject.reason == Reason.NO_RECORDS


def test_a_folder_of_mixed_files_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.txt").write_bytes(line(RAIN))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(b"@misc{k, title = {In BibTeX}}"))
    (tmp_path / "c.png").write_bytes(b"\x89PNG\r\n" + bytes(50))
    (tmp_path / "deep" / "d.csv").write_bytes("title;abstract\nÜber;Öl\n".encode("cp1252"))
    (tmp_path / "deep" / "e.ris").write_bytes(b"")
    (tmp_path / ".hidden").write_bytes(line(SNOW))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "f.jsonl").write_bytes(line(SNOW))
    papers, rejects = parted(read(tmp_path))
    assert [(paper.title, paper.source) for paper in papers] == [
        ("Régen", "jsonl"),
        ("In BibTeX", "bibtex"),
        ("Über", "csv"),
    ]
    assert [(Path(reject.source).name, reject.reason) for reject in rejects] == [
        ("c.png", Reason.UNKNOWN_FORMAT),
        ("e.ris", Reason.EMPTY_FILE),
    ]


def test_paths_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file or folder"):
        read(tmp_path / "missing")
    with pytest.raises(InputError, match="holds no files"):
        read(tmp_path)


def test_a_file_that_cannot_be_opened_does_not_stop_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "b.jsonl")
    (tmp_path / "b.jsonl").write_bytes(line(RAIN))
    loop = tmp_path / "c.jsonl"
    loop.write_bytes(line(SNOW))
    items = read(tmp_path)
    loop.unlink()
    papers, rejects = parted(items)
    assert [paper.id for paper in papers] == ["1", "1"]
    assert [reject.reason for reject in rejects] == [Reason.UNREADABLE]
