"""Papers from JSON: arXiv, Semantic Scholar, OpenAlex, BEIR, CSFCube, CSL-JSON and plain records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_build.sources import (
    Reject,
    arxiv,
    beir,
    csfcube,
    csl,
    detect,
    generic,
    openalex,
    read,
    read_bytes,
    semantic_scholar,
)
from index_build.sources.openalex import rebuild
from index_build.sources.rejects import BadRecord
from search.corpus.store import Store
from search.text.sentences import split_paper
from search.types import Facet, Paper

ARXIV = {
    "id": "2101.00001v2",
    "submitter": "A. Author",
    "authors": "A. Author, B. Author Jr. and the Team",
    "title": 'Sorting in $\\mathcal{O}(n \\log n)$\n  for the na\\"ive',
    "comments": "12 pages",
    "journal-ref": "J.Sorting A12:34-56,2022",
    "doi": "10.1000/SORT.1",
    "categories": "cs.DS math.CO hep-th",
    "abstract": "  We sort $n$ items\nin time~\\cite{x}.\n  It works.\n",
    "versions": [{"version": "v1", "created": "Fri, 1 Jan 2021 10:00:00 GMT"}],
    "update_date": "2023-05-01",
    "authors_parsed": [["Author", "A.", ""], ["Author", "B.", "Jr."], ["Team", "the"]],
}
S2AG = {
    "corpusid": 12,
    "externalids": {"DOI": "10.1000/S2", "ArXiv": "2101.00001", "PubMed": "77", "MAG": None},
    "url": "https://www.semanticscholar.org/paper/12",
    "title": "A graph of papers",
    "abstract": "We draw it.",
    "authors": [{"authorId": "1", "name": "A. Author"}],
    "venue": "",
    "journal": {"name": "Journal of Graphs"},
    "year": 2020,
    "s2fieldsofstudy": [{"category": "Computer Science", "source": "s2-fos-model"}],
}
S2ORC = {
    "paper_id": "13",
    "title": "Parsed",
    "authors": [{"first": "Ada", "middle": ["B."], "last": "Author", "suffix": ""}],
    "abstract": [{"section": "Abstract", "text": "First part."}, {"text": "Second part."}],
    "year": 2019,
    "mag_id": "1",
    "mag_field_of_study": ["Medicine"],
    "pubmed_id": "78",
    "venue": "Some Conference",
}
S2_FULL_TEXT = {
    "corpusid": 14,
    "content": {
        "text": "The title\n\nThe abstract.\n\nThe body.",
        "annotations": {
            "title": '[{"start": "0", "end": "9"}]',
            "abstract": '[{"start": 11, "end": 24}]',
        },
    },
}
OPENALEX = {
    "id": "https://openalex.org/W42",
    "doi": "https://doi.org/10.1000/OA",
    "display_name": "Open <i>works</i>",
    "publication_year": 2018,
    "ids": {"pmid": "https://pubmed.ncbi.nlm.nih.gov/79"},
    "abstract_inverted_index": {"We": [0, 3], "count": [1], "words.": [2], "agree.": [4]},
    "authorships": [{"author": {"display_name": "Ada Author"}}, {"raw_author_name": "B. Author"}],
    "primary_location": {
        "landing_page_url": "https://arxiv.org/abs/1801.00001",
        "source": {"display_name": "Journal of Openness"},
    },
    "primary_topic": {
        "field": {"display_name": "Computer Science"},
        "subfield": {"display_name": "Libraries"},
    },
}
CSL = {
    "id": "author2020",
    "type": "article-journal",
    "title": "Items in <i>style</i>",
    "author": [
        {"family": "Author", "given": "Ada", "non-dropping-particle": "van"},
        {"literal": "The Team"},
    ],
    "issued": {"date-parts": [["2020", 5]]},
    "container-title": "Journal of Style",
    "DOI": "10.1000/CSL",
    "URL": "https://example.org/csl",
    "keyword": "style; Type 2, of two",
    "abstract": "<jats:p>We cite.</jats:p>",
    "note": "PMID: 80\nfound because of its method",
}
CSFCUBE = {
    "paper_id": "15",
    "title": "Labelled",
    "abstract": ["It is hard.", "We try.", "It works."],
    "pred_labels": ["background_label", "method_label", "result_label"],
    "metadata": {"year": "2017"},
}


def lines(*records: object) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def only(data: bytes) -> Paper:
    (paper,) = read_bytes(data, "upload")
    assert isinstance(paper, Paper)
    return paper


def test_arxiv() -> None:
    assert only(lines(ARXIV)) == Paper(
        id="arxiv:2101.00001",
        title="Sorting in O(n log n) for the naïve",
        abstract="We sort n items in time. It works.",
        authors=("Author, A.", "Author, B., Jr.", "Team, the"),
        year=2021,
        venue="J. Sorting A",
        fields=(
            "Computer Science",
            "Mathematics",
            "Physics",
            "Data Structures and Algorithms (cs.DS)",
            "Combinatorics (math.CO)",
            "High Energy Physics: Theory (hep-th)",
        ),
        doi="10.1000/sort.1",
        arxiv_id="2101.00001",
        url="https://arxiv.org/abs/2101.00001",
        source="arxiv",
    )


def test_arxiv_without_parsed_names_and_versions() -> None:
    bare = {
        key: ARXIV[key]
        for key in ("id", "submitter", "authors", "title", "abstract", "categories", "update_date")
    }
    paper = only(lines({**bare, "id": "cs/0101001"}))
    assert paper.id == "arxiv:cs/0101001"
    assert paper.authors == ("A. Author", "B. Author Jr.", "the Team")
    assert paper.year == 2023


@pytest.mark.parametrize(
    ("reference", "journal"),
    [
        ("Phys. Rev. Lett. 125, 121106 (2020)", "Phys. Rev. Lett."),
        ("J. Phys. A: Math. Theor. 44 (2011) 085001", "J. Phys. A: Math. Theor."),
        ("Algebra Letters, Vol. 28, No. 04, pp. 701-720", "Algebra Letters"),
        ("Proceedings of the 12th Meeting\n  (MOW), Town, 18-23", "Proceedings of the 12th Meeting (MOW)"),
        ("Proc. 2006 Conference on X (2006)", "Proc. 2006 Conference on X"),
        ("A&A 621, A47", "A&A"),
        ("2019 ApJ 882, 132", "ApJ"),
        ("Software Practice, Sept. 2010", "Software Practice"),
        ("Rain Research (Forthcoming 2020)", "Rain Research"),
        ("", ""),
    ],
)  # fmt: skip
def test_journal_of_an_arxiv_reference(reference: str, journal: str) -> None:
    assert arxiv.journal_of(reference) == journal


def test_semantic_scholar_graph() -> None:
    paper = only(lines(S2AG))
    assert (paper.id, paper.doi, paper.arxiv_id, paper.pmid) == ("s2:12", "10.1000/s2", "2101.00001", "77")
    assert (paper.venue, paper.fields, paper.authors) == (
        "Journal of Graphs",
        ("Computer Science",),
        ("A. Author",),
    )


def test_abstracts_that_the_graph_keeps_apart_join_their_papers(tmp_path: Path) -> None:
    titles = {key: value for key, value in S2AG.items() if key != "abstract"}
    abstracts = {
        "corpusid": 12,
        "openaccessinfo": {"externalids": S2AG["externalids"]},
        "abstract": "We draw it.",
    }
    with Store.create(tmp_path / "store") as store:
        for record in (titles, abstracts):
            store.add([split_paper(only(lines(record)))])
        paper = store.paper("s2:12")
    assert paper is not None
    assert (paper.title, paper.abstract, paper.year) == ("A graph of papers", "We draw it.", 2020)


def test_semantic_scholar_parsed_papers() -> None:
    paper = only(lines(S2ORC))
    assert paper.abstract == "First part. Second part."
    assert (paper.id, paper.authors, paper.fields) == ("s2:13", ("Author, Ada B.",), ("Medicine",))
    full = only(lines(S2_FULL_TEXT))
    assert (full.title, full.abstract) == ("The title", "The abstract.")


def test_openalex() -> None:
    paper = only(lines(OPENALEX))
    assert paper.id == "openalex:W42"
    assert (paper.title, paper.abstract) == ("Open works", "We count words. We agree.")
    assert (paper.doi, paper.arxiv_id, paper.pmid) == ("10.1000/oa", "1801.00001", "79")
    assert paper.authors == ("Ada Author", "B. Author")
    assert paper.fields == ("Computer Science", "Libraries")


@given(st.lists(st.text(alphabet="abc", min_size=1, max_size=3), max_size=30))
def test_an_inverted_abstract_is_rebuilt(words: list[str]) -> None:
    index: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        index.setdefault(word, []).append(position)
    assert rebuild(index) == rebuild({"IndexLength": len(words), "InvertedIndex": index}) == " ".join(words)


def test_an_answer_of_a_web_service_is_read_like_a_file() -> None:
    answer = {"meta": {"count": 2}, "results": [OPENALEX, {**OPENALEX, "id": "https://openalex.org/W43"}]}
    for text in (json.dumps(answer), json.dumps(answer, indent=2)):
        papers = list(read_bytes(text.encode(), "works.json"))
        assert [paper.id for paper in papers if isinstance(paper, Paper)] == ["openalex:W42", "openalex:W43"]
        assert len(papers) == 2


def test_csl_json() -> None:
    paper = only(json.dumps([CSL]).encode())
    assert paper.id == "doi:10.1000/csl"
    assert (paper.title, paper.abstract, paper.year) == ("Items in style", "We cite.", 2020)
    assert paper.authors == ("van Author, Ada", "The Team")
    assert paper.fields == ("style", "Type 2, of two")
    assert paper.pmid == "80"


def test_csl_json_goes_on_after_a_broken_element() -> None:
    text = (
        f"[{json.dumps(CSL)},\n"
        + '{"title": "broken" "type": 1},\n'
        + f"{json.dumps({**CSL, 'DOI': '10.1000/b'})}]"
    )
    first, broken, last = read_bytes(text.encode(), "items.json")
    assert isinstance(first, Paper)
    assert isinstance(last, Paper)
    assert last.doi == "10.1000/b"
    assert isinstance(broken, Reject)
    assert (broken.place, broken.reason) == ("record 2", "not valid JSON")


def test_beir_keeps_its_ids() -> None:
    paper = only(
        lines(
            {
                "_id": "MED-1",
                "title": "Heart",
                "text": "It beats.",
                "metadata": {"url": "https://example.org"},
            }
        )
    )
    assert (paper.id, paper.abstract, paper.url, paper.source) == (
        "MED-1",
        "It beats.",
        "https://example.org",
        "beir",
    )


def test_csfcube_keeps_its_sentences_and_labels() -> None:
    paper = only(lines(CSFCUBE))
    assert (paper.id, paper.year, paper.abstract) == ("15", 2017, "It is hard. We try. It works.")
    assert [sentence.facet for sentence in paper.sentences] == [Facet.BACKGROUND, Facet.METHOD, Facet.RESULT]
    for sentence in paper.sentences:
        assert paper.abstract[sentence.start : sentence.end] == sentence.text
        assert sentence.hinted


def test_labels_that_do_not_fit_the_sentences_are_left_out() -> None:
    paper = only(lines({**CSFCUBE, "pred_labels": ["method_label"]}))
    assert [sentence.facet for sentence in paper.sentences] == [None, None, None]


def test_plain_records() -> None:
    record = {
        "id": "mine-1",
        "title": "Plain",
        "abstract": "OBJECTIVE: To see. METHODS: We look.",
        "year": "2001",
        "venue": ["acl", "ijcnlp"],
        "authors": "Author, A.; Author, B.",
        "doi": "https://doi.org/10.1000/PL(1)AIN",
        "url": "javascript:alert(1)",
        "keywords": ["x", {"name": "y"}],
    }
    paper = only(lines(record))
    assert (paper.id, paper.year, paper.venue, paper.doi, paper.url) == (
        "mine-1",
        2001,
        "acl, ijcnlp",
        "10.1000/pl(1)ain",
        "",
    )
    assert paper.authors == ("Author, A.", "Author, B.")
    assert paper.fields == ("x", "y")
    assert [section.facet for section in paper.sections] == [Facet.OBJECTIVE, Facet.METHOD]


def test_a_record_without_an_id_gets_a_stable_one() -> None:
    first, second, third = read_bytes(lines({"title": "A"}, {"title": "A"}, {"title": "B"}), "x")
    assert isinstance(first, Paper)
    assert isinstance(third, Paper)
    assert first == second
    assert first.id.startswith("jsonl:")
    assert first.id != third.id
    assert only(lines({"title": "A", "doi": "10.1000/a"})).id == "doi:10.1000/a"


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        (ARXIV, "arxiv"),
        (S2AG, "s2"),
        (S2ORC, "s2"),
        (S2_FULL_TEXT, "s2"),
        (OPENALEX, "openalex"),
        (CSL, "csl-json"),
        (CSFCUBE, "csfcube"),
        ({"_id": "1", "title": "", "text": "x"}, "beir"),
        ({"id": "1", "title": "x"}, "jsonl"),
    ],
    ids=str,
)
def test_format_is_found_by_content(record: dict[str, Any], kind: str) -> None:
    for head in (lines(record), lines(record, record), json.dumps([record], indent=1).encode()):
        assert detect(head, "misleading.bib") == kind


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("module", "example"),
    [
        (arxiv, ARXIV),
        (semantic_scholar, S2AG),
        (semantic_scholar, S2ORC),
        (semantic_scholar, S2_FULL_TEXT),
        (openalex, OPENALEX),
        (csl, CSL),
        (csfcube, CSFCUBE),
        (beir, {"_id": "", "title": "", "text": "", "metadata": {}}),
        (generic, dict.fromkeys(("id", "title", "abstract", "authors", "year", "labels", "sentences"))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
@given(data=st.data())
def test_no_field_of_any_kind_is_a_surprise(
    module: Any, example: dict[str, Any], data: st.DataObject
) -> None:
    changed = data.draw(st.dictionaries(st.sampled_from(sorted(example)), _JSON, min_size=1))
    try:
        paper = module.to_paper({**example, **changed})
    except BadRecord:
        return
    assert paper.id
    assert paper.title or paper.abstract
    assert all(isinstance(text, str) for text in (*paper.authors, *paper.fields, paper.venue, paper.url))


@pytest.mark.data
def test_the_real_collections_are_read_whole(shared_data: Path) -> None:
    expected = {"csfcube/abstracts-csfcube-preds.jsonl": 4205, "citations/papers.jsonl.gz": 21675}
    for name, count in expected.items():
        papers = list(read(shared_data / name))
        assert len(papers) == count
        assert not any(isinstance(paper, Reject) for paper in papers)
        assert len({paper.id for paper in papers if isinstance(paper, Paper)}) == count


def titles(data: str) -> list[str]:
    return [
        item.title if isinstance(item, Paper) else f"{item.reason} at {item.place}"
        for item in read_bytes(data.encode(), "x")
    ]


def as_json(*names: str, indent: int | None = None, **more: object) -> str:
    return json.dumps([{"title": name, **more} for name in names], indent=indent)


PAGE = (
    '{{"total": 4, "offset": {0}, "data": [{{"title": "{1}", "authors": [{{"name": "A"}}, {{"name": "B"}}]}}'
    "]}}"
)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("between", ["", "\n", "\n\n", ",\n", "\n\ufeff"])
def test_every_array_is_read(indent: int | None, between: str) -> None:
    data = between.join([as_json("A", "B", indent=indent), as_json("C", indent=indent), '{"title": "D"}'])
    assert titles(data) == ["A", "B", "C", "D"]


@pytest.mark.parametrize("between", ["", "\n", ",\n"])
@pytest.mark.parametrize("pretty", [False, True])
def test_every_page_of_an_answer_is_read(between: str, pretty: bool) -> None:
    pages = [PAGE.format(0, "A"), PAGE.format(1, "B"), PAGE.format(2, "C")]
    if pretty:
        pages = [json.dumps(json.loads(page), indent=1) for page in pages]
    assert titles(between.join(pages)) == ["A", "B", "C"]
    assert titles("[" + ",".join(pages) + "]") == ["A", "B", "C"]


def test_answers_within_answers_are_read() -> None:
    works = as_json("A", "B")
    assert titles('{"status": "ok", "message": {"total-results": 2, "items": ' + works + "}}") == ["A", "B"]
    assert titles('{"response": {"numFound": 2, "docs": ' + works + '}}\n{"title": "C"}') == ["A", "B", "C"]
    assert titles('{"data": []}\n{"data": [{"title": "A"}]}\n') == ["A"]


def test_an_answer_longer_than_a_piece_of_the_file_is_read_in_pieces() -> None:
    names = [f"T{number}" for number in range(5000)]
    works = json.dumps([{"title": name, "references": [{"id": "x"}]} for name in names])
    answer = '{"meta": {"count": 5000, "x": [1, 2]}, "results": ' + works + ', "group_by": []}'
    assert titles(answer) == names
    assert titles(answer + "\n" + answer) == names * 2


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_inside_a_record_is_not_the_list_of_records(indent: int | None) -> None:
    record = {"title": "A", "data": [{"title": "inner"}], "items": [{"title": "inner"}]}
    assert titles(json.dumps(record, indent=indent)) == ["A"]
    assert titles(json.dumps([record, {"title": "B"}], indent=indent)) == ["A", "B"]
    later = {"id": "x", "references": {"items": [{"title": "inner"}]}, "title": "A"}
    assert titles(json.dumps(later, indent=indent) + "\n" + json.dumps({"title": "B"})) == ["A", "B"]


BROKEN = [
    '{"title": "B" "authors": [{"name": "A"}, {"name": "B"}]}',
    '{"title": "B", "authors": [{"name": "A"}, {"name": "B"},]}',
    "{'title': 'B', 'authors': [{'name': 'A'}, {'name': 'B'}]}",
    '{"title": "B, "authors": [{"name": "A"}, {"name": "B"}]}',
    '{"title": "B", "authors": [{"name": "A"}, {"name": "B"}}',
    '{"title": undefined}',
    '{"title"}',
    "nonsense",
]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("between", [", ", ",\n"])
def test_a_broken_element_costs_only_itself(broken: str, between: str) -> None:
    array = "[" + between.join(['{"title": "A"}', broken, '{"title": "C"}', '{"title": "D"}']) + "]"
    found = titles(array + "\n" + as_json("E"))
    assert found[0] == "A"
    assert found[1].startswith("not valid JSON at ")
    assert found[-2:] == ["D", "E"]
    assert "C" in found


def test_a_broken_line_costs_only_itself() -> None:
    for broken in BROKEN:
        found = titles('{"title": "A"}\n' + broken + '\n{"title": "C"}\n')
        assert (found[0], found[1], found[-1]) == ("A", "not valid JSON at line 2", "C")


def test_several_values_in_a_line_and_a_value_over_several_lines() -> None:
    data = (
        '{"title": "A"}{"title": "B"} {"title": "C"}\n[{"title": "D"}]\n{\n"title": "E"\n}\n{"title": "F"}\n'
    )
    assert titles(data) == ["A", "B", "C", "D", "E", "F"]


def test_line_ends_within_a_text_do_no_harm() -> None:
    assert titles('[{"title": "A\nB\tC"}]') == ["A B C"]
    assert titles('{"title": "A\u2028B"}\n{"title": "C"}\n') == ["A B", "C"]
