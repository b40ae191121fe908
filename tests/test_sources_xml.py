"""Papers from XML: PubMed and the ACL Anthology."""

from __future__ import annotations

from pathlib import Path

import pytest

from index_build.sources import Reject, detect, read, read_bytes
from index_build.sources.acl import anthology_id_of
from search.types import Facet, Kind, Paper, Reference

ARTICLE = """
<PubmedArticle>
  <MedlineCitation Status="MEDLINE">
    <PMID Version="1">{pmid}</PMID>
    <Article>
      <Journal>
        <JournalIssue><PubDate><MedlineDate>2019 Nov-Dec</MedlineDate></PubDate></JournalIssue>
        <Title>Journal of Water</Title>
      </Journal>
      <ArticleTitle>{title}</ArticleTitle>
      <ELocationID EIdType="doi">10.1000/WATER.{pmid}</ELocationID>
      <Abstract>
        <AbstractText Label="AIM" NlmCategory="OBJECTIVE">To see if p &lt; 0.05.</AbstractText>
        <AbstractText Label="METHODS AND RESULTS">We saw 10<sup>3</sup> drops.</AbstractText>
        <AbstractText Label="FINDINGS">They fell.</AbstractText>
        <AbstractText Label="SIGNIFICANCE" NlmCategory="CONCLUSIONS">They will.</AbstractText>
        <CopyrightInformation>Not part of it.</CopyrightInformation>
      </Abstract>
      <AuthorList>
        <Author><LastName>Author</LastName><ForeName>Ada</ForeName><Suffix>Jr</Suffix></Author>
        <Author><CollectiveName>Water Group</CollectiveName></Author>
      </AuthorList>
    </Article>
    <MeshHeadingList>
      <MeshHeading><DescriptorName MajorTopicYN="N">Humans</DescriptorName></MeshHeading>
      <MeshHeading>
        <DescriptorName MajorTopicYN="N">Rain</DescriptorName>
        <QualifierName MajorTopicYN="Y">methods</QualifierName>
      </MeshHeading>
    </MeshHeadingList>
  </MedlineCitation>
  <PubmedData>
    <ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.9999/other</ArticleId></ArticleIdList>
    </Reference></ReferenceList>
  </PubmedData>
</PubmedArticle>
"""
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "http://example.org/none.dtd">\n'


def article(pmid: int, title: str = "[H<sub>2</sub>O &amp; rain].") -> str:
    return ARTICLE.format(pmid=pmid, title=title)


def pubmed(*articles: str) -> bytes:
    return f"{HEAD}<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>".encode()


def test_pubmed() -> None:
    (paper,) = read_bytes(pubmed(article(7)), "pubmed.xml")
    assert isinstance(paper, Paper)
    assert (paper.id, paper.pmid, paper.title) == ("pmid:7", "7", "H₂O & rain")
    assert paper.authors == ("Author, Ada, Jr", "Water Group")
    assert (paper.year, paper.venue, paper.fields) == (2019, "Journal of Water", ("Rain",))
    assert paper.doi == "10.1000/water.7"
    assert paper.url == "https://pubmed.ncbi.nlm.nih.gov/7/"


def test_sections_of_a_structured_abstract_become_facets() -> None:
    (paper,) = read_bytes(pubmed(article(7)), "pubmed.xml")
    assert isinstance(paper, Paper)
    assert paper.abstract == (
        "AIM: To see if p < 0.05. METHODS AND RESULTS: We saw 10³ drops. FINDINGS: They fell. "
        "SIGNIFICANCE: They will."
    )
    assert [(paper.abstract[s.start : s.end].strip(), s.facet) for s in paper.sections] == [
        ("AIM: To see if p < 0.05.", Facet.OBJECTIVE),
        ("FINDINGS: They fell.", Facet.RESULT),
        ("SIGNIFICANCE: They will.", Facet.RESULT),
    ], "a heading for two panels at once gives no hint"


def test_a_bare_medline_file_and_a_book_are_read() -> None:
    bare = article(8).split("<PubmedData>")[0].replace("<PubmedArticle>", "")
    book = (
        "<PubmedBookArticle><BookDocument><PMID>9</PMID><Book><BookTitle>A book</BookTitle>"
        "<PubDate><Year>2001</Year></PubDate></Book></BookDocument></PubmedBookArticle>"
    )
    papers = list(read_bytes(f"{HEAD}<Set>{bare}{book}</Set>".encode(), "x"))
    assert [(paper.id, paper.year) for paper in papers if isinstance(paper, Paper)] == [
        ("pmid:8", 2019),
        ("pmid:9", 2001),
    ]


def test_a_broken_record_costs_only_itself() -> None:
    unclosed = article(2).replace("</PubmedArticle>", "")
    crooked = article(3, "Crooked <i>title")
    data = pubmed(article(1), unclosed, article(4), crooked, article(5))
    items = list(read_bytes(data, "broken.xml"))
    assert [item.id for item in items if isinstance(item, Paper)] == ["pmid:1", "pmid:4", "pmid:5"]
    rejects = [item for item in items if isinstance(item, Reject)]
    assert [reject.reason for reject in rejects] == ["record is not finished", "not valid XML"]
    for reject, start in zip(rejects, (unclosed, crooked), strict=True):
        line = int(reject.place.removeprefix("line "))
        first = data.decode().splitlines()[line - 1]
        assert "<PubmedArticle>" in first
        assert start.strip()[:400] in "\n".join(data.decode().splitlines()[line - 1 :])


def test_named_characters_need_no_declaration() -> None:
    (paper,) = read_bytes(pubmed(article(1, "Caf&eacute; &alpha;&nbsp;&amp; tea")), "x")
    assert isinstance(paper, Paper)
    assert paper.title == "Café α & tea"


def test_the_declared_encoding_counts_where_the_bytes_are_not_utf8() -> None:
    data = pubmed(article(1, "Über Öl")).decode().replace("UTF-8", "ISO-8859-1").encode("latin-1")
    (paper,) = read_bytes(data, "x")
    assert isinstance(paper, Paper)
    assert paper.title == "Über Öl"


def test_records_longer_than_one_piece_of_the_file_are_read() -> None:
    long = article(1).replace("They fell.", "They fell. " * 20_000)
    papers = list(read_bytes(pubmed(long, article(2)), "x"))
    assert [paper.id for paper in papers if isinstance(paper, Paper)] == ["pmid:1", "pmid:2"]


ACL = """<?xml version='1.0' encoding='UTF-8'?>
<collection id="2020.acl">
  <volume id="main" ingest-date="2020-06-21">
    <meta>
      <booktitle>Proceedings of the Annual Meeting</booktitle>
      <year>2020</year>
      <venue>acl</venue><venue>ws</venue>
    </meta>
    <frontmatter><url hash="1">2020.acl-main.0</url></frontmatter>
    <paper id="12">
      <title><fixed-case>BERT</fixed-case> with <tex-math>k^2</tex-math> heads</title>
      <author><first>Ada</first><last>Author</last></author>
      <author><last>Mononym</last></author>
      <abstract>We use &lt;mask&gt; and <b>bold</b> words.</abstract>
      <doi>10.18653/v1/2020.acl-main.12</doi>
    </paper>
    <paper id="13"><author><first>A.</first><last>Author</last></author></paper>
  </volume>
</collection>
"""


def test_acl_anthology(tmp_path: Path) -> None:
    (tmp_path / "2020.acl.xml").write_text(ACL)
    (tmp_path / "W17.xml").write_text(ACL.replace("2020.acl", "W17", 1).replace('"main"', '"4"'))
    paper, empty, workshop, _ = read(tmp_path)
    assert paper == Paper(
        id="acl:2020.acl-main.12",
        title="BERT with k² heads",
        abstract="We use <mask> and bold words.",
        authors=("Author, Ada", "Mononym"),
        year=2020,
        venue="ACL",
        fields=("Computer Science", "Computational Linguistics"),
        doi="10.18653/v1/2020.acl-main.12",
        url="https://aclanthology.org/2020.acl-main.12",
        source="acl",
        reference=Reference(kind=Kind.PROCEEDINGS_PAPER, container="Proceedings of the Annual Meeting"),
    )
    assert isinstance(empty, Reject)
    assert empty.reason == "no title and no abstract"
    assert isinstance(workshop, Paper)
    assert workshop.id == "acl:W17-0412"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("P17", "1", "169"), "P17-1169"),
        (("W17", "12", "3"), "W17-1203"),
        (("D19", "54", "7"), "D19-5407"),
        (("D19", "1", "7"), "D19-1007"),
        (("2021.findings-acl", "x", "7"), "2021.findings-acl-x.7"),
    ],
)
def test_anthology_ids(parts: tuple[str, str, str], expected: str) -> None:
    assert anthology_id_of(*parts) == expected


def test_formats_are_told_apart() -> None:
    assert detect(pubmed(article(1)), "x.bib") == "pubmed"
    assert detect(ACL.encode(), "x.bib") == "acl"
    assert detect(b"<html><body>Title</body></html>", "x.xml") == "unknown"


@pytest.mark.parametrize("declared", ["ANSI", "x-unknown", "windows-1252", "utf-16", "base64"])
def test_an_encoding_that_does_not_exist_is_found_out(declared: str) -> None:
    text = (
        pubmed(article(1, "Über Öl und Größe")).decode().replace('encoding="UTF-8"', f'encoding="{declared}"')
    )
    for encoding in ("utf-8", "cp1252"):
        (paper,) = read_bytes(text.encode(encoding), "x")
        assert isinstance(paper, Paper)
        assert paper.title == "Über Öl und Größe"


def test_a_bad_byte_costs_one_character() -> None:
    data = pubmed(article(1, "Über Größe Oel"), article(2, "Snow\x0b drift")).replace(b"Oel", b"\xd6l \xff")
    rain, snow = read_bytes(data, "x")
    assert isinstance(rain, Paper)
    assert isinstance(snow, Paper)
    assert (rain.title, snow.title) == ("Über Größe Öl ÿ", "Snow drift")


def test_a_chapter_of_a_book() -> None:
    chapter = """<PubmedBookArticle><BookDocument><PMID>9</PMID>
      <ArticleIdList><ArticleId IdType="doi">10.1000/chapter</ArticleId></ArticleIdList>
      <Book><Publisher><PublisherName>Press</PublisherName></Publisher>
        <BookTitle>All about weather</BookTitle>
        <PubDate><Year>2001</Year></PubDate>
        <AuthorList Type="editors">
          <Author><LastName>Bee</LastName><ForeName>Bob</ForeName></Author>
        </AuthorList>
      </Book>
      <ArticleTitle>Rain</ArticleTitle>
      <AuthorList Type="authors">
        <Author><LastName>Author</LastName><ForeName>Ada</ForeName></Author>
      </AuthorList>
      <Abstract><AbstractText Label="UNLABELLED">It rains.</AbstractText></Abstract>
    </BookDocument></PubmedBookArticle>"""
    (paper,) = read_bytes(f"{HEAD}<PubmedArticleSet>{chapter}</PubmedArticleSet>".encode(), "x")
    assert isinstance(paper, Paper)
    assert (paper.title, paper.venue, paper.year) == ("Rain", "All about weather", 2001)
    assert (paper.authors, paper.doi, paper.abstract) == (("Author, Ada",), "10.1000/chapter", "It rains.")


def test_a_record_whose_beginning_is_lost_is_named() -> None:
    data = pubmed(article(1), article(2), article(3)).replace(b"<PubmedArticle>", b"<PubmedArt", 2)
    data = data.replace(b"<MedlineCitation", b"<Medline", 2)
    items = list(read_bytes(data, "x"))
    assert [item.id for item in items if isinstance(item, Paper)] == ["pmid:3"]
    assert {item.reason for item in items if isinstance(item, Reject)} == {"record is not finished"}


@pytest.mark.parametrize("padding", ["", "x" * 300_000])
def test_a_file_cut_within_a_record_whose_beginning_is_lost_names_it(padding: str) -> None:
    first, second = article(1), article(2).replace("They fell.", f"{padding} They fell.")
    second = second.replace("<PubmedArticle>", "<PubmedArt>").replace("<MedlineCitation", "<Medline")
    data = pubmed(first, second)
    items = list(read_bytes(data[: data.rindex(b"They fell.")], "x"))
    assert [item.id for item in items if isinstance(item, Paper)] == ["pmid:1"]
    assert [item.reason for item in items if isinstance(item, Reject)] == ["record is not finished"]
