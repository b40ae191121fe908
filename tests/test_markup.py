"""Markup becomes text that people read, and text without markup stays as it is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylatexenc.latex2text import LatexNodes2Text

from index_build.latex_macros import SYMBOLS
from index_build.markup import in_one_line, latex_text, to_text


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"runs in $\mathcal{O}(n^2)$ time", "runs in O(n²) time"),
        (r"$\mathcal O(n \log n)$", "O(n log n)"),
        (r"K\"oln, Gy\H{o}r, {\L}\'od\'z, Universit{\'e}", "Köln, Győr, Łódź, Université"),
        (r"na\"{\i}ve, \v{S}, \c c, \o{}, {\AA}", "naïve, Š, ç, ø, Å"),
        (r"over ${\mathbb R}^n$ and $\mathbb{Z}_p$", "over ℝ^n and ℤ_p"),
        (r"at $10^{-3}$, $x_{ij}$, $T_{\rm eff}$, $e^{a+b}$", "at 10⁻³, x_ij, T_eff, e^(a+b)"),
        (r"rotated by 90^\circ (see \cite{x}), with a_b", "rotated by 90°, with a_b"),
        (r"H$_2$O at 25$^{\circ}$C and 4{\deg}C", "H₂O at 25°C and 4°C"),
        (r"$\frac{1}{2}$, $\frac{a+b}{c}$, $\sqrt{x}$, $\sqrt{x+1}$", "1/2, (a+b)/c, √x, √(x+1)"),
        (r"$\binom{n}{k}$ and $n \choose k$", "(n choose k) and n choose k"),
        (r"$\alpha \leq \beta \to \infty$", "α ≤ β → ∞"),
        (r"a {\it new} and \emph{simple} \textbf{method}", "a new and simple method"),
        (r"as shown before~\cite{a,b}, and (\citep[p.~2]{c}) again.", "as shown before, and again."),
        (r"``quoted'' text --- and 10--20 pages", "“quoted” text — and 10–20 pages"),
        (r"$f''(x)$ stays", "f''(x) stays"),
        (r"50\% of \$5 \& R\_x \#1", "50% of $5 & R_x #1"),
        (r"Fig.~2 and ~50 others", "Fig. 2 and ~50 others"),
        (r"$a \not= b$ and $f \circ g$", "a ≠ b and f ∘ g"),
        (r"the \TESS{} data and \Msun", "the TESS data and Msun"),
        (r"En\toDe and zh\rightarrowen", "En→De and zh→en"),
        (r"an unbalanced {brace and $lone dollar", "an unbalanced brace and $lone dollar"),
        (r"\documentclass[12pt]{minimal} \begin{document}$$k$$\end{document} items", "k items"),
        (r"\url{https://example.org/a_b}, \href{https://example.org}{here}", "https://example.org/a_b, here"),
        ("{BERT} for {P}ub{M}ed", "BERT for PubMed"),
    ],
)  # fmt: skip
def test_latex_is_readable(latex: str, text: str) -> None:
    assert latex_text(latex) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("H<sub>2</sub>O, x<sup>2</sup>, <sup>18</sup>F, T<sub>max</sub>", "H₂O, x², ¹⁸F, T_max"),
        ("<i>in vivo</i> &amp; p &lt; 0.05", "in vivo & p < 0.05"),
        ("&lt;p&gt;escaped &amp;amp; twice&lt;/p&gt;", "escaped & twice"),
        ("fill <mask> and <sep>, if a <b and c> d", "fill <mask> and <sep>, if a <b and c> d"),
        ("AT&T, R&D and &unknown;", "AT&T, R&D and &unknown;"),
        ("<jats:title>Abstract</jats:title><jats:p>We ask.</jats:p>", "We ask."),
        (
            "<jats:sec><jats:title>Methods</jats:title><jats:p>We count.</jats:p></jats:sec>"
            "<jats:sec><jats:title>Results</jats:title><jats:p>It works.</jats:p></jats:sec>",
            "Methods: We count. Results: It works.",
        ),
        (
            '<inline-formula><alternatives><tex-math id="m1">$$\\alpha$$</tex-math>'
            "<mml:math><mml:mi>α</mml:mi></mml:math></alternatives></inline-formula> decay",
            "α decay",
        ),
        (
            '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:msup><mml:mi>x</mml:mi><mml:mn>2'
            "</mml:mn></mml:msup><mml:mo>&lt;</mml:mo><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi>"
            "</mml:mfrac></mml:math>",
            "x²<a/b",
        ),
        ("<math><msub><mi>k</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub></math>", "k_(i+1)"),
        (
            "<math><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup><mspace/><msqrt><mi>y</mi></msqrt></math>",
            "x₁² √y",
        ),
        ("<math><broken", "<broken"),
        ("<tex-math>k^2</tex-math> <fixed-case>NLP</fixed-case>", "k² NLP"),
        ("costs $5 million and $6 more", "costs $5 million and $6 more"),
        ("a kNN with $k$ = 5 and snake_case^2 {kept}", "a kNN with k = 5 and snake_case^2 kept"),
        ("sets {a, b} stay without LaTeX", "sets {a, b} stay without LaTeX"),
        (r"C:\ and a \\ b stay", r"C:\ and a \\ b stay"),
    ],
)  # fmt: skip
def test_markup_is_resolved(markup: str, text: str) -> None:
    assert to_text(markup) == text


def test_text_comes_in_one_line_without_invisible_characters() -> None:
    assert in_one_line("  a\n b\u00a0c\u200b\0\ud800 e\u0301 ") == "a b c é"


def test_the_usual_text_is_given_back_untouched() -> None:
    text = "We present a method, and it works (p < 0.05; 10% better)."
    assert to_text(text) is text


@given(st.text())
def test_any_text_can_be_cleaned(text: str) -> None:
    for clean in (to_text(text), latex_text(text)):
        assert clean == clean.strip()
        assert "\n" not in clean
        clean.encode()
        assert unicodedata.is_normalized("NFC", clean)


@given(st.text(alphabet=r"\{}$^_~&<>/ab1 '`-.()[]%"))
def test_any_heap_of_special_characters_can_be_cleaned(text: str) -> None:
    to_text(text)
    latex_text(text)


def test_plain_words_are_left_alone_by_the_latex_reader() -> None:
    text = "Nothing here is markup, not even 3 < 4 or a_b."
    assert latex_text(text) == text


_STANDARD = (
    "alpha beta gamma delta lambda Lambda Omega sigma tau leq geq neq times pm infty partial nabla sum prod "
    "int in notin subset cup cap forall exists to mapsto ss o O l L ae AE oe aa AA ldots hbar ell langle"
).split()


@pytest.mark.parametrize("name", _STANDARD)
def test_symbols_agree_with_an_independent_converter(name: str) -> None:
    theirs = LatexNodes2Text().latex_to_text(f"${{\\{name}}}$").strip()
    assert unicodedata.normalize("NFKC", SYMBOLS[name]) == unicodedata.normalize("NFKC", theirs)


@pytest.mark.parametrize(
    "accented",
    r"\'e \"{u} \^{o} \~n \v{c} \c{c} \k{a} \H{o} \=a \u{g} \r{a} \d{s} \`a \.z".split(),
)
def test_accents_agree_with_an_independent_converter(accented: str) -> None:
    theirs = LatexNodes2Text().latex_to_text(accented)
    assert latex_text(accented) == unicodedata.normalize("NFC", theirs)


@pytest.mark.parametrize(
    "hostile",
    [
        "{" * 50_000,
        r"\frac{" * 10_000,
        "<sub>" * 18_000 + "</sub>",
        "<math>" * 15_000,
        "<math>" * 5_000 + "</math>",
        "<p" + " " * 99_000,
        r"\cite" + " " * 90_000 + "x",
        r"\documentclass" * 7_000,
        "$" * 99_999,
        "&lt;" * 25_000,
        "x" * 200_000 + "<b>",
    ],
    ids=lambda text: text[:14].strip(),
)
def test_hostile_text_costs_neither_the_stack_nor_the_day(hostile: str) -> None:
    assert isinstance(to_text(hostile), str)
    assert isinstance(latex_text(hostile), str)
