"""`python -m tests.formats`: the table of formats in docs/formats.md."""

from __future__ import annotations

from tests.formats.table import measure

print("| Format | Records | Read | Rejected | Fields right |\n|---|---|---|---|---|")
for row in measure():
    print(row)
