"""News as Atom, Markdown, JSON or a mail, each paper with its reason and the sentences that match."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from urllib.parse import quote
from xml.etree import ElementTree

from search.exports import reason_in_words
from search.printing import result_content
from search.types import Paper, Result
from search.watch.finding import Item, News

ATOM = "http://www.w3.org/2005/Atom"
MOST_PAIRS = 3
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


_OF_ADDRESSES = "%/:?#[]@!$&'()*+,;="
"""What an address may hold besides letters, digits and "-._~"; all else would make a feed invalid."""


def as_markdown(news: Sequence[News], now: datetime) -> str:
    lines = [f"# New papers, {now:%Y-%m-%d}"]
    for each in news:
        lines += ["", f"## {_line(each.search.name)}", ""]
        lines += ["Nothing new."] if not each.items else []
        for item in each.items:
            lines += _markdown_item(each, item.result)
    return "\n".join(lines) + "\n"


def _markdown_item(news: News, result: Result) -> list[str]:
    title, link = _line(result.paper.title or result.paper.id), link_of(result.paper)
    named = f"[{title}](<{link}>)" if link else title
    lines = [f"- **{named}** {_byline(result.paper)}"]
    lines += [f"  {_line(reason_in_words(news.query, result))}"]
    return lines + [f"  > {_line(pair.text)}" for pair in result.pairs[:MOST_PAIRS]]


def as_json(news: Sequence[News], now: datetime) -> str:
    content = {
        "made": now.isoformat(timespec="seconds"),
        "searches": [
            {
                "id": each.search.id,
                "name": each.search.name,
                "build": each.run.build,
                "results": [result_content(rank, item.result) for rank, item in enumerate(each.items, 1)],
            }
            for each in news
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def as_text(news: Sequence[News]) -> str:
    """For a mail."""
    lines: list[str] = []
    for each in news:
        lines += [each.search.name, "=" * len(each.search.name), ""]
        lines += ["Nothing new.", ""] if not each.items else []
        for item in each.items:
            result = item.result
            lines += [result.paper.title, _byline(result.paper), link_of(result.paper)]
            lines += [reason_in_words(each.query, result)]
            lines += [f"  “{pair.text}”" for pair in result.pairs[:MOST_PAIRS]] + [""]
    return "\n".join(line for line in lines) + "\n"


def as_mail(news: Sequence[News], now: datetime) -> str:
    """A message for `sendmail` or a mail program; whoever sends it fills in the addresses."""
    count = sum(len(each.items) for each in news)
    message = EmailMessage()
    message["Subject"] = f"{count} new {'paper' if count == 1 else 'papers'} for your searches"
    message["Date"] = format_datetime(now)
    message["From"] = message["To"] = "triptych@localhost"
    message["Message-ID"] = make_msgid(domain="triptych.localhost")
    message.set_content(_NOT_XML.sub("", as_text(news)))
    return message.as_string()


def as_atom(news: Sequence[News], now: datetime, address: str = "") -> str:
    """One feed; its times are those of its entries, so that an unchanged feed is the same text."""
    feed = ElementTree.Element("feed", xmlns=ATOM)
    names = ", ".join(each.search.name for each in news)
    _add(feed, "title", f"New papers: {names}")
    _add(feed, "id", _urn("feed", *(each.search.id for each in news)))
    times = [item.when or now for each in news for item in each.items]
    _add(feed, "updated", _time(max(times, default=now)))
    _add(_add(feed, "author", ""), "name", "Triptych")
    if address:
        _add(feed, "link", "", rel="self", href=address)
    for each in news:
        for item in each.items:
            _entry(feed, each, item, now)
    ElementTree.indent(feed)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(feed, "unicode") + "\n"


def _entry(feed: ElementTree.Element, news: News, item: Item, now: datetime) -> None:
    paper = item.result.paper
    entry = _add(feed, "entry", "")
    _add(entry, "title", paper.title or paper.id)
    _add(entry, "id", _urn(news.search.id, paper.id))
    _add(entry, "updated", _time(item.when or now))
    if link := link_of(paper):
        _add(entry, "link", "", href=link)
    for author in paper.authors:
        _add(_add(entry, "author", ""), "name", author)
    _add(entry, "summary", reason_in_words(news.query, item.result))
    sentences = "\n".join(f"“{pair.text}”" for pair in item.result.pairs[:MOST_PAIRS])
    _add(entry, "content", f"{_byline(paper)}\n{sentences}", type="text")


def _add(parent: ElementTree.Element, name: str, text: str, **attributes: str) -> ElementTree.Element:
    given = {key: _NOT_XML.sub("", value) for key, value in attributes.items()}
    element = ElementTree.SubElement(parent, name, given)
    if text:
        element.text = _NOT_XML.sub("", text)
    return element


def _urn(*parts: str) -> str:
    """The same parts give the same name, and the name does not tell the parts: an id is a secret."""
    return uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(["triptych", *parts])).urn


def _time(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def link_of(paper: Paper) -> str:
    """Where the paper can be read: an address of the web, or none."""
    if paper.url.startswith(("https://", "http://")):
        return quote(paper.url, safe=_OF_ADDRESSES)
    if paper.doi:
        return f"https://doi.org/{quote(paper.doi, safe='/:;()')}"
    return f"https://arxiv.org/abs/{quote(paper.arxiv_id)}" if paper.arxiv_id else ""


def _byline(paper: Paper) -> str:
    authors = "; ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")
    return " · ".join(str(part) for part in (authors, paper.year, paper.venue) if part)


def _line(text: str) -> str:
    """In one line, with the characters that Markdown would read taken literally."""
    return "".join(f"\\{each}" if each in "\\`*_[]<>#" else each for each in " ".join(text.split()))


FORMATS: dict[str, Callable[[Sequence[News], datetime], str]] = {
    "atom": as_atom,
    "markdown": as_markdown,
    "json": as_json,
    "eml": as_mail,
}
"""Every digest by the name users give it."""
