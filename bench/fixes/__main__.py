"""``python -m bench.fixes [NAME…] --clones FOLDER``: judge commits that repaired sharing, before and after."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.fixes.fixes import read
from bench.fixes.outcome import Outcome, Side, judge
from bench.fixes.page import page
from bench.fixes.store import KEPT, keep, kept
from bench.measure import Unavailable
from bench.places import REPOSITORY

PAGE = REPOSITORY / "docs" / "accuracy-fixes.md"


def main() -> int:
    """Print a row for each commit; with ``--page`` all of them as the page of the documentation."""
    parser = argparse.ArgumentParser(prog="python -m bench.fixes", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a commit's name in the table; all without one")
    parser.add_argument("--clones", type=Path, required=True, help="folder of clones, each OWNER+NAME or NAME")
    parser.add_argument("--work", type=Path, help="where trees are put; default: a temporary folder")
    parser.add_argument("--keep", action="store_true", help=f"keep what came out in {KEPT.relative_to(REPOSITORY)}")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(REPOSITORY)} of all that is kept")
    parser.add_argument("--nothing", action="store_true", help="judge none, only write the page")
    options = parser.parse_args()
    table = read()
    fixes = table.commits
    unknown = sorted(set(options.names) - {fix.name for fix in fixes})
    if unknown:
        parser.error(f"{', '.join(unknown)}: not in the table, which has {', '.join(fix.name for fix in fixes)}")
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="fixes-") as temporary:
        work = options.work or Path(temporary)
        for fix in fixes:
            if options.nothing or (options.names and fix.name not in options.names):
                continue
            try:
                outcome = judge(fix, table.recipes, options.clones, work)
            except Unavailable as error:
                print(f"{fix.name}: {error}", file=sys.stderr)
                continue
            outcomes.append(outcome)
            if options.keep:
                keep(outcome)
            print(f"{fix.name:24} before {_words(outcome.before)} | after {_words(outcome.after)}", flush=True)
    flagged = [one for one in outcomes if one.flagged]
    print(
        f"{len(flagged)} of {len(outcomes)} flagged before at medium or above, "
        f"{sum(one.clean for one in flagged)} of those clean after"
    )
    if options.page:
        known = kept()
        rows = [Outcome(fix, *known[fix.name]) for fix in fixes if fix.name in known]
        PAGE.write_text(page(rows, table.remarks), encoding="utf-8")
    return 0


def _words(side: Side) -> str:
    said = ", ".join(f"{severity} {rule}" for severity, rule, _ in side.about[:3]) or "-"
    partly = "" if side.parses else f"[not whole: {side.why}{side.why_not}] "
    return f"{partly}{said} (+{side.others}, {side.wall_s:.1f} s)"


if __name__ == "__main__":
    sys.exit(main())
