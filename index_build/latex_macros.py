"""What each LaTeX macro stands for in plain text."""

from __future__ import annotations

import re
import unicodedata

ACCENTS = {
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
    times ×  div ÷  cdot ·  ast *  star ⋆  circ ∘  bullet •  oplus ⊕  otimes ⊗  odot ⊙  ominus ⊖  wedge ∧
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
    DH Ð  TH Þ  DJ Đ  dj đ  NG Ŋ  ng ŋ  SS ẞ  IJ Ĳ  ij ĳ  textpm ±  texttimes ×  textdiv ÷  textminus −
    textlnot ¬  textonehalf ½  textonequarter ¼  textthreequarters ¾  textonesuperior ¹  texttwosuperior ²
    textthreesuperior ³  textordfeminine ª  textordmasculine º  texteuro €  EUR €  textsterling £  textcent ¢
    textyen ¥  textcurrency ¤  textwon ₩  textsection §  textparagraph ¶  textbullet •  textperiodcentered ·
    textasteriskcentered *  textellipsis …  textquotesingle '  textquotedbl "  quotedblbase „
    quotesinglbase ‚  guillemotleft «  guillemotright »  guillemetleft «  guillemetright »  guilsinglleft ‹
    guilsinglright ›  textexclamdown ¡  textquestiondown ¿  textasciigrave `  textasciiacute ´
    textasciidieresis ¨  textasciimacron ¯  textbar |  textbardbl ‖  textbrokenbar ¦  textdagger †
    textdaggerdbl ‡  textperthousand ‰  textpertenthousand ‱  textnumero №  textleftarrow ←  textrightarrow →
    textuparrow ↑  textdownarrow ↓  textsurd √  textcopyright ©  textunderscore _  textdollar $  textohm Ω
    textmicro µ  micro µ  textcelsius ℃  celsius ℃  ohm Ω  permil ‰  perthousand ‰  textestimated ℮
    textservicemark ℠  textlangle ⟨  textrangle ⟩  textinfty ∞  textalpha α  textbeta β  textgamma γ
    textdelta δ  textepsilon ε  textlambda λ  textkappa κ  textomega ω  textpi π  textsigma σ  texttau τ
    textDelta Δ  textOmega Ω  checkmark ✓  diamond ◇  lozenge ◊  blacksquare ■  bigcirc ○  nsim ≁
    nleq ≰  ngeq ≱  gtrless ≷  lessgtr ≶  doteq ≐  triangleq ≜  asymp ≍  bigcup ⋃  bigcap ⋂
    rightleftharpoons ⇌  longleftrightarrow ↔  Longrightarrow ⇒  nearrow ↗  searrow ↘  dotsc …  dotsb ⋯
""".split()
SYMBOLS = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True)) | {"choose": " choose "}
for _name in _GREEK:
    SYMBOLS[_name] = unicodedata.lookup(f"GREEK SMALL LETTER {_name.upper()}")
    SYMBOLS[_name.capitalize()] = unicodedata.lookup(f"GREEK CAPITAL LETTER {_name.upper()}")

# "\\toEnglish": a symbol that lost the space after it, told by the capital or by its length.
_NAMES = "|".join(sorted(SYMBOLS, key=len, reverse=True))
GLUED = re.compile(rf"((?:{_NAMES})(?<=[a-z]{{2}})(?=[A-Z])|(?:{_NAMES})(?<=\w{{5}}))(\w+)")

BLACKBOARD = dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True))
SPACES = {
    ",": " ", ";": " ", ":": " ", " ": " ", "\n": " ", "\\": " ", "quad": " ", "qquad": " ", "par": " ",
    "newline": " ", "linebreak": " ", "item": " ", "space": " ", "nobreakspace": " ",
    "textvisiblespace": " ", "hfill": " ", "smallskip": " ", "medskip": " ", "bigskip": " ",
    "!": "", "-": "", "/": "", "allowbreak": "",
}  # fmt: skip
SWITCHES = frozenset(
    """
    rm bf it sl sc sf tt em cal frak bm boldmath left right big Big bigg Bigg bigl bigr Bigl Bigr limits
    nolimits relax displaystyle textstyle scriptstyle scriptscriptstyle scriptsize small footnotesize large
    normalsize centering protect noindent ensuremath mathop mathrm mathbf mathit mathsf mathtt mathcal
    mathscr mathfrak mathnormal text textrm textbf textit textsf texttt textsc textsl textup textmd
    textnormal emph underline mbox hbox boldsymbol url operatorname pmb Bbb bold xspace
    """.split()
)
"""Macros that only change the looks: what they apply to stays, without the space after the macro."""
DROPPED = frozenset(
    """
    cite citep citet citeauthor citeyear citealp citealt nocite ref eqref autoref cref label vspace
    hspace vskip hskip begin end footnote footnotemark footnotetext thanks bibitem includegraphics color
    textcolor usepackage setlength pagestyle phantom hphantom vphantom
    """.split()
)
"""Macros that go together with their argument."""
