"""``python -m bench.installed``: audit programs and libraries that Debian installed; time audits in turns."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.installed.judge import Audited, Timed, audit, read, time_in_turns
from bench.installed.page import page, row
from bench.places import REPOSITORY

PAGE = REPOSITORY / "docs" / "accuracy-installed.md"
KEPT = Path(__file__).parent / "outcomes.json"


class Kept(msgspec.Struct):
    """What the page is made of.  ``other`` says which tree took the second times."""

    audited: tuple[Audited, ...] = ()
    timed: tuple[Timed, ...] = ()
    other: str = ""


def main() -> int:
    """Print a row for each file; ``--page`` keeps what was measured and writes the page of the documentation."""
    parser = argparse.ArgumentParser(prog="python -m bench.installed", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("paths", nargs="*", metavar="PATH", help="of the list; all without one")
    parser.add_argument("--against", type=Path, metavar="TREE", help="time PATHs alone, in turns with another checkout")
    parser.add_argument("--as", dest="other", default="", metavar="WORDS", help="what the page calls that checkout")
    parser.add_argument("--rounds", type=int, default=5, help="of --against")
    parser.add_argument("--page", action="store_true", help=f"keep it, and write {PAGE.relative_to(REPOSITORY)}")
    options = parser.parse_args()
    kept = msgspec.json.decode(KEPT.read_bytes(), type=Kept) if KEPT.exists() else Kept()
    if options.against:
        kept.timed, kept.other = tuple(_timed(options.paths, options.against, options.rounds)), options.other
    else:
        fresh = {one.path: one for one in _audited(options.paths)}
        listed = [path for group in read() for path in group.paths]
        known = {one.path: one for one in kept.audited} | fresh
        kept.audited = tuple(known[path] for path in listed if path in known)
    if options.page:
        KEPT.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
        PAGE.write_text(page(kept.audited, kept.timed, kept.other), encoding="utf-8")
    return 0


def _audited(paths: list[str]) -> Iterator[Audited]:
    for group in read():
        for path in group.paths:
            if paths and path not in paths:
                continue
            if not Path(path).exists():
                print(f"{path}: is not installed", flush=True)
                continue
            one = audit(path, group.group)
            print(row(one), flush=True)
            yield one


def _timed(paths: list[str], other: Path, rounds: int) -> Iterator[Timed]:
    for path in paths:
        one = time_in_turns(path, other, rounds)
        print(f"{path}: {one.ratio:.2f} of the least, {one.ratio_of_medians:.2f} of the medians", flush=True)
        yield one


if __name__ == "__main__":
    sys.exit(main())
