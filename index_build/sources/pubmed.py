"""Reads PubMed and MEDLINE XML: structured abstracts keep their sections."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from index_build.sources.records import complete, doi_of, full_name, name_paper, unique, year_of
from index_build.sources.rejects import BadRecord, Reject, reject
from index_build.sources.sections import find_sections, join_sections
from index_build.sources.xml_records import read_elements, text_of
from search.types import Paper, Section

RECORDS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    for element in read_elements(stream, name, RECORDS):
        if isinstance(element, Reject):
            yield element
            continue
        try:
            yield to_paper(element.root)
        except BadRecord as bad:
            yield reject(name, element.place, bad.reason, element.raw)


def to_paper(record: Any) -> Paper:
    """A paper under its PMID; its fields are the main MeSH headings, else the authors' keywords."""
    pmid = text_of(record, ".//PMID")
    title = title_of(text_of(record, ".//ArticleTitle") or text_of(record, ".//BookTitle"))
    title = title or text_of(record, ".//VernacularTitle")
    abstract, sections = _abstract(record)
    doi = doi_of(
        text_of(record, "./PubmedData/ArticleIdList/ArticleId[@IdType='doi']")
        or text_of(record, ".//ELocationID[@EIdType='doi']")
        or text_of(record, ".//BookDocument/ArticleIdList/ArticleId[@IdType='doi']")
    )
    return complete(
        Paper(
            id=f"pmid:{pmid}" if pmid else name_paper("pubmed:", title, abstract, doi=doi),
            title=title,
            abstract=abstract,
            authors=unique(map(_author, record.iterfind(".//AuthorList/Author"))),
            year=_year(record),
            venue=text_of(record, ".//Journal/Title") or text_of(record, ".//MedlineJournalInfo/MedlineTA"),
            fields=_fields(record),
            doi=doi,
            pmid=pmid,
            url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else "",
            source="pubmed",
            sections=sections,
        )
    )


def title_of(title: str) -> str:
    """The title without the final stop and the brackets that mark a translation."""
    title = title[:-1] if title.endswith(".") and not title.endswith("..") else title
    return title[1:-1] if title.startswith("[") and title.endswith("]") else title


def _abstract(record: Any) -> tuple[str, tuple[Section, ...]]:
    parts = record.findall(".//Abstract/AbstractText") or record.findall(".//OtherAbstract/AbstractText")
    texts = [(part.get("Label") or "", part.get("NlmCategory") or "", text_of(part)) for part in parts]
    texts = [part for part in texts if part[2]]
    abstract, sections = join_sections(texts)
    return abstract, sections or find_sections(abstract)


def _author(author: Any) -> str:
    given = text_of(author, "ForeName") or text_of(author, "Initials")
    return full_name(text_of(author, "LastName"), given, text_of(author, "Suffix")) or text_of(
        author, "CollectiveName"
    )


def _year(record: Any) -> int | None:
    paths = (".//JournalIssue/PubDate/Year", ".//JournalIssue/PubDate/MedlineDate", ".//ArticleDate/Year")
    years = (year_of(text_of(record, path)) for path in (*paths, ".//Book/PubDate/Year"))
    return next((year for year in years if year), None)


def _fields(record: Any) -> tuple[str, ...]:
    headings = record.iterfind(".//MeshHeadingList/MeshHeading")
    main = (heading for heading in headings if any(part.get("MajorTopicYN") == "Y" for part in heading))
    names = unique(text_of(heading, "DescriptorName") for heading in main)
    return names or unique(map(text_of, record.iterfind(".//KeywordList/Keyword")))
