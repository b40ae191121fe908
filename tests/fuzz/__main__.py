"""`python -m tests.fuzz --count N --seed S` damages files of every format and reads them."""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz import long_lines
from tests.fuzz.checks import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="files to damage and read")
    parser.add_argument("--first", type=int, default=0, help="number of the first file, to run in parts")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other files")
    parser.add_argument("--long", action="store_true", help="time lines of up to 2 MB in BibTeX instead")
    options = parser.parse_args()
    if options.long:
        return _long_lines()
    started = time.monotonic()
    findings = run(options.count, options.seed, options.first)
    print(
        f"{findings.files} files, {findings.papers} papers, {findings.rejects} rejects, "
        f"{len(findings.faults)} faults in {time.monotonic() - started:.0f} s"
    )
    for fault in findings.faults:
        print(fault)
    return 1 if findings.faults else 0


def _long_lines() -> int:
    """A table of seconds a megabyte, printed row by row."""
    sizes = " | ".join(f"{size / 1e6:g} MB" for size in long_lines.SIZES)
    print(f"| Field | Filled with | {sizes} | Linear |\n|---|---|{'---|' * len(long_lines.SIZES)}---|")
    wrong = 0
    for row in long_lines.measure():
        print(row, flush=True)
        wrong += not row.is_linear
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
