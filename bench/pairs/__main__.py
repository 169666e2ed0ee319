"""``python -m bench.pairs [NAME…]``: explain pairs of builds of known difference, one row each."""

from __future__ import annotations

import argparse
import sys
import time

from bench.measure import Unavailable
from bench.pairs import planted, reliability
from bench.pairs.planted import Planted
from bench.pairs.projects import projects
from bench.pairs.score import Outcome, ask
from bench.pairs.table import pairs


def main() -> int:
    """Print a row for each pair; exit code 1 where one is not right."""
    known = projects()
    parser = argparse.ArgumentParser(prog="python -m bench.pairs", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a project, a pair, or PROJECT/PAIR; all without one")
    parser.add_argument(
        "--planted", action="store_true", help="programs that became slower, measured and sampled, and nothing else"
    )
    parser.add_argument("--page", action="store_true", help="write how often causes are right into docs/explain.md")
    options = parser.parse_args()
    if options.page and options.names:
        parser.error("--page needs all pairs")
    outcomes: list[Outcome] = []
    missing = 0
    began = time.monotonic()
    for project in () if options.planted else known.values():
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
    if options.planted or not options.names or options.page:
        regressions, without = _planted(options.names if options.planted else [])
        outcomes += [one.outcome for one in regressions]
        missing += without
        print(_summary(regressions), flush=True)
    right, false = sum(o.root for o in outcomes), sum(bool(o.false) for o in outcomes)
    print(
        f"{len(outcomes)} pairs: root right in {right}, something false claimed in {false}, {missing} left out "
        f"({time.monotonic() - began:.0f} s)"
    )
    print("\n".join(reliability.table(outcomes)[2:]))
    if options.page:
        reliability.write(outcomes)
    return int(right < len(outcomes) or false > 0)


def _planted(names: list[str]) -> tuple[list[Planted], int]:
    """Regressions and innocent moves with what came out of them, and how many could not be made."""
    out, missing = [], 0
    for program in planted.programs():
        for slow in (True, False) if not names or program.name in names else ():
            try:
                out.append(planted.ask(program, slow=slow))
            except Unavailable as error:
                missing += 1
                print(f"planted/{program.name}: left out: {error}", file=sys.stderr)
                continue
            print(f"{_row(out[-1].outcome)}\n      exit code {int(out[-1].fails)}"
                  f"{'' if out[-1].raised else ', NOT RAISED by the evidence'}", flush=True)  # fmt: skip
    return out, missing


def _summary(made: list[Planted]) -> str:
    slow = [one for one in made if one.outcome.truth.roots]
    innocent = [one for one in made if not one.outcome.truth.roots]
    accused, fails = sum(not one.outcome.root for one in innocent), sum(one.fails for one in innocent)
    return (
        f"planted: {sum(one.outcome.root for one in slow)} of {len(slow)} regressions with the right cause first, "
        f"{sum(one.raised for one in slow)} raised by the evidence; of {len(innocent)} innocent moves "
        f"{accused} accused, {fails} with exit code 1"
    )


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
