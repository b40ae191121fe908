import pytest

from index_build.filters import csfcube, fields, languages, make_rules, years
from index_build.language import guess_language
from search.errors import InputError
from search.text.sentences import split_paper
from search.types import Paper


def paper(abstract: str = "", **given: object) -> Paper:
    return split_paper(Paper("p", "A title", abstract, **given))


@pytest.mark.parametrize(
    ("abstract", "reason"),
    [
        ("We do one thing here. We do two things here. We stop now here.", ""),
        ("We do one thing here. We do two things here.", "fewer than 3 sentences"),
        ("", "fewer than 3 sentences"),
        ("We do it again here. " * 20, ""),
        ("We do it again here. " * 21, "more than 20 sentences"),
        ("We do it. We say it. " + "word " * 79 + "end.", ""),
        ("We do it. We say it. " + "word " * 80 + "end.", "a sentence of more than 80 tokens"),
        ("We do it. We say it. We stop here.", "all sentences under 4 tokens"),
        ("We do it. We say it. We stop here now.", ""),
    ],
)
def test_csfcube(abstract, reason):
    assert csfcube(paper(abstract.strip())) == reason


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [("2015", [2015]), ("2014-2016", [2014, 2015, 2016]), ("2016-", [2016, 2017]), ("-2014", [2013, 2014])],
)
def test_years(wanted, kept):
    rule = years(wanted)
    assert [year for year in range(2013, 2018) if not rule(paper(year=year))] == kept
    assert rule(paper()) == "no year"


@pytest.mark.parametrize("wanted", ["", "-", "15", "2015-2016-2017", "new", "2016-2014"])
def test_years_that_make_no_sense(wanted):
    with pytest.raises(InputError, match="year"):
        years(wanted)


def test_fields_by_name_and_code():
    language = paper(fields=("Computer Science", "Computation and Language (cs.CL)"))
    physics = paper(fields=("Physics", "Optics (physics.optics)"))
    for wanted in ("computer science", "cs.cl", "cs", "Language"):
        assert fields([wanted])(language) == ""
        assert fields([wanted])(physics) == f"field is not {wanted}"
    assert fields(["optics", "cs"])(physics) == fields(["optics", "cs"])(language) == ""
    assert fields(["cs"])(paper()) != ""


TEXTS = {
    "en": "We show that the size of the model is not what matters for this task.",
    "de": "Wir zeigen, dass die Größe des Modells nicht das ist, was für diese Aufgabe zählt.",
    "fr": "Nous montrons que la taille du modèle n'est pas ce qui compte pour cette tâche.",
    "es": "Mostramos que el tamaño del modelo no es lo que importa para esta tarea en los datos.",
    "pt": "Mostramos que o tamanho do modelo não é o que importa para esta tarefa com os dados.",
    "it": "Mostriamo che la dimensione del modello non è ciò che conta per questo compito e che si può.",
    "nl": "Wij laten zien dat de grootte van het model niet is wat telt voor deze taak.",
    "ru": "Мы показываем, что размер модели не имеет значения.",
    "zh": "我们表明模型的大小并不重要。",
    "ja": "モデルの大きさは重要ではないことを示す。",
    "ko": "모델의 크기는 중요하지 않음을 보인다.",
    "ar": "نبين أن حجم النموذج ليس مهما.",
    "": "Transformers ResNet-50 ImageNet",
}


@pytest.mark.parametrize("code", TEXTS)
def test_language(code):
    assert guess_language(TEXTS[code]) == code


def test_language_filter_keeps_what_cannot_be_told():
    rule = languages(["en", "fr"])
    assert rule(paper(TEXTS["fr"])) == rule(paper(TEXTS[""])) == rule(paper()) == ""
    assert rule(paper(TEXTS["zh"])) == "language is not en or fr"


def test_no_rules_by_default():
    assert make_rules() == []
    assert len(make_rules("csfcube", "2015", ["cs"], ["en"])) == 4
