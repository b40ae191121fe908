"""A corpus on Milvus, as far as it needs no server: addresses, settings, packing, filters, weights, sizes."""

from __future__ import annotations

import builtins
import socket
import ssl
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_build import sizing
from index_build.__main__ import main
from search.corpus.bm25 import LexicalIndex, idf
from search.corpus.checksums import DamagedError
from search.corpus.milvus import packing, shapes, titles
from search.corpus.milvus.address import is_address, read_address
from search.corpus.milvus.server import UnreachableError, abilities_of, connect
from search.corpus.milvus.watch import Watch
from search.corpus.milvus.words import ReadWords, weigh
from search.errors import SettingsError
from search.settings import Settings, load_settings, place_of
from search.text.labels import decide
from search.text.tokenizer import tokenize
from search.types import Filters, Reference
from tests.milvus_servers import make_certificate
from tests.miniature import all_papers


def test_an_address_has_a_server_a_corpus_and_no_secret() -> None:
    found = read_address("milvus+tls://DB.example.org/Papers_2", "user:word")
    assert (found.host, found.port, found.name, found.secure) == ("db.example.org", 19530, "papers_2", True)
    assert found.url == "https://db.example.org:19530"
    assert str(found) == "milvus+tls://db.example.org:19530/papers_2"
    assert "word" not in repr(found)
    assert read_address("milvus://[::1]:7/a").url == "http://[::1]:7"
    assert is_address("milvus://x/y")
    assert not is_address("corpus")


@pytest.mark.parametrize(
    "text",
    ["milvus://h", "milvus://h/", "milvus://h:0/a", "milvus://h:99999/a", "milvus://h/a-b", "milvus://u@h/a"],
)
def test_what_is_no_address_is_said(text: str) -> None:
    with pytest.raises(SettingsError, match="is no address on Milvus"):
        read_address(text)


def test_the_certificate_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is not there"):
        read_address("milvus+tls://h/a", certificate=tmp_path / "none.pem")


def test_an_address_in_the_settings_wins_until_a_folder_is_named(tmp_path: Path) -> None:
    file = tmp_path / "triptych.toml"
    file.write_text('corpus = "milvus://h/a"\n')
    there = load_settings(file, {"TRIPTYCH_MILVUS_TOKEN": "user:word"})
    assert (there.place, there.milvus_token) == ("milvus://h/a", "user:word")
    assert "word" not in repr(there)
    assert load_settings(file, {"TRIPTYCH_CORPUS": "here"}).place == Path("here")
    assert load_settings(None, {"TRIPTYCH_CORPUS": "MILVUS://h/a"}).place == "MILVUS://h/a"
    assert Settings().at(place_of("milvus://h/b")).place == "milvus://h/b"
    assert there.at(place_of("folder")).place == Path("folder")


def test_nothing_is_built_at_an_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIPTYCH_CORPUS", "milvus://h/a")
    assert main(["build", "papers.bib"]) == 2
    assert "name the folder of the corpus with `--out DIR`" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named_with_its_requirements(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any) -> Any:
        if name == "pymilvus":
            raise ImportError(name)
        return real(name, *given)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SettingsError, match=r"pip install -r requirements-milvus\.txt"):
        connect(read_address("milvus://127.0.0.1:1/a"))


@pytest.mark.parametrize(
    ("version", "sparse", "half"),
    [
        ("v2.3.5-lite", False, False),
        ("2.4.0", True, True),
        ("v2.6.1", True, True),
        ("milvus_lite-3.2.2", True, False),
    ],
)
def test_what_a_server_can_do(version: str, sparse: bool, half: bool) -> None:
    assert (abilities_of(version).sparse, abilities_of(version).half) == (sparse, half)


@pytest.mark.parametrize("paper", all_papers()[:3] + all_papers()[-1:], ids=lambda paper: paper.id)
def test_a_paper_comes_back_as_it_was(paper: Any) -> None:
    given = (0.5, 0.25, 0.25, 0.0, 0.0)
    labelled = replace(
        paper,
        reference=Reference(volume="3"),
        sentences=tuple(
            replace(
                each, probabilities=given, facet=each.facet if each.hinted else decide(each.text, given).facet
            )
            for each in paper.sentences
        ),
    )
    assert packing.unpack_paper(packing.pack_paper(labelled, ["a", "b"])) == (labelled, ("a", "b"))


@given(st.text(max_size=60))
def test_any_letter_survives(text: str) -> None:
    paper = replace(all_papers()[-1], title=text, venue=text, sentences=())
    assert packing.unpack_paper(packing.pack_paper(paper, [text]))[0] == paper


@pytest.mark.parametrize("text", ["", "a", "AAAA", "%%%%", packing.to_text(b"no zlib")])
def test_what_a_stranger_stored_is_damage(text: str) -> None:
    with pytest.raises(DamagedError):
        packing.unpack_paper(text)
    with pytest.raises(DamagedError):
        packing.unpack_vectors(text, 384)


def test_a_text_that_unpacks_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "LARGEST", 100)
    with pytest.raises(DamagedError):
        packing.unpack_paper(packing.pack_paper(all_papers()[0], ["a"]))


def test_vectors_come_back_to_the_bit_and_long_papers_in_parts() -> None:
    random = np.random.default_rng(0)
    sentences = random.normal(size=(120, 384)).astype(np.float16)
    vectors = packing.Vectors(sentences[0], sentences, random.integers(0, 4, 120).astype(np.uint8))
    text = packing.pack_vectors(vectors)
    parts = packing.parts_of(text)
    assert len(parts) == 2
    assert all(len(part) <= packing.LONGEST for part in parts)
    back = packing.unpack_vectors("".join(parts), 384)
    assert np.array_equal(back.sentences, vectors.sentences)
    assert np.array_equal(back.panels, vectors.panels)
    assert np.array_equal(back.whole, vectors.whole)


def test_weights_of_terms_give_the_scores_of_the_word_index(tmp_path: Path) -> None:
    texts = [f"{paper.title} {paper.abstract}" for paper in all_papers()]
    LexicalIndex.build(texts, tmp_path / "words")
    index = LexicalIndex.open(tmp_path / "words")
    counts = [Counter(tokenize(text)) for text in texts]
    average = sum(each.total() for each in counts) / len(counts)
    numbers: dict[str, int] = {}
    stored = [
        weigh({numbers.setdefault(term, 1 + len(numbers)): n for term, n in each.items()}, average, 1.2, 0.75)
        for each in counts
    ]
    asked = {"tumour": 1.0, "graph": 0.5, "study": 2.0}
    weights = {
        numbers[term]: weight * idf(len(texts), index.count_with(term))
        for term, weight in asked.items()
        if term in numbers
    }
    rows = np.arange(len(texts))
    ours = ReadWords(
        weights, lambda rows: [packing.unpack_terms(packing.pack_terms(stored[row])) for row in rows]
    )
    assert ours.of(rows) == pytest.approx(index.scores(asked), abs=1e-5)
    assert ours.of(rows).any()
    assert len(ours.best(9)[0]) == 0


def test_filters_are_numbers_alone() -> None:
    codes = {("venue", 'a" or 1 == 1'): 4, ("field", "x"): 7}
    filters = Filters(2000, 10**30, venues=('a" or 1 == 1', "unknown"), fields=("x",), has_doi=True)
    assert shapes.condition(filters, codes, [5, 3], "paper") == (
        "year >= 2000 and year <= 32767 and year > -32768 and venue in [4] and "
        "array_contains_any(fields, [7]) and paper in [5, 3] and has_doi == 1"
    )
    assert shapes.condition(Filters(venues=("unknown",)), codes, None) == shapes.PASSES_NONE
    assert shapes.condition(Filters(ids=()), codes, []) == shapes.PASSES_NONE
    assert shapes.condition(Filters(), codes, None) == ""


def test_collections_say_which_build_they_are_of() -> None:
    name = shapes.collection_of("acl", "20261118-201544-618-7384", shapes.ABOUT)
    assert name == "acl_20261118_201544_618_7384_about"
    assert shapes.build_of("acl", name) == "20261118-201544-618-7384"
    assert shapes.build_of("other", name) == ""
    assert shapes.build_of("acl", "") == ""


def test_titles_are_found_as_in_a_folder() -> None:
    papers = all_papers()
    wanted = papers[3].title
    slipped = wanted.replace("e", "a", 1) if "e" in wanted else wanted
    assert papers[titles.closest(wanted, papers, 1)[0]].title == wanted
    assert len(titles.letters("x " * 500)) < 10
    assert titles.letters("") == {0: 1.0}
    both = titles.letters(slipped).keys() & titles.letters(wanted).keys()
    assert len(both) > len(titles.letters(wanted)) / 2


class _Counted:
    """A server that has so many rows of everything."""

    address = read_address("milvus://127.0.0.1/a")

    def __init__(self, rows: int) -> None:
        self.rows, self.asked = rows, 0

    def count(self, collection: str) -> int:
        self.asked += 1
        if self.rows < 0:
            raise UnreachableError("The Milvus server does not answer.")
        return self.rows


def test_an_answer_is_whole_only_while_the_counts_are(monkeypatch: pytest.MonkeyPatch) -> None:
    server: Any = _Counted(5)
    watch = Watch(server, {"a_papers": 5})
    assert watch.damage == ""
    asked = server.asked
    assert watch.damage == ""
    assert server.asked == asked  # nothing was asked meanwhile
    server.rows = 3
    watch.asked()
    assert "(3 of 5 rows of a_papers)" in watch.damage
    server.rows = -1
    watch.asked()
    assert "does not answer" in watch.damage
    server.rows = 5
    watch.asked()
    assert watch.damage == ""
    watch.tell("row 3 does not answer")
    assert watch.damage == "row 3 does not answer"


def test_a_server_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pymilvus", reason="pymilvus is not installed: requirements-milvus.txt")
    from search.corpus.milvus import server

    monkeypatch.setattr(server, "CONNECTING", 1.0)
    with pytest.raises(UnreachableError, match="does not answer: see that it runs"):
        connect(read_address("milvus://127.0.0.1:1/a"))


def test_a_server_that_is_not_trusted_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pymilvus", reason="pymilvus is not installed: requirements-milvus.txt")
    from search.corpus.milvus import server

    monkeypatch.setattr(server, "CONNECTING", 2.0)
    certificate = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    context.set_alpn_protocols(["h2"])
    said: list[bytes] = []

    def answer() -> None:
        with suppress(OSError):
            while True:
                with (
                    suppress(ssl.SSLError),
                    context.wrap_socket(listening.accept()[0], server_side=True) as one,
                ):
                    said.append(one.recv(100))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, daemon=True).start()
        place = f"localhost:{listening.getsockname()[1]}/a"
        # Nobody who is trusted has signed it; it is of another name.
        for trusted in (None, certificate):
            with pytest.raises(UnreachableError, match="its certificate is of this name and signed by"):
                connect(read_address(f"milvus+tls://{place}", "user:word", trusted))
        assert b"".join(said) == b""


def test_plans_grow_with_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    small, large = (sizing.plan(sizing.Wanted(papers)) for papers in (10_000_000, 500_000_000))
    for one, other in zip(small.needs, large.needs, strict=True):
        assert other.memory == pytest.approx(50 * one.memory)
        assert other.nodes >= one.nodes >= 2
    flat, quarter = small.needs[0], small.needs[-1]
    assert flat.sentence_bytes > quarter.sentence_bytes > 384 / 4
    assert main(["plan", "--papers", "10000000"]) == 0
    assert "10,000,000 papers, 66,800,000 sentences" in capsys.readouterr().out
