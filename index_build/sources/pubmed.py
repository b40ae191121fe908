"""Reads PubMed and MEDLINE XML: structured abstracts keep their sections."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.sources.names import tidy_names
from index_build.sources.records import complete, doi_of, full_name, name_paper, pmid_of, unique, year_of
from index_build.sources.references import kind_of_words, make_reference, others
from index_build.sources.rejects import Reject, attempt
from index_build.sources.sections import find_sections, join_sections, labelled
from index_build.sources.xml_records import read_elements, text_of
from search.types import Kind, Paper, Reference, Section

RECORDS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    for element in read_elements(stream, name, RECORDS):
        if isinstance(element, Reject):
            yield element
        else:
            yield attempt(partial(to_paper, element.root), name, element.place, element.raw)


def to_paper(record: Any) -> Paper:
    """A paper under its PMID; its fields are the main MeSH headings, else the authors' keywords."""
    pmid, book = pmid_of(text_of(record, ".//PMID")), title_of(text_of(record, ".//Book/BookTitle"))
    title = title_of(text_of(record, ".//ArticleTitle")) or text_of(record, ".//VernacularTitle") or book
    journal = text_of(record, ".//Journal/Title") or text_of(record, ".//MedlineJournalInfo/MedlineTA")
    abstract, sections = _abstract(record)
    doi = doi_of(
        text_of(record, "./PubmedData/ArticleIdList/ArticleId[@IdType='doi']")
        or text_of(record, ".//ELocationID[@EIdType='doi']")
        or text_of(record, ".//BookDocument/ArticleIdList/ArticleId[@IdType='doi']")
    )
    fields = _fields(record)
    return complete(
        Paper(
            id=f"pmid:{pmid}" if pmid else name_paper("pubmed:", title, abstract, doi=doi),
            title=title,
            abstract=abstract,
            authors=tidy_names(map(_author, _author_list(record))),
            year=_year(record),
            venue=journal or (book if book != title else text_of(record, ".//Book/Publisher/PublisherName")),
            fields=fields,
            doi=doi,
            pmid=pmid,
            url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else "",
            source="pubmed",
            reference=_reference(record, fields),
            sections=sections,
        )
    )


def _reference(record: Any, fields: tuple[str, ...]) -> Reference:
    def text(path: str) -> str:
        return text_of(record, path)

    def texts(path: str) -> list[str]:
        return [text_of(found) for found in record.iterfind(path)]

    types = texts(".//PublicationType")
    is_book = record.find(".//Book") is not None
    is_part = is_book and bool(text(".//ArticleTitle"))
    whose = "./PubmedData/ArticleIdList" if not is_book else ".//BookDocument/ArticleIdList"
    return make_reference(
        str,
        kind=(Kind.CHAPTER if is_part else Kind.BOOK) if is_book else kind_of_words(*types),
        date=_date(record),
        volume=text(".//JournalIssue/Volume") or text(".//Book/Volume"),
        issue=text(".//JournalIssue/Issue"),
        pages=text(".//Pagination/MedlinePgn") or text(".//Pagination/StartPage"),
        edition=text(".//Book/Edition"),
        publisher=text(".//Book/Publisher/PublisherName"),
        place=text(".//Book/Publisher/PublisherLocation"),
        editors=tidy_names(map(_author, record.iterfind(".//AuthorList[@Type='editors']/Author"))),
        short_venue=text(".//Journal/ISOAbbreviation") or text(".//MedlineJournalInfo/MedlineTA"),
        issn=texts(".//Journal/ISSN"),
        isbn=texts(".//Book/Isbn"),
        pmcid=text(f"{whose}/ArticleId[@IdType='pmc']"),
        keywords=others(texts(".//KeywordList/Keyword"), fields),
        language=text(".//Language"),
    )


def _date(record: Any) -> str:
    for path in (".//JournalIssue/PubDate", ".//Book/PubDate"):
        parts = [text_of(record, f"{path}/{name}") for name in ("Year", "Month", "Day")]
        if parts[0] and parts[1]:
            return "-".join(parts[:2] + parts[2:] if parts[1].isdecimal() else parts[::-1]).strip("-")
    return text_of(record, ".//JournalIssue/PubDate/MedlineDate")


def title_of(title: str) -> str:
    """The title without the final stop and the brackets that mark a translation."""
    title = title[:-1] if title.endswith(".") and not title.endswith("..") else title
    return title[1:-1] if title.startswith("[") and title.endswith("]") else title


def _abstract(record: Any) -> tuple[str, tuple[Section, ...]]:
    parts = record.findall(".//Abstract/AbstractText") or record.findall(".//OtherAbstract/AbstractText")
    texts = [(part.get("Label") or "", part.get("NlmCategory") or "", text_of(part)) for part in parts]
    texts = [part for part in texts if part[2]]
    abstract, sections = join_sections(texts)
    abstract = labelled(abstract) if not sections else abstract
    return abstract, sections or find_sections(abstract)


def _author_list(record: Any) -> list[Any]:
    """The authors; of a book's chapter its own, and the editors only where nobody else is named."""
    lists = [*record.iterfind(".//BookDocument/AuthorList"), *record.iterfind(".//AuthorList")]
    written = [found for found in lists if found.get("Type") != "editors"] or lists
    return list(written[0].iterfind("Author")) if written else []


def _author(author: Any) -> str:
    given = text_of(author, "ForeName") or text_of(author, "Initials")
    return full_name(text_of(author, "LastName"), given, text_of(author, "Suffix")) or text_of(
        author, "CollectiveName"
    )


def _year(record: Any) -> int | None:
    paths = (".//JournalIssue/PubDate/Year", ".//JournalIssue/PubDate/MedlineDate", ".//ArticleDate/Year")
    years = (
        year_of(text_of(record, path))
        for path in (*paths, ".//Book/PubDate/Year", ".//ContributionDate/Year")
    )
    return next((year for year in years if year), None)


def _fields(record: Any) -> tuple[str, ...]:
    headings = record.iterfind(".//MeshHeadingList/MeshHeading")
    main = (heading for heading in headings if any(part.get("MajorTopicYN") == "Y" for part in heading))
    names = unique(text_of(heading, "DescriptorName") for heading in main)
    return names or unique(map(text_of, record.iterfind(".//KeywordList/Keyword")))
