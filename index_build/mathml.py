"""MathML formulas in one line of text: a superscript as "x²", a fraction as "a/b"."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from index_build.elements import Elements
from index_build.latex import fraction, lower_text, raise_text

MATHML_TAGS = (
    "math|mi|mn|mo|ms|mrow|msup|msub|msubsup|mfrac|msqrt|mroot|mtext|mstyle|mspace|mover|munder|munderover|mfenced|"
    "mtable|mtr|mtd|mpadded|mphantom|menclose|mmultiscripts|mprescripts|semantics|annotation"
).split("|")
MATH = Elements(
    re.compile(r"<(?:[a-z]+:)?math(?:\s[^<>]*)?>", re.IGNORECASE),
    re.compile(r"</(?:[a-z]+:)?math\s*>", re.IGNORECASE),
    longest=5000,
)
_PREFIX = re.compile(r"(</?)[a-z]+:", re.IGNORECASE)
_DECLARATION = re.compile(r"\sxmlns(?::\w+)?\s*=\s*(?:\"[^\"]*\"|'[^']*')")


def mathml_to_text(markup: str) -> str:
    """The formula as text; markup that is broken beyond repair gives its characters."""
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    root = etree.fromstring(_DECLARATION.sub("", _PREFIX.sub(r"\1", markup)).encode(), parser)
    return " ".join(_render(root).split()) if root is not None else ""


def _render(element: Any) -> str:
    if not isinstance(element.tag, str):
        return ""
    children = [_render(child) for child in element if child.tag not in ("annotation", "annotation-xml")]
    match element.tag.lower(), children:
        case "msup", [base, power]:
            return base + raise_text(power)
        case "msub" | "munder", [base, index]:
            return base + lower_text(index)
        case "msubsup" | "munderover", [base, index, power]:
            return base + lower_text(index) + raise_text(power)
        case "mfrac", [top, bottom]:
            return fraction(top, bottom)
        case "msqrt", _:
            inside = "".join(children)
            return f"√{inside}" if len(inside) == 1 else f"√({inside})"
        case "mspace", _:
            return " "
        case _:
            return (element.text or "").strip() + "".join(children)
