"""The app without a browser, as tests drive it: open a page, press, read what is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from pages.ui.questions import QUESTIONS, READINGS
from pages.ui.sentences import follow
from search.types import Choice

ROOT = Path(__file__).parent.parent


def open_app(page: str = "", **parameters: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in parameters.items():
        app.query_params[name] = value
    app.run()
    return app.switch_page(f"pages/{page}.py").run() if page else app


def press(app: AppTest, label: str, place: int = 0) -> AppTest:
    if label in QUESTIONS:
        return tell(app, ask=label)
    if label in READINGS:
        return tell(app, paper=0, sentence=0, facet=str(READINGS[label].facet))
    named = (button for button in app.button if button.label.split(":gray[")[0] == label)
    return list(named)[place].click().run()


def text_of(app: AppTest) -> str:
    """All that a reader sees, without Streamlit's escapes."""
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.info, app.warning)
    shown = [element.value for kind in (*kinds, app.error, app.success) for element in kind]
    return "\n".join([*shown, *(element.value for element in app.html)]).replace("\\", "")


def tell(app: AppTest, **click: object) -> AppTest:
    """A click in the component of the sentences, as the browser would tell it."""
    here = app.session_state["visit"]
    here.draft = follow(here.draft, [{"number": here.draft.clicks + 1, **click}])
    return app.run()


def drawn(app: AppTest, component: str) -> list[dict[str, Any]]:
    """What each component of this name is told to draw."""
    all_drawn = [each.proto for each in app.get("bidi_component")]
    return [json.loads(proto.json) for proto in all_drawn if proto.component_name == component]


def lists(app: AppTest) -> list[dict[str, Any]]:
    """The result lists: one in the list and the plane, three in the triptych."""
    return drawn(app, "results")


def rows(app: AppTest) -> list[dict[str, Any]]:
    """The query's sentences, of all its papers."""
    return [row for data in drawn(app, "sentences") for paper in data["papers"] for row in paper["rows"]]


def results(app: AppTest) -> list[dict[str, Any]]:
    """The results of the first list."""
    return next((shown["results"] for shown in lists(app)), [])


def titles(app: AppTest) -> list[str]:
    """The titles of the results, in order."""
    return [result["title"] for result in results(app)]


def choices(app: AppTest) -> list[Choice]:
    return [Choice(row["choice"]) for row in rows(app)]


def link_of(app: AppTest) -> str:
    """The packed query in the link that carries everything."""
    return next(code.value.split("?q=")[1] for code in app.code if "?q=" in code.value)


def search_id(app: AppTest) -> str:
    """The id of the search in the address; empty on the start page."""
    given = app.query_params.get("s", "")
    return given if isinstance(given, str) else given[0]


def example(app: AppTest) -> AppTest:
    return press(app, "Try it")
