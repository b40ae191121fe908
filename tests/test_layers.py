"""The direction of dependencies, over all modules: what docs/architecture.md draws is what the code does."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("app", "pages", "search", "index_build", "evaluation", "training")
MAY_IMPORT = {
    "app": {"pages", "search", "index_build"},
    "pages": {"search", "index_build", "evaluation"},
    "search": set(),
    "index_build": {"search"},
    "evaluation": {"search", "index_build"},
    "training": {"search", "index_build", "evaluation"},
}
ROOMS = {
    "types": set(),
    "errors": set(),
    "names": set(),
    "databases": set(),
    "references": {"types"},
    "settings": {"errors"},
    "downloads": {"types", "errors"},
    "text": {"types", "errors"},
    "encoder": {"types", "errors", "downloads"},
    "corpus": {"types", "errors", "databases", "text", "references"},
    "query": {"types", "errors", "text"},
    "ranking": {"types", "errors"},
    "library": {"types", "errors", "databases", "references"},
    "sqlite_files": {"errors"},
    "history": {"errors", "sqlite_files"},
    "exports": {"types", "errors", "names"},
    "engine": {"types", "errors", "settings", "text", "encoder", "corpus", "query", "ranking"},
    "topics": {"types", "text", "corpus", "ranking", "engine"},
    "printing": {"types", "ranking"},
    "hosts": set(),
    "logs": set(),
    "watch": {
        "types",
        "errors",
        "settings",
        "corpus",
        "query",
        "ranking",
        "sqlite_files",
        "history",
        "exports",
        "engine",
        "printing",
    },
    "api": {
        "watch",
        "types",
        "errors",
        "settings",
        "hosts",
        "logs",
        "corpus",
        "query",
        "history",
        "exports",
        "engine",
        "topics",
        "printing",
    },
    "agents": {
        "types",
        "errors",
        "settings",
        "hosts",
        "logs",
        "corpus",
        "query",
        "ranking",
        "exports",
        "engine",
        "api",
    },
    "record": {"types", "ranking", "corpus", "query"},
    "__main__": {"types", "errors", "settings", "corpus", "query", "exports", "engine", "printing", "record"},
    "__init__": {"types", "errors", "query", "exports", "engine"},
}
"""What each room of `search` may import of the others."""


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
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def top(module: str) -> str:
    return module.split(".")[0]


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "search").with_suffix("").parts[0]


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_one_way(package):
    wrong = {
        f"{path.relative_to(ROOT)} imports {module}"
        for path in modules(package)
        for module in imports(path)
        if top(module) in set(PACKAGES) - MAY_IMPORT[package] - {package}
    }
    assert wrong == set()


@pytest.mark.parametrize("package", ["search", "index_build", "evaluation", "training"])
def test_streamlit_stays_in_the_app(package):
    wrong = {
        path.relative_to(ROOT) for path in modules(package) if "streamlit" in set(map(top, imports(path)))
    }
    assert wrong == set()


def test_every_room_is_in_the_graph():
    assert {room_of(path) for path in modules("search")} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_what_the_graph_allows(room):
    wrong = set()
    for path in modules("search"):
        if room_of(path) == room:
            own = {module.split(".")[1] for module in imports(path) if module.startswith("search.")}
            wrong |= {f"{path.relative_to(ROOT)} imports {other}" for other in own - ROOMS[room] - {room}}
    assert {line for line in wrong if not line.endswith("__version__")} == set()


def test_the_graph_has_no_cycle():
    left = {room: set(needed) for room, needed in ROOMS.items()}
    while free := {room for room, needed in left.items() if not needed}:
        left = {room: needed - free for room, needed in left.items() if room not in free}
    assert left == {}


def test_the_graph_is_the_one_that_is_drawn():
    """docs/architecture.md has a line `room -> others` for every room."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = {
        room: set(others.replace(",", " ").split()) - {"nothing"}
        for room, others in re.findall(r"^(\w+) +-> +([\w, ]+?) *$", text, re.MULTILINE)
    }
    assert {room: drawn.get(room) for room in ROOMS} == ROOMS


def test_what_others_use_comes_from_the_top() -> None:
    """And reading it from there loads no engine before it is asked for."""
    code = (
        "import sys, search; early = 'search.engine' in sys.modules; "
        "from search import Engine, Query, Results, TriptychError; "
        "from search.engine import Engine as same; print(early, Engine is same)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False True"
