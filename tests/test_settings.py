from pathlib import Path

import pytest

from search.errors import SettingsError
from search.settings import KEYS, Settings, load_settings


def write(folder: Path, text: str) -> Path:
    path = folder / "triptych.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_given_means_the_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_settings(environment={}) == Settings()


def test_file_in_the_working_folder_is_read(tmp_path, monkeypatch):
    write(tmp_path, 'encoder = "quality"\nbm25_b = 0.4\nallow_import = false\n')
    monkeypatch.chdir(tmp_path)
    settings = load_settings(environment={})
    assert (settings.encoder, settings.bm25_b, settings.allow_import) == ("quality", 0.4, False)


def test_environment_wins_over_the_file(tmp_path):
    file = write(tmp_path, "keep_builds = 5\nbm25_k1 = 0.9\n")
    settings = load_settings(file, {"TRIPTYCH_KEEP_BUILDS": "3", "TRIPTYCH_ALLOW_IMPORT": "no"})
    assert (settings.keep_builds, settings.bm25_k1, settings.allow_import) == (3, 0.9, False)


def test_paths_in_a_file_are_meant_from_where_it_lies(tmp_path):
    file = write(tmp_path, 'corpus = "papers"\n')
    assert load_settings(file, {}).corpus == tmp_path / "papers"
    assert load_settings(file, {"TRIPTYCH_CORPUS": "elsewhere"}).corpus == Path("elsewhere")


def test_variable_names_the_file(tmp_path):
    file = write(tmp_path, 'device = "cpu"\n')
    assert load_settings(environment={"TRIPTYCH_SETTINGS": str(file)}).device == "cpu"


@pytest.mark.parametrize("variable", ["TRIPTYCH_DATA", "TRIPTYCH_FACETS", "TRIPTYCH_ASPECTS"])
def test_where_files_are_found_is_no_setting(variable):
    assert load_settings(environment={variable: "/data"}) == Settings()


@pytest.mark.parametrize("given", ["from_file", "from_environment"])
def test_unknown_key_is_refused_with_the_known_ones(tmp_path, given):
    file = write(tmp_path, "bm25_k2 = 1\n" if given == "from_file" else "")
    environment = {} if given == "from_file" else {"TRIPTYCH_BM25_K2": "1"}
    with pytest.raises(SettingsError, match="bm25_k2") as caught:
        load_settings(file, environment)
    assert all(key in str(caught.value) for key in KEYS)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("bm25_b = 1.5", "from 0.0 to 1.0"),
        ('bm25_k1 = "fast"', "a number"),
        ("keep_builds = 2.5", "a whole number"),
        ("keep_builds = 0", "from 1"),
        ("keep_builds = true", "a whole number"),
        ('allow_import = "perhaps"', "true or false"),
        ("encoder = 3", "a text"),
        ('encoder = ""', "default"),
        ("corpus = [1]", "path of a folder"),
        ("corpus = ", "not valid TOML"),
    ],
)
def test_values_that_make_no_sense_are_refused_in_words(tmp_path, line, word):
    with pytest.raises(SettingsError, match=word):
        load_settings(write(tmp_path, line), {})


def test_missing_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml", {})
