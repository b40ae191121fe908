"""The reference of a record, tidied: pages, dates, languages, numbers, and what kind of work it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from index_build.markup import in_one_line, to_text
from index_build.sources.names import tidy_names
from index_build.sources.records import is_nothing, plain, unique
from search.references import EMPTY, LISTS, LONGEST_LIST
from search.types import Kind, Reference

LONGEST = 2_000
"""Characters of one value of a reference; a longer one is a text in the wrong place. Chosen by hand."""


def make_reference(clean: Callable[[str], str] = to_text, **values: Any) -> Reference:
    """A reference from the values of a source, each tidied as its field needs it; empty ones cost nothing."""
    known = {
        name: tidied for name, value in values.items() if value and (tidied := _tidied(name, value, clean))
    }
    if known.get("genre", "").lower() in _SAYS_NOTHING:
        del known["genre"]
    return Reference(**known) if known else EMPTY


_SAYS_NOTHING = frozenset(
    "article|journal article|proceedings|proceedings paper|conference paper|book|book chapter|chapter|"
    "book section|thesis|report|preprint|patent".split("|")
)
"""Genres that repeat the kind."""


def _tidied(name: str, value: Any, clean: Callable[[str], str]) -> Any:
    if name == "kind":
        return value
    if name in _NUMBERS_IN:
        return _NUMBERS_IN[name](value if isinstance(value, str) else " ".join(value))[:LONGEST_LIST]
    if name in LISTS:
        return tuple(value)[:LONGEST_LIST]
    text = plain(value)[:LONGEST]
    if not (text.isascii() and text.isalnum()):
        text = clean(text)
    return "" if is_nothing(text) else _TEXTS[name](text) if name in _TEXTS else text


_DASHES = re.compile(r"(?<![\s‐-―−-])\s{0,3}[‐-―−-]{1,3}\s{0,3}")


_PAGES = re.compile(r"^(?:pp?|pages?)\b\.?\s{0,3}", re.IGNORECASE)


def pages_of(text: str) -> str:
    """Pages with plain hyphens and no "pp.": "123--145" and "pp. 123–145" as "123-145"."""
    if text[:1] in ("p", "P"):
        text = _PAGES.sub("", text)
    return _DASHES.sub("-", text)


def page_range(first: object, last: object) -> str:
    """Pages from the first and the last, either of which may be missing or hold both."""
    start, end = plain(first), plain(last)
    return f"{start}-{end}" if start and end and start != end and "-" not in start else start or end


_MONTHS = {
    name: number
    for number, names in enumerate(
        "jan januar january janvier enero|feb februar february fevrier febrero|mar mär march märz mars marzo|"
        "apr april avril abril|may mai mayo|jun june juni juin junio|jul july juli juillet julio|"
        "aug august agosto|sep sept september septembre|oct okt october oktober octobre|"
        "nov november novembre|dec dez december dezember decembre".split("|"),
        start=1,
    )
    for name in names.split()
}
_WORD = re.compile(r"[^\W\d_]{3,12}")
_NUMBERS = re.compile(
    r"(?<!\d)((?:1[5-9]|20)\d\d)[-/. ](\d{1,2})(?!\d)(?:[-/. ](\d{1,2})(?!\d))?"
    r"|(?<!\d)((?:1[5-9]|20)\d\d)(\d\d)(\d\d)(?!\d)"
)
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")


@lru_cache(maxsize=4096)  # the records of a file have few dates
def date_of(text: str) -> str:
    """A date with at least a month, ISO 8601: "2017/05/03/", "May 2017", "3 May 2017"; else nothing."""
    found = _NUMBERS.search(text)
    if found:
        year, month, day = (found[1], found[2], found[3]) if found[1] else (found[4], found[5], found[6])
        return _iso(year, int(month), int(day or 0))
    year_found = _YEAR.search(text)
    months = (_MONTHS.get(word.lower(), 0) for word in _WORD.findall(text[:100]))
    month_number = next((number for number in months if number), 0)
    if year_found is None or not month_number:
        return ""
    days = _DAY.findall(text[:100].replace(year_found[0], " ", 1))
    return _iso(year_found[0], month_number, int(days[0]) if len(days) == 1 else 0)


def _iso(year: str, month: int, day: int) -> str:
    if not 1 <= month <= 12:
        return ""
    return f"{year}-{month:02d}-{day:02d}" if 1 <= day <= 31 else f"{year}-{month:02d}"


def day_of(text: str) -> str:
    """The same, or only the year."""
    year = _YEAR.search(text)
    return date_of(text) or (year[0] if year else "")


_LANGUAGES = {
    name: code
    for code, names in {
        "en": "english eng anglais usenglish ukenglish american british",
        "de": "german ger deu deutsch ngerman",
        "fr": "french fre fra francais français", "es": "spanish spa espanol español",
        "it": "italian ita italiano",
        "pt": "portuguese por brazilian portugues português", "nl": "dutch dut nld", "ru": "russian rus",
        "zh": "chinese chi zho 中文", "ja": "japanese jpn", "ko": "korean kor", "pl": "polish pol",
        "cs": "czech cze ces",
        "sv": "swedish swe", "da": "danish dan", "no": "norwegian nor", "fi": "finnish fin",
        "hu": "hungarian hun",
        "tr": "turkish tur", "ar": "arabic ara", "he": "hebrew heb", "el": "greek gre ell",
        "uk": "ukrainian ukr",
        "fa": "persian per fas", "ro": "romanian rum ron", "hr": "croatian hrv", "sr": "serbian srp",
        "sk": "slovak slo slk", "sl": "slovenian slv", "ca": "catalan cat", "la": "latin lat",
    }.items()
    for name in names.split()
}  # fmt: skip


def language_of(text: str) -> str:
    """ISO 639-1 where the language is known ("eng", "English", "en-US" as "en"), else as it is written."""
    word = text.lower()
    if re.fullmatch(r"[a-z]{2}(?:[-_][a-z]{2})?", word):
        return word[:2]
    return _LANGUAGES.get(word, text if len(text) <= 40 else "")


_ISSN = re.compile(r"(?<![\dXx-])(\d{4})[-‐–]?(\d{3}[\dXx])(?![\dXx-])")
_ISBN = re.compile(r"(?<![\d-])(?:97[89][- ]?)?\d(?:[- ]?\d){8}[- ]?[\dXx](?![\d-])")


def issns_of(text: str) -> tuple[str, ...]:
    if len(text) > 9:  # longer than one number: it may hold an ISBN, too
        text = _ISBN.sub(" ", text)
    return tuple(dict.fromkeys(f"{a}-{b.upper()}" for a, b in _ISSN.findall(text)))


def isbns_of(text: str) -> tuple[str, ...]:
    """Numbers of ten or thirteen digits, with the hyphens they have."""
    return tuple(dict.fromkeys(found.replace(" ", "-").upper() for found in _ISBN.findall(text)))


_PMC = re.compile(r"(?:PMC)?(\d{3,9})", re.IGNORECASE)


def pmcid_of(text: str) -> str:
    found = _PMC.search(text)
    return f"PMC{found[1]}" if found else ""


_OWN_REASON = ("Matches your ", "Matches sentence ", "Found by its words;", "matches your ")


def note_of(text: str) -> str:
    """A note without the reason for which this product found a paper, and without Zotero's lines."""
    lines = (line.strip() for line in text.split("\n"))
    return in_one_line(" ".join(line for line in lines if line and not _is_own(line)))


def _is_own(line: str) -> bool:
    if line.startswith(_OWN_REASON) or line.lower().startswith(("pmid:", "pmcid:", "doi:", "arxiv:")):
        return True
    return line.startswith("Matches ") and " sentence " in line[:60] and "“" in line


def edition_of(text: str) -> str:
    """An edition; EndNote keeps the day there on which PubMed took a paper in."""
    return "" if _DATE_ONLY.fullmatch(text) else text


_DATE_ONLY = re.compile(r"\d{4}/\d{1,2}/\d{1,2}")
_NUMBER_OF = re.compile(r"0+")


def number_of(text: str) -> str:
    """A volume or issue; tables write 0 for none."""
    return "" if _NUMBER_OF.fullmatch(text) else text


_TEXTS: dict[str, Callable[[str], str]] = {
    "edition": edition_of,
    "volume": number_of,
    "issue": number_of,
    "pages": pages_of,
    "date": date_of,
    "accessed": day_of,
    "language": language_of,
    "pmcid": pmcid_of,
}
_NUMBERS_IN: dict[str, Callable[[str], tuple[str, ...]]] = {"issn": issns_of, "isbn": isbns_of}


def editors_of(names: Iterable[str]) -> tuple[str, ...]:
    return tidy_names(map(to_text, names))


def others(keywords: Iterable[str], fields: Iterable[str]) -> tuple[str, ...]:
    """The keywords that are not among the fields."""
    have = {field.casefold() for field in fields}
    return tuple(keyword for keyword in unique(keywords) if keyword.casefold() not in have)


_KINDS = {
    name: kind
    for kind, names in {
        Kind.ARTICLE: "article|journal article|journalarticle|article journal|review|review article|letter|"
        "editorial|original article|research article|note|erratum|short survey|data paper|early access|"
        "article in press|case reports|clinical trial|randomized controlled trial|meta analysis|"
        "systematic review|comment|journal|journal paper|ieee journals|ieee journal article|correction|"
        "book review|business article|magazines|ieee magazines|peer review|retraction",
        Kind.PROCEEDINGS_PAPER: "proceedings paper|proceedings article|paper conference|conference paper|"
        "conferencepaper|chapter conferencepaper|conference|conference proceeding|conference proceedings|"
        "conference article|inproceedings|ieee conferences|conference review|meeting abstract|congress|"
        "congresses",
        Kind.PROCEEDINGS: "proceedings|proceedings series",
        Kind.CHAPTER: "chapter|book chapter|booksection|book section|book part|booksection|incollection|"
        "inbook|reference book chapter|book track",
        Kind.BOOK: "book|monograph|edited book|reference book|books|book set|book series|collection",
        Kind.THESIS: "thesis|dissertation|phd thesis|dissertation thesis|phdthesis|mastersthesis|"
        "academic dissertation|master s thesis|doctoral thesis",
        Kind.REPORT: "report|technical report|techreport|tech report|technical documentation|"
        "report component|working paper|government document",
        Kind.PREPRINT: "preprint|posted content|postedcontent|preprints|eprint",
        Kind.DATASET: "dataset|data set|data|database",
        Kind.SOFTWARE: "software|computer program|computerprogram|code",
        Kind.PATENT: "patent|granted patent|patent application|limited patent",
        Kind.STANDARD: "standard|standards|ieee standards",
        Kind.PRESENTATION: "presentation|speech|poster|abstract|talk",
        Kind.ENTRY: "encyclopedia entry|encyclopedia article|encyclopediaarticle|reference entry|"
        "chapter referenceworkentry|dictionary entry|dictionaryentry|entry encyclopedia|entry dictionary|"
        "entry",
        Kind.NEWS: "news|newspaper article|newspaperarticle|magazine article|magazinearticle|"
        "article newspaper|article magazine|news item|news article",
        Kind.WEB_PAGE: "web page|webpage|website|blog post|blogpost|post weblog|post|forumpost|online",
        Kind.MANUSCRIPT: "manuscript|unpublished",
        Kind.OTHER: "other|misc|generic|document",
    }.items()
    for name in names.split("|")
}
_NOT_LETTERS = re.compile(r"[^a-z]+")
_TELLING = (Kind.PROCEEDINGS_PAPER, Kind.CHAPTER, Kind.BOOK, Kind.THESIS, Kind.PREPRINT)
"""Kinds that say more than "article" where a source names both: "Article; Proceedings Paper"."""


def kind_of_words(*words: str) -> Kind | None:
    """The kind that a source names in words: "Journal Article", "posted-content", "Article; Book Chapter"."""
    pieces = (piece for text in words for piece in text[:200].lower().split(";"))
    found = [kind for piece in pieces if (kind := _KINDS.get(_NOT_LETTERS.sub(" ", piece).strip()))]
    return next((kind for kind in _TELLING if kind in found), found[0] if found else None)
