"""``python -m bench.pairs [NAME…]``: explain pairs of builds of known difference, one row each."""

from __future__ import annotations

import argparse
import sys
import time

from bench.measure import Unavailable
from bench.pairs import reliability
from bench.pairs.projects import projects
from bench.pairs.score import Outcome, ask
from bench.pairs.table import pairs


def main() -> int:
    """Print a row for each pair; exit code 1 where one is not right."""
    known = projects()
    parser = argparse.ArgumentParser(prog="python -m bench.pairs", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a project, a pair, or PROJECT/PAIR; all without one")
    parser.add_argument("--page", action="store_true", help="write how often causes are right into docs/explain.md")
    options = parser.parse_args()
    if options.page and options.names:
        parser.error("--page needs all pairs")
    outcomes, missing = [], 0
    began = time.monotonic()
    for project in known.values():
        for pair in pairs(project):
            names = {project.name, pair.name, f"{project.name}/{pair.name}"}
            if options.names and not names & set(options.names):
                continue
            try:
                outcome = ask(pair)
            except Unavailable as error:
                missing += 1
                print(f"{project.name}/{pair.name}: left out: {error}", file=sys.stderr)
                continue
            outcomes.append(outcome)
            print(_row(outcome), flush=True)
    right, false = sum(o.root for o in outcomes), sum(bool(o.false) for o in outcomes)
    print(
        f"{len(outcomes)} pairs: root right in {right}, something false claimed in {false}, {missing} left out "
        f"({time.monotonic() - began:.0f} s)"
    )
    print("\n".join(reliability.table(outcomes)[2:]))
    if options.page:
        reliability.write(outcomes)
    return int(right < len(outcomes) or false > 0)


def _row(outcome: Outcome) -> str:
    first = outcome.first
    cells = (
        f"{outcome.pair.project.name}/{outcome.pair.name}",
        "right" if outcome.root else "WRONG",
        ", ".join(f"{r.kind}{'+' if r.improves else ''}" for r in outcome.truth.roots) or "none",
        f"{first.kind}{'+' if first.improves else ''} {first.strength:.2f}",
    )
    text = f"{cells[0]:26} {cells[1]:5} {cells[2]:22} {cells[3]:16} {first.summary[:110]}"
    more = [outcome.wrong, *(f"false: {what}" for what in outcome.false)]
    return text + "".join(f"\n      {line}" for line in more if line)


if __name__ == "__main__":
    sys.exit(main())
