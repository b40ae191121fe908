"""The direction of dependencies: app -> pages -> search <- index_build, evaluation, training."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OWN = ("app", "pages", "search", "index_build", "evaluation", "training")
MAY_IMPORT = {
    "app": {"app", "pages", "search", "index_build"},
    "pages": {"pages", "search", "index_build", "evaluation"},
    "search": {"search"},
    "index_build": {"index_build", "search"},
    "evaluation": {"evaluation", "search", "index_build"},
    "training": {"training", "search", "evaluation", "index_build"},
}
STAGES = {
    "store",
    "sentences",
    "encoding",
    "facets",
    "vectors",
    "lexical",
    "candidates",
    "matching",
    "explanation",
    "exports",
}
"""Of a query and of a build, each to be read, tested and replaced on its own."""
TOGETHER = {("encoding", "facets")}
"""Facets are told from the encoder's own hidden states, in the same pass."""


def modules(package: str) -> list[Path]:
    return [ROOT / "app.py"] if package == "app" else sorted((ROOT / package).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Every module a file imports, wherever in the file, by its full name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def top(module: str) -> str:
    return module.split(".")[0]


@pytest.mark.parametrize("package", OWN)
def test_imports_go_one_way(package):
    wrong = {
        f"{path.relative_to(ROOT)} imports {module}"
        for path in modules(package)
        for module in imports(path)
        if top(module) in OWN and top(module) not in MAY_IMPORT[package]
    }
    assert wrong == set()


@pytest.mark.parametrize("package", ["search", "index_build", "evaluation", "training"])
def test_streamlit_stays_in_the_app(package):
    wrong = {
        path.relative_to(ROOT) for path in modules(package) if "streamlit" in set(map(top, imports(path)))
    }
    assert wrong == set()


def stage_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "search" and len(parts) > 1 else ""


def test_stages_do_not_import_one_another():
    wrong = set()
    for path in modules("search"):
        own = path.relative_to(ROOT / "search").with_suffix("").parts[0]
        others = {stage_of(module) for module in imports(path)} & (STAGES - {own})
        wrong |= {(own, other) for other in others if own in STAGES}
    assert wrong - TOGETHER == set()


def test_the_stages_are_there():
    there = {path.relative_to(ROOT / "search").with_suffix("").parts[0] for path in modules("search")}
    assert there >= STAGES
