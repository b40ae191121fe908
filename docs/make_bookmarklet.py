"""`python docs/make_bookmarklet.py`: the script as one line for a bookmark, into docs/bookmarklet.md."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

HERE = Path(__file__).parent


def one_line(script: str) -> str:
    lines = (line.strip() for line in script.splitlines() if not line.startswith("//"))
    return "javascript:" + quote(" ".join(lines), safe="(){}[]=>;:,.!?'*+-/_~|&@$")


def main() -> None:
    page = HERE / "bookmarklet.md"
    line = one_line((HERE / "bookmarklet.js").read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    written = re.sub(r"```\njavascript:.*\n```", lambda _: f"```\n{line}\n```", text)
    page.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
