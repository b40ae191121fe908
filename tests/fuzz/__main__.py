"""`python -m tests.fuzz --count N --seed S`: damage files of every format and read them."""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.checks import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="files to damage and read")
    parser.add_argument("--first", type=int, default=0, help="number of the first file, to run in parts")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other files")
    options = parser.parse_args()
    started = time.monotonic()
    findings = run(options.count, options.seed, options.first)
    print(
        f"{findings.files} files, {findings.papers} papers, {findings.rejects} rejects, "
        f"{len(findings.faults)} faults in {time.monotonic() - started:.0f} s"
    )
    for fault in findings.faults:
        print(fault)
    return 1 if findings.faults else 0


if __name__ == "__main__":
    sys.exit(main())
