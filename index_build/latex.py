"""LaTeX in titles and abstracts as text people read: accents, symbols, formulas in one line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from index_build.elements import Elements
from index_build.latex_macros import ACCENTS, BLACKBOARD, DROPPED, GLUED, SPACES, SWITCHES, SYMBOLS

_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|[{}$^_~&]|[^\\{}$^_~&]+|\\", re.DOTALL)
_PREAMBLE = Elements(re.compile(r"\\documentclass"), re.compile(r"\\begin\{document\}"), longest=3000)
_END = r"\end{document}"

_TEXT_ACCENTS = frozenset("bcdkruvH")
"""Accents in text that authors redefine as symbols in formulas."""
_SUPER = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_SUB = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_FIGURES = re.compile(r"[0-9+\-−]+(?:\.[0-9]+)?")
_ATOM = re.compile(r"\w+|.|\([^()]*\)", re.DOTALL)
_LEFTOVERS = (
    (re.compile(r"\((?:see|cf\.?|e\.g\.,?)?\s*+(?:[,;]\s*+)?\)|\[\s*+(?:[,;]\s*+)?\]"), ""),
    (re.compile(r"(?<!\s)\s++([,.;:!?)])(?=[\s,.;:]|$)"), r"\1"),
)
_CITING = re.compile(r"\\(?:cite|ref|eqref|footnote|label)")
_MONEY = re.compile(
    r"(?<!\\)\$(?=\d[\d.,]*[- ](?:thousand|million|billion|trillion|and|to|per|for|a|in|US)\b)"
)
_DOLLAR = re.compile(r"(?<!\\)\$")
_FORMULA = re.compile(r"\$\$.+?\$\$|(?<!\\)\$(?!\s)[^$]*?[^\s$\\]\$(?!\d)", re.DOTALL)
_SPECIAL = re.compile(r"[{}$\\]")
_TIE = re.compile(r"(?<=[\w.,;:)])~(?=[\w(\\$])")


def raise_text(text: str) -> str:
    """A superscript in one line: "2" as "²", "k" as "^k", "k+1" as "^(k+1)"."""
    return _script(text, "^", _SUPER)


def lower_text(text: str) -> str:
    """A subscript in one line: "2" as "₂", "eff" as "_eff", "k+1" as "_(k+1)"."""
    return _script(text, "_", _SUB)


def _script(text: str, sign: str, table: dict[int, int]) -> str:
    text = text.strip()
    if _FIGURES.fullmatch(text):
        return text.translate(table)
    if sign == "^" and not any(map(str.isalnum, text)):
        return "°" if text == "∘" else text
    return f"{sign}{text}" if not text or _ATOM.fullmatch(text) else f"{sign}({text})"


def fraction(top: str, bottom: str) -> str:
    """ "a/b", with brackets where a part has more than one atom."""
    return "/".join(part if _ATOM.fullmatch(part) else f"({part})" for part in (top.strip(), bottom.strip()))


def latex_to_text(text: str) -> str:
    """The text with its LaTeX made readable: `$\\mathcal{O}(n^2)$` as "O(n²)"."""
    cites = _CITING.search(text) is not None
    if "$" in text:
        text = _MONEY.sub(r"\\$", text)
        if len(_DOLLAR.findall(text)) % 2:
            text = _keep_lone_dollars(text)
    try:
        text = _Converter(_PREAMBLE.sub(lambda *_: "", text).replace(_END, "")).convert()
    except RecursionError:  # braces within braces beyond all reason
        text = _SPECIAL.sub("", text)
    if cites:
        text = " ".join(text.split())
        for pattern, replacement in _LEFTOVERS:
            text = pattern.sub(replacement, text)
    return unicodedata.normalize("NFC", text)


def _typeset(text: str) -> str:
    """Quotes and dashes as LaTeX sets them."""
    if "``" in text or "''" in text or "--" in text:
        text = text.replace("``", "“").replace("''", "”").replace("---", "—").replace("--", "–")
    return text


def has_formula(text: str) -> bool:
    """Whether the dollars in the text enclose a formula, by the rule that no space follows the first one."""
    return _FORMULA.search(text) is not None


def _keep_lone_dollars(text: str) -> str:
    """The text with the dollars escaped that are money and not the edge of a formula."""
    parts, end = [], 0
    for match in _FORMULA.finditer(text):
        parts += [_DOLLAR.sub(r"\\$", text[end : match.start()]), match[0]]
        end = match.end()
    return "".join(parts) + _DOLLAR.sub(r"\\$", text[end:])


class _Converter:
    """One pass over the tokens; a group becomes text as soon as it closes. Unbalanced braces do no harm."""

    def __init__(self, text: str) -> None:
        self._tokens: Iterator[str] = (match[0] for match in _TOKEN.finditer(_TIE.sub(" ", text)))
        self._pushed: list[str] = []
        self._math = False

    def convert(self) -> str:
        return "".join(self._until(""))

    def _next(self) -> str:
        return self._pushed.pop() if self._pushed else next(self._tokens, "")

    def _until(self, end: str) -> list[str]:
        parts: list[str] = []
        while (token := self._next()) and token != end:
            parts.append(self._render(token, parts))
        return parts

    def _render(self, token: str, before: list[str]) -> str:
        if token == "{":
            return "".join(self._until("}"))
        if token == "}":
            return ""
        if token == "$":
            return self._dollar()
        if token in "^_":
            return self._script(token)
        if token[0] == "\\" and len(token) > 1:
            return self._macro(token[1:].rstrip("*") or "*", before)
        return token if self._math else _typeset(token)

    def _script(self, sign: str) -> str:
        """A script; outside of formulas only before a group or a macro, so that "a_b" stays."""
        if not self._math and not self._peek().startswith(("{", "\\")):
            return sign
        return raise_text(self._argument()) if sign == "^" else lower_text(self._argument())

    def _peek(self) -> str:
        token = self._next()
        self._pushed.append(token)
        return token

    def _dollar(self) -> str:
        follower = self._next()
        if follower != "$" and follower:
            self._pushed.append(follower)
        self._math = not self._math
        return ""

    def _argument(self) -> str:
        """The next group, or the next single character or macro."""
        token = self._next()
        while token and not token.strip():
            token = self._next()
        if token[:1] not in ("", "\\", "{", "}", "$", "^", "_"):
            token, rest = token.lstrip()[:1], token.lstrip()[1:]
            self._pushed += [rest] if rest else []
        if token in ("}", "$"):
            self._pushed.append(token)
            return ""
        return self._render(token, []) if token else ""

    def _macro(self, name: str, before: list[str]) -> str:
        if name in ACCENTS and not (self._math and name in _TEXT_ACCENTS):
            return self._accent(ACCENTS[name])
        if name in SPACES:
            return SPACES[name]
        if name in "()[]":
            self._math = name in "(["
            return ""
        if name in ("frac", "dfrac", "tfrac", "cfrac"):
            return fraction(self._argument(), self._argument())
        if name in ("binom", "dbinom", "tbinom"):
            return f"({self._argument()} choose {self._argument()})"
        if name in ("href", "stackrel", "overset", "underset"):
            self._argument()
            return self._argument()
        if name in ("textsuperscript", "textsubscript"):
            inside = self._argument()
            return raise_text(inside) if name == "textsuperscript" else lower_text(inside)
        if name == "sqrt":
            inside = self._argument()
            return f"√{inside}" if _ATOM.fullmatch(inside) else f"√({inside})"
        if name in ("mathbb", "mathbbm", "Bbb"):
            inside = self._argument()
            return BLACKBOARD.get(inside, inside)
        if name in DROPPED:
            self._drop_arguments()
            return ""
        if name in SWITCHES:
            self._skip_space()
            return ""
        return self._word(name, before)

    def _word(self, name: str, before: list[str]) -> str:
        """A symbol, an escaped character, or the name of a macro nobody told us about."""
        if name in SYMBOLS:
            text = SYMBOLS[name]
            if not self._math and len(name) <= 2:
                self._skip_space()
            return text
        if not name.isalpha():
            return "‖" if name == "|" else name
        follower = self._peek()
        if follower == "{":
            self._next()
            return "".join(self._until("}")) or name
        if glued := GLUED.match(name):
            return SYMBOLS[glued[1]] + glued[2]
        after_word = bool(before) and before[-1][-1:].isalnum()
        return (" " if after_word else "") + name + (" " if follower[:1].isalnum() else "")

    def _accent(self, mark: str) -> str:
        """The letter with the mark, behind the marks it has: Vietnamese letters have two."""
        argument = self._argument()
        letter = argument.rstrip()
        if not letter or not all(map(unicodedata.combining, letter[1:])):
            return argument
        return letter + mark + argument[len(letter) :]

    def _skip_space(self) -> None:
        token = self._next()
        if token:
            stripped = token.lstrip()
            if stripped:
                self._pushed.append(stripped)

    def _drop_arguments(self) -> None:
        """What belongs to a dropped macro: options in brackets, then one group."""
        token = self._next()
        if token.startswith("[") and "]" in token:
            token = token[token.index("]") + 1 :] or self._next()
        if token == "{":
            self._until("}")
        elif token:
            self._pushed.append(token)
