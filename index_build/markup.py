"""Text as people read it: no tags, no entities, no LaTeX, no stray white space."""

from __future__ import annotations

import html
import re
import unicodedata

from index_build.elements import Elements
from index_build.latex import has_formula, latex_to_text, lower_text, raise_text
from index_build.mathml import MATH, MATHML_TAGS, mathml_to_text

_BLOCK = (
    "p|br|sec|title|abstract|list|list-item|ul|ol|li|div|h[1-6]|abstracttext|copyrightinformation|disp-formula"
).split("|")
_INLINE = (
    "b|i|u|em|strong|italic|bold|underline|small|span|sc|monospace|roman|sans-serif|strike|tt|font|a|label|sup|sub|"
    "inf|ext-link|xref|uri|url|named-content|styled-content|inline-formula|alternatives|inline-graphic|tex-math|"
    "fixed-case"
).split("|")
_ATTRIBUTES = r"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*"""


def _tag(names: list[str]) -> re.Pattern[str]:
    """Tags by name only: "<mask>" and "a <b and c> d" are text."""
    return re.compile(rf"</?(?:[a-z]+:)?(?:{'|'.join(names)}){_ATTRIBUTES}\s*/?>", re.IGNORECASE)


def _element(name: str, longest: int) -> Elements:
    opening = re.compile(rf"<(?:[a-z]+:)?(?:{name}){_ATTRIBUTES}\s*>", re.IGNORECASE)
    return Elements(opening, re.compile(rf"</(?:[a-z]+:)?(?:{name})\s*>", re.IGNORECASE), longest)


_NAME = re.compile("|".join(_BLOCK + _INLINE + MATHML_TAGS), re.IGNORECASE)
_BLOCK_TAG = _tag(_BLOCK)
_INLINE_TAG = _tag(_INLINE + MATHML_TAGS)
_SUB, _SUP, _TITLE = _element("sub|inf", 300), _element("sup", 300), _element("title|h[1-6]", 300)
_TEX, _FORMULA = _element("tex-math", 3000), _element("inline-formula", 5000)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u2060\ufeff\ud800-\udfff]")
_LATEX = re.compile(r"\\[a-zA-Z'\"`^~%&_#$({]")


def is_markup(name: str) -> bool:
    """Whether an element of this name is markup within a text; its namespace does not matter."""
    return _NAME.fullmatch(name.rpartition("}")[2]) is not None


LONGEST = 100_000
"""Characters up to which a text is searched for markup; a longer one is no abstract and only gets its spaces
tidied. Chosen by hand."""


def to_text(text: str) -> str:
    """Readable text in one line from text that may hold HTML, JATS, MathML, entities or LaTeX.

    The usual text has none of it and takes the short way out.
    """
    if len(text) > LONGEST:
        return in_one_line(text)
    if "<" in text or "&" in text:
        text = _without_tags(text)
    if ("\\" in text and _LATEX.search(text)) or ("$" in text and has_formula(text)):
        text = _from_latex(text)
    return in_one_line(text)


def latex_text(text: str) -> str:
    """Readable text from a source that is LaTeX throughout (arXiv, BibTeX): braces and ties go as well."""
    if len(text) > LONGEST:
        return in_one_line(text)
    if "<" in text or "&" in text:
        text = _without_tags(text)
    return in_one_line(_from_latex(text) if _IS_LATEX.search(text) else text)


def _from_latex(text: str) -> str:
    """LaTeX as text, and then the tags in it that a program escaped: "{\\textless}i{\\textgreater}"."""
    escaped = any(mark in text for mark in ("\\textless", "\\&", "\\<"))
    text = latex_to_text(text)
    return _without_tags(text) if escaped and ("<" in text or "&" in text) else text


_IS_LATEX = re.compile(r"[\\${}~]|``|''|---")


def in_one_line(text: str) -> str:
    """The text with single spaces, without invisible characters, in composed Unicode."""
    if not text.isprintable():
        text = " ".join(_INVISIBLE.sub("", text).split())
    elif "  " in text:
        text = " ".join(text.split())
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return text.strip()


def _without_tags(text: str) -> str:
    """Tags and entities resolved; twice, because some sources escape their markup ("&lt;p&gt;")."""
    for _ in range(2):
        if "<" in text:
            text = _strip_tags(text)
        if "&" not in text:
            break
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return text


def _strip_tags(text: str) -> str:
    if "</" not in text:
        return _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", text))
    if "math" in text:
        text = _FORMULA.sub(lambda _, inside: _formula(inside), text)
        text = MATH.sub(lambda element, _: mathml_to_text(element), text)
        text = _TEX.sub(lambda formula, _: _formula(formula), text)
    text = _TITLE.sub(lambda _, inside: _heading(inside), text)
    text = _SUB.sub(lambda _, inside: lower_text(_INLINE_TAG.sub("", inside)), text)
    text = _SUP.sub(lambda _, inside: raise_text(_INLINE_TAG.sub("", inside)), text)
    return _INLINE_TAG.sub("", _BLOCK_TAG.sub(" ", text))


def _formula(inside: str) -> str:
    """TeX where the formula has it (its MathML says the same again), between dollars."""
    found = next(_TEX.find(inside), None)
    if found is None:
        return inside
    return found.inside if "$" in found.inside else f"${found.inside.strip()}$"


def _heading(title: str) -> str:
    """The title of a section as in "Methods: ..."; that an abstract is the abstract need not be said."""
    heading = " ".join(title.split()).rstrip(":.")
    return " " if heading.lower() in ("abstract", "summary", "") else f" {heading}: "
