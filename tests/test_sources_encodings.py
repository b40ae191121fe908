"""Files in other encodings than UTF-8: found out by their letters, or said where that is a guess."""

from __future__ import annotations

import json

import pytest

from index_build.sources import Reason, Reject, read_bytes
from index_build.sources.charsets import Guess, decode, guess
from search.types import Paper

TEXTS = {
    "gb18030": ("基于深度学习的文本检索方法研究", "本文提出一种新的方法，用来查找论文。"),
    "cp1250": ("Vliv počasí na růst stromů v České republice", "Věra Dvořáková a Jiří Žižka měřili stromy."),
    "mac_roman": ("L'été à la forêt: une étude", "Nous avons mesuré les arbres à côté de la rivière."),
    "cp1252": ("Größe der Bäume im Süden", "Wir prüfen “Bäume” – über Jahre."),
    "cp1251": ("Рост деревьев в центральной Европе", "Мы измерили деревья и описали их рост."),
    "iso8859_2": ("Předpověď deště ve městě Šumperk", "Žluťoučký kůň měří déšť a sníh."),
    "cp1254": ("Yağış tahmini için derin öğrenme", "Bu çalışmada yağmur ve kar incelenmiştir."),
    "cp1253": ("Πρόβλεψη βροχής στην πόλη", "Μελετούμε τη βροχή και το χιόνι."),
    "koi8_r": ("Прогноз дождя в большом городе", "Мы изучаем дождь и снег зимой."),
    "euc_jp": ("降雨の予測に関する研究", "本研究では新しい手法を提案する。"),
    "cp932": ("深層学習による文献検索の研究", "本論文では新しい手法を提案する。"),
}


def files(title: str, abstract: str) -> dict[str, str]:
    record = {"type": "article", "title": title, "abstract": abstract, "DOI": ""}
    return {
        "ris": f"TY  - JOUR\nTI  - {title}\nAB  - {abstract}\nER  - \n",
        "bibtex": f"@misc{{a,\n title = {{{title}}},\n abstract = {{{abstract}}}\n}}\n",
        "csv": f'title,abstract\n"{title}","{abstract}"\n',
        "json": json.dumps([record], ensure_ascii=False, indent=1),
        "xml": f"<PubmedArticle><ArticleTitle>{title}</ArticleTitle><Abstract><AbstractText>{abstract}"
        "</AbstractText></Abstract></PubmedArticle>",
    }


@pytest.mark.parametrize("format", ["ris", "bibtex", "csv", "json", "xml"])
@pytest.mark.parametrize("encoding", TEXTS)
def test_encodings_are_found_by_their_letters(encoding: str, format: str) -> None:
    title, abstract = TEXTS[encoding]
    (paper,) = (
        item
        for item in read_bytes(files(title, abstract)[format].encode(encoding), f"x.{format}")
        if isinstance(item, Paper)
    )
    assert (paper.title, paper.abstract) == (title, abstract)


@pytest.mark.parametrize(
    "text", ["Wiśniewski, Paweł", "Prognoza w Łodzi", "Żak, Ewa", "Szűcs, Lőrinc and Erdős, Pál"]
)
def test_one_line_of_central_europe_is_not_western(text: str) -> None:
    data = text.encode("cp1250")
    assert decode(data, guess(data).encoding) == text


def test_a_guess_is_said() -> None:
    text = "TY  - JOUR\nTI  - A study of search in the wild\nAU  - 王伟\nER  - \n"
    items = list(read_bytes(text.encode("gb18030"), "x.ris"))
    (notice,) = (item for item in items if isinstance(item, Reject))
    assert (notice.reason, notice.place) == (Reason.ENCODING, "line 3")
    assert any(isinstance(item, Paper) and item.title == "A study of search in the wild" for item in items)


@pytest.mark.parametrize("text", ["Zürich", "20 °C ± 3", "it’s “fine” – now", "naïve café", "Größe"])
def test_a_few_western_letters_need_no_guess(text: str) -> None:
    assert guess(text.encode("cp1252")) == Guess()
    assert decode(text.encode("cp1252")) == text


@pytest.mark.parametrize("format", ["ris", "bibtex", "csv", "json", "xml"])
def test_one_bad_byte_costs_one_character(format: str) -> None:
    title, abstract = "Größe der Bäume", "Wir prüfen Bäume – über Jahre: 王伟."
    data = files(title, abstract)[format].encode().replace("prüfen".encode(), b"pr\xfcfen \x81")
    (paper,) = read_bytes(data, f"x.{format}")
    assert isinstance(paper, Paper)
    assert (paper.title, paper.abstract) == (title, "Wir prüfen Bäume – über Jahre: 王伟.")


NAMES = [
    ("cp1252", "Sørensen, Søren|Kjær, Åse|Muñoz, Ángel|Lefèvre, Hélène|João, Conceição|Größe, Jürgen"),
    ("cp1250", "Dvořáková, Věra|Černý, Jiří|Kováčová, Ľubica"),
    ("cp1250", "Wiśniewska, Łucja|Dąbrowski, Błażej"),
    ("mac_roman", "Müller, Jürgen|Lefèvre, Hélène"),
]


@pytest.mark.parametrize(("encoding", "names"), NAMES)
def test_a_few_names_are_enough_to_tell_european_encodings(encoding: str, names: str) -> None:
    lines = "".join(f"AU  - {name}\n" for name in names.split("|"))
    text = f"TY  - JOUR\nTI  - Growth of trees in central Europe\n{lines}ER  - \n"
    (paper,) = read_bytes(text.encode(encoding), "x.ris")
    assert isinstance(paper, Paper)
    assert paper.authors == tuple(names.split("|"))


def test_text_that_begins_plainly_is_read_rightly_to_the_end() -> None:
    plain = "".join(f"TY  - JOUR\nTI  - Title {number}\nER  - \n" for number in range(5000))
    title, abstract = TEXTS["cp1250"]
    *_, last = read_bytes((plain + files(title, abstract)["ris"]).encode("cp1250"), "x.ris")
    assert isinstance(last, Paper)
    assert last.title == title


@pytest.mark.parametrize("cut", [1, 2])
def test_a_character_at_the_edge_of_a_piece_is_no_other_encoding(cut: int) -> None:
    head = b"x" * 65_530 + "€".encode()[:cut]
    assert guess(head) == Guess()
