"""LaTeX in titles and abstracts as text people read: accents, symbols, formulas in one line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_TOKEN = re.compile(r"\\[a-zA-Z]+\*?|\\.|[{}$^_~&]|[^\\{}$^_~&]+|\\", re.DOTALL)
_PREAMBLE = re.compile(r"\\documentclass.{0,3000}?\\begin\{document\}|\\end\{document\}", re.DOTALL)

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306",
    ".": "\u0307", '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323",
    "c": "\u0327", "k": "\u0328", "b": "\u0331", "hat": "\u0302", "widehat": "\u0302",
    "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304", "overline": "\u0304", "breve": "\u0306",
    "dot": "\u0307", "ddot": "\u0308", "check": "\u030c", "vec": "\u20d7", "acute": "\u0301",
    "grave": "\u0300", "mathring": "\u030a", "not": "\u0338",
}  # fmt: skip
"""Macro to the combining character that follows its one letter."""

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi omicron pi rho sigma tau upsilon phi "
    "chi psi omega"
).split()
_PAIRS = r"""
    lambda λ  Lambda Λ  varepsilon ε  vartheta ϑ  varphi φ  varrho ϱ  varpi ϖ  varsigma ς  eps ε  ss ß
    o ø  O Ø  l ł  L Ł  ae æ  AE Æ  oe œ  OE Œ  aa å  AA Å  i i  j j  imath i  jmath j  dh ð  th þ  sim ~
    simeq ≃  approx ≈  cong ≅  equiv ≡  propto ∝  neq ≠  ne ≠  leq ≤  le ≤  leqslant ≤  geq ≥  ge ≥
    geqslant ≥  ll ≪  gg ≫  lesssim ≲  gtrsim ≳  la ≲  ga ≳  lt <  gt >  prec ≺  succ ≻  pm ±  mp ∓
    times ×  div ÷  cdot ·  ast *  star ⋆  circ °  bullet •  oplus ⊕  otimes ⊗  odot ⊙  ominus ⊖  wedge ∧
    vee ∨  cap ∩  cup ∪  setminus ∖  rtimes ⋊  ltimes ⋉  dagger †  ddagger ‡  neg ¬  lnot ¬  in ∈  notin ∉
    ni ∋  subset ⊂  subseteq ⊆  supset ⊃  supseteq ⊇  emptyset ∅  varnothing ∅  forall ∀  exists ∃  mid |
    parallel ∥  perp ⊥  bot ⊥  top ⊤  vdash ⊢  models ⊨  to →  rightarrow →  longrightarrow →  leftarrow ←
    gets ←  leftrightarrow ↔  Rightarrow ⇒  implies ⇒  Leftarrow ⇐  Leftrightarrow ⇔  iff ⇔  mapsto ↦
    uparrow ↑  downarrow ↓  hookrightarrow ↪  infty ∞  partial ∂  nabla ∇  sum ∑  prod ∏  int ∫  oint ∮
    sqrt √  ell ℓ  hbar ħ  Re Re  Im Im  aleph ℵ  prime ′  angle ∠  triangle △  square □  Box □  sharp ♯
    flat ♭  natural ♮  langle ⟨  rangle ⟩  lfloor ⌊  rfloor ⌋  lceil ⌈  rceil ⌉  vert |  lvert |  rvert |
    Vert ‖  lVert ‖  rVert ‖  colon :  ldots …  dots …  cdots ⋯  vdots ⋮  textdegree °  degree °  deg °
    arcdeg °  arcsec ″  arcmin ′  copyright ©  S §  P ¶  pounds £  euro €  textgreater >  textless <
    textbackslash \  textbraceleft {  textbraceright }  textasciicircum ^  textasciitilde ~  textendash –
    textemdash —  textquoteright ’  textquoteleft ‘  textquotedblleft “  textquotedblright ”
    textregistered ®  texttrademark ™  textmu μ  over /  LaTeX LaTeX  TeX TeX  slash /  backslash \
    lbrace {  rbrace }  bmod mod  pmod mod  RR ℝ  CC ℂ  QQ ℚ  ZZ ℤ  NN ℕ
""".split()
_SYMBOLS = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)) | {"choose": " choose "}
for _name in _GREEK:
    _SYMBOLS[_name] = unicodedata.lookup(f"GREEK SMALL LETTER {_name.upper()}")
    _SYMBOLS[_name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {_name.upper()}")

# "\\toEnglish": a symbol that lost the space after it, told by the capital or by its length.
_NAMES = "|".join(sorted(_SYMBOLS, key=len, reverse=True))
_GLUED = re.compile(rf"((?:{_NAMES})(?<=[a-z]{{2}})(?=[A-Z])|(?:{_NAMES})(?<=\w{{5}}))(\w+)")

_BLACKBOARD = dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True))
_SPACES = {
    ",": " ", ";": " ", ":": " ", " ": " ", "\n": " ", "\\": " ", "quad": " ", "qquad": " ", "par": " ",
    "newline": " ", "linebreak": " ", "item": " ", "!": "", "-": "", "/": "", "allowbreak": "",
}  # fmt: skip
_SWITCHES = frozenset(
    """
    rm bf it sl sc sf tt em cal frak bm boldmath left right big Big bigg Bigg bigl bigr Bigl Bigr limits
    nolimits displaystyle textstyle scriptstyle scriptscriptstyle scriptsize small footnotesize large
    normalsize centering protect noindent ensuremath mathop mathrm mathbf mathit mathsf mathtt mathcal
    mathscr mathfrak mathnormal text textrm textbf textit textsf texttt textsc textsl textup textmd
    textnormal emph underline mbox hbox boldsymbol url operatorname pmb Bbb bold sf phantom xspace
    """.split()
)
"""Macros that only change the looks: what they apply to stays, without the space after the macro."""
_DROPPED = frozenset(
    """
    cite citep citet citeauthor citeyear citealp citealt nocite ref eqref autoref cref label vspace
    hspace vskip hskip begin end footnote footnotemark footnotetext thanks bibitem includegraphics color
    textcolor usepackage setlength pagestyle
    """.split()
)
"""Macros that go together with their argument."""

_SUPER = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_SUB = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_FIGURES = re.compile(r"[0-9+\-−]+(?:\.[0-9]+)?")
_ATOM = re.compile(r"\w+|.|\([^()]*\)", re.DOTALL)
_LEFTOVERS = (
    (re.compile(r"\(\s*[,;]?\s*\)|\[\s*[,;]?\s*\]"), ""),
    (re.compile(r"\s+([,.;:!?)])(?=\s|$)"), r"\1"),
)
_CITING = re.compile(r"\\(?:cite|ref|eqref|footnote|label)")
_MONEY = re.compile(
    r"(?<!\\)\$(?=\d[\d.,]*[- ](?:thousand|million|billion|trillion|and|to|per|for|a|in|US)\b)"
)
_DOLLAR = re.compile(r"(?<!\\)\$")
FORMULA = re.compile(r"\$\$.+?\$\$|(?<!\\)\$(?!\s)[^$]*?[^\s$\\]\$(?!\d)", re.DOTALL)
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
        return text
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
        text = _Converter(_PREAMBLE.sub("", text)).convert()
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
    return FORMULA.search(text) is not None


def _keep_lone_dollars(text: str) -> str:
    """The text with the dollars escaped that are money and not the edge of a formula."""
    parts, end = [], 0
    for match in FORMULA.finditer(text):
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
        """A superscript or subscript; outside of formulas only before a group, so that "a_b" stays."""
        if not self._math and not self._peek().startswith("{"):
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
        if name in _ACCENTS and (name not in "bcdkruvH" or not self._math):
            return self._accent(_ACCENTS[name])
        if name in _SPACES:
            return _SPACES[name]
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
        if name == "sqrt":
            inside = self._argument()
            return f"√{inside}" if _ATOM.fullmatch(inside) else f"√({inside})"
        if name in ("mathbb", "mathbbm", "Bbb"):
            inside = self._argument()
            return _BLACKBOARD.get(inside, inside)
        if name in _DROPPED:
            self._drop_arguments()
            return ""
        if name in _SWITCHES:
            self._skip_space()
            return ""
        return self._word(name, before)

    def _word(self, name: str, before: list[str]) -> str:
        """A symbol, an escaped character, or the name of a macro nobody told us about."""
        if name in _SYMBOLS:
            text = _SYMBOLS[name]
            if not self._math and len(name) <= 2:
                self._skip_space()
            return text
        if not name.isalpha():
            return "‖" if name == "|" else name
        follower = self._peek()
        if follower == "{":
            self._next()
            return "".join(self._until("}")) or name
        if glued := _GLUED.match(name):
            return _SYMBOLS[glued[1]] + glued[2]
        after_word = bool(before) and before[-1][-1:].isalnum()
        return (" " if after_word else "") + name + (" " if follower[:1].isalnum() else "")

    def _accent(self, mark: str) -> str:
        letter = self._argument()
        return letter[:1] + mark + letter[1:] if len(letter.strip()) == 1 else letter

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
