"""The app without a browser, as tests drive it: open a page, press, read what is shown."""

from __future__ import annotations

from pathlib import Path

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


def titles(app: AppTest) -> list[str]:
    """The titles of the result cards, in order."""
    cards = [element.value for element in app.html if element.value.startswith('<article class="card"><h3>')]
    return [card.split("</h3>")[0].split(">")[-2].removesuffix("</a") for card in cards]


def choices(app: AppTest) -> list[Choice]:
    return [control.value for control in app.segmented_control if control.key.startswith("choice-")]


def link_of(app: AppTest) -> str:
    link = app.query_params["q"]
    return link if isinstance(link, str) else link[0]


def example(app: AppTest) -> AppTest:
    return press(app, "Try it")
