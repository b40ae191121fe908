"""Answers as JSON or XML, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lxml import etree

from index_build.fetch.values import Answer, Unreadable


def parse_json(answer: Answer) -> Any:
    """The value; Unreadable where the answer is not JSON to its end."""
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise Unreadable(f"its answer is not JSON, it begins {_start(answer)}") from None


def parse_object(answer: Answer) -> Mapping[str, Any]:
    value = parse_json(answer)
    if not isinstance(value, dict):
        raise Unreadable(f"its answer is no JSON object, it begins {_start(answer)}")
    return value


def parse_xml(answer: Answer) -> Any:
    """The root element; nothing is fetched and no entity expanded."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        return etree.fromstring(answer.body, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise Unreadable(f"its answer is not XML, it begins {_start(answer)}") from None


def _start(answer: Answer) -> str:
    return repr(" ".join(answer.body[:60].decode("utf-8", "replace").split()))


def number_of(value: object) -> int | None:
    """A count, written as a number or as digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    text = str(value or "").strip()
    return int(text[:12]) if text.isascii() and text.isdigit() else None


def list_of(value: Mapping[str, Any], name: str) -> list[Any]:
    """A list of an answer; Unreadable where it is something else."""
    found = value.get(name)
    if not isinstance(found, list):
        raise Unreadable(f"its answer has no {name}")
    return found


def total_of(value: Mapping[str, Any], name: str, least: int = 0) -> int:
    """The announced number of records; Unreadable where the answer itself holds more."""
    found = number_of(value.get(name))
    if found is None:
        raise Unreadable(f"its answer has no {name}")
    return at_least(found, least)


def at_least(total: int, given: int) -> int:
    """The announced number, unless more than that were given already."""
    if total < given:
        raise Unreadable(f"it counts {total:,} records and gives {given:,}")
    return total
