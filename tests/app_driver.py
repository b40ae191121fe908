"""The app without a browser, as tests drive it: open a page, press, read what is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from search.types import Choice

ROOT = Path(__file__).parent.parent


def open_app(page: str = "", **parameters: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in parameters.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page(f"pages/{page}.py").run() if page else app


def press(app: AppTest, label: str, place: int = 0) -> AppTest:
    return [button for button in app.button if button.label == label][place].click().run()


def text_of(app: AppTest) -> str:
    """All that a reader sees, without Streamlit's escapes."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.info, app.warning)
    shown = [element.value for kind in (*kinds, app.error, app.success) for element in kind]
    return "\n".join([*shown, *(element.value for element in app.html)]).replace("\\", "")


def lists(app: AppTest) -> list[dict[str, Any]]:
    """What each result list is told to draw, one in the list and the plane, three in the triptych."""
    drawn = [each.proto for each in app.get("bidi_component") if each.proto.component_name == "results"]
    return [json.loads(proto.json) for proto in drawn]


def results(app: AppTest) -> list[dict[str, Any]]:
    """The results of the first list."""
    return next((shown["results"] for shown in lists(app)), [])


def titles(app: AppTest) -> list[str]:
    """The titles of the results, in order."""
    return [result["title"] for result in results(app)]


def choices(app: AppTest) -> list[Choice]:
    return [control.value for control in app.segmented_control if control.key.startswith("choice-")]


def link_of(app: AppTest) -> str:
    """The packed query in the link that carries everything."""
    return next(code.value.split("?q=")[1] for code in app.code if "?q=" in code.value)


def search_id(app: AppTest) -> str:
    """The id of the search in the address; empty on the start page."""
    given = app.query_params.get("s", "")
    return given if isinstance(given, str) else given[0]


def example(app: AppTest) -> AppTest:
    return press(app, "Try it")
