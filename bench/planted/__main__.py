"""``python -m bench.planted [PROGRAM…]``: judge the planted programs in all kinds of builds, and say what is missed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.places import REPOSITORY
from bench.planted.build import KINDS
from bench.planted.judge import Judged, judge
from bench.planted.page import page
from bench.planted.truth import Program, read

PAGE = REPOSITORY / "docs" / "accuracy-planted.md"


def main() -> int:
    """Print a row for each program and build; with ``--page`` write the page of the documentation."""
    programs = read()
    parser = argparse.ArgumentParser(prog="python -m bench.planted", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*programs, []], metavar="PROGRAM", help="all without one")
    parser.add_argument("--kind", action="append", choices=KINDS, help="a kind of build; all without one")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(REPOSITORY)}; of all of them")
    options = parser.parse_args()
    if options.page and (options.names or options.kind):
        parser.error("--page is of all programs and builds")
    chosen = {name: program for name, program in programs.items() if not options.names or name in options.names}
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        rows = list(_judged(chosen, options.kind or KINDS, Path(folder)))
    found, wanted = sum(len(one.found) for one in rows), sum(len(one.wanted) for one in rows)
    print(f"{found} of {wanted} pairs found")
    if options.page:
        PAGE.write_text(page(programs, rows), encoding="utf-8")
    return 0


def _judged(programs: dict[str, Program], kinds: Iterable[str], folder: Path) -> Iterator[Judged]:
    for kind in kinds:
        for name, program in programs.items():
            one = judge(name, program, kind, folder)
            missed = [pair for pair in one.wanted if pair not in one.found]
            found = f"{len(one.found)} of {len(one.wanted)}"
            print(f"{name:10} {kind:9} {found}; missed: {' '.join(missed) or '-'}", flush=True)
            yield one


if __name__ == "__main__":
    sys.exit(main())
