"""``python -m bench.shapes [NAME…]``: judge programs of one way to share a line each, and twins that share none."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from bench.places import REPOSITORY
from bench.shapes.judge import KINDS, Judged, judge
from bench.shapes.page import page
from bench.shapes.truth import Shape, read

PAGE = REPOSITORY / "docs" / "accuracy-shapes.md"


def main() -> int:
    """Print a row for each program and build; with ``--page`` write the page of the documentation."""
    shapes = read()
    parser = argparse.ArgumentParser(prog="python -m bench.shapes", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*shapes, []], metavar="NAME", help="all without one")
    parser.add_argument("--kind", action="append", choices=KINDS, help="a kind of build; all without one")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(REPOSITORY)}; of all of them")
    options = parser.parse_args()
    if options.page and (options.names or options.kind):
        parser.error("--page is of all programs and builds")
    chosen = {name: shape for name, shape in shapes.items() if not options.names or name in options.names}
    with tempfile.TemporaryDirectory(prefix="shapes-") as folder:
        rows = list(_judged(chosen, options.kind or KINDS, Path(folder)))
    print("\n".join(_totals(chosen, rows)))
    if options.page:
        PAGE.write_text(page(shapes, rows), encoding="utf-8")
    return 0


def _judged(shapes: dict[str, Shape], kinds: Iterable[str], folder: Path) -> Iterator[Judged]:
    for kind in kinds:
        for name, shape in shapes.items():
            one = judge(name, shape, kind, folder)
            rules = ", ".join(f"{finding.severity} {finding.rule}" for finding in one.said)
            result = ("found" if one.found else "missed") if shape.kind == "positive" else "twin"
            print(f"{name:32} {kind:9} {result:6} {rules or '-'}", flush=True)
            yield one


def _totals(shapes: dict[str, Shape], rows: list[Judged]) -> Iterator[str]:
    for kind in dict.fromkeys(one.kind for one in rows):
        own = [one for one in rows if one.kind == kind]
        found = [one.found for one in own if shapes[one.name].kind == "positive"]
        said = [bool(one.said) for one in own if shapes[one.name].kind == "negative"]
        yield f"{kind}: {sum(found)} of {len(found)} shapes found, {sum(said)} of {len(said)} twins with a finding"


if __name__ == "__main__":
    sys.exit(main())
