import os
from pathlib import Path

import pytest

from search.errors import SettingsError
from search.settings import KEYS, Settings, load_settings, make_new_files_private


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


@pytest.mark.parametrize("variable", ["TRIPTYCH_DATA", "TRIPTYCH_CACHE"])
def test_where_files_are_found_is_no_setting(variable):
    assert load_settings(environment={variable: "/data"}) == Settings()


def test_models_of_ones_own_are_settings_under_their_former_names_too(tmp_path):
    expected = Settings(fine_tuned=Path("/tuned"), labeller=Path("/labels"))
    now = {"TRIPTYCH_FINE_TUNED": "/tuned", "TRIPTYCH_LABELLER": "/labels"}
    former = {"TRIPTYCH_ASPECTS": "/tuned", "TRIPTYCH_FACETS": "/labels"}
    assert load_settings(environment=now) == load_settings(environment=former) == expected
    file = write(tmp_path, 'pretrained = "models"\n')
    assert load_settings(file, {}).pretrained == tmp_path / "models"
    assert load_settings(environment={"TRIPTYCH_JUDGING": ""}).judging is None


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
        ("upload_mb = inf", "a whole number"),
        ("upload_mb = nan", "a whole number"),
        ("corpus = ", "not valid TOML"),
        ("allowed_hosts = 3", "a list of names"),
        ("allowed_hosts = [1]", "a list of names"),
        ('allowed_hosts = "https://papers.example.org"', "without http:// and port"),
        ('allowed_hosts = ["papers.example.org:8501"]', "without http:// and port"),
        ('allowed_hosts = ["*.*"]', "without http:// and port"),
        ('private_files = "perhaps"', "true or false"),
    ],
)
def test_values_that_make_no_sense_are_refused_in_words(tmp_path, line, word):
    with pytest.raises(SettingsError, match=word):
        load_settings(write(tmp_path, line), {})


def test_names_are_a_list_or_a_text_with_commas(tmp_path):
    file = write(tmp_path, 'allowed_hosts = ["Papers.Example.ORG.", "*.example.net", "[2001:db8::1]"]\n')
    assert load_settings(file, {}).allowed_hosts == ("papers.example.org", "*.example.net", "[2001:db8::1]")
    given = {"TRIPTYCH_ALLOWED_HOSTS": " papers.example.org ,, 10.1.2.3 "}
    assert load_settings(file, given).allowed_hosts == ("papers.example.org", "10.1.2.3")
    assert load_settings(file, {"TRIPTYCH_ALLOWED_HOSTS": ""}).allowed_hosts == ()


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
@pytest.mark.parametrize(("private", "file", "folder"), [(True, 0o600, 0o700), (False, 0o640, 0o750)])
def test_new_files_are_private_and_old_ones_stay_as_they_are(tmp_path, private, file, folder):
    old = tmp_path / "old"
    old.write_text("before")
    old.chmod(0o644)
    before = os.umask(0o027)
    try:
        make_new_files_private(Settings(private_files=private))
        (tmp_path / "new").write_text("after")
        (tmp_path / "folder").mkdir()
    finally:
        os.umask(before)
    rights = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert rights == {"old": 0o644, "new": file, "folder": folder}


def test_missing_file_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml", {})
