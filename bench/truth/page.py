"""The scores of all programs as docs/accuracy.md.

Owns the wording of the page.  Every figure and every name on it comes from the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from bench.truth.score import FIRST, MOST_USED, Score, Share
from bench.truth.store import Made
from sharing.counted.costs import BUSY_RATE, NEGLIGIBLE

NAMED = 6  # of each kind of miss
SEVERITIES = ("critical", "high", "medium", "low", "note")
HEAD = f"""# How far the estimates of the code can be trusted

Without a run, `linemate audit` estimates what is executed how often and on which threads. Here these estimates are held
against exact counts of real programs: callgrind counted each instruction of each thread under a load
(`bench/truth/programs.py`), and `testdata/truth` keeps what it counted. `.venv/bin/python -m bench.truth score` judges
the same files by their code alone, compares, and writes this page. All programs are Debian's, without symbols.

A line counts as shared when two threads use bytes of different things on it, one of them writes, both at least
{BUSY_RATE:.0f} times per million of their instructions, and it can cost {100 * NEGLIGIBLE:.1g} % of the run
([why](counts.md)). One load is one load: what another one would share is not in these figures.
Both sides know only what instructions name in static storage: what is reached through pointers in memory is in neither.
"""


def page(scores: Sequence[tuple[Made, Score]], left_out: Sequence[str]) -> str:
    """Tables of all programs, then the misses of each."""
    parts = [HEAD, *_heat(scores), *_findings(scores), *_reach(scores), "## Misses", ""]
    for made, score in scores:
        listed = [f"- {what}: {_some(names)}" for what, names in score.misses.items() if names]
        parts += [f"### {made.program}", "", *(listed or ["- none"]), ""]
    parts += ["## Counted", "", "| program | package | file | command |", "|---|---|---|---|"]
    parts += [
        f"| {m.program} | {m.package} {m.version} | `{m.path}` {m.build_id[:12]} | `{m.command}` |" for m, _ in scores
    ]
    if left_out:
        parts += ["", "Not compared:", "", *(f"- {reason}" for reason in left_out)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _heat(scores: Sequence[tuple[Made, Score]]) -> list[str]:
    rows = [
        "## Hot\n",
        f"Of the {MOST_USED} variables (members, ranges) that two threads used most, one of them writing, how many the",
        "code calls hot; of those that it calls hot, how many were used at all, and how many so by two threads; rank",
        "correlation of estimated weight and uses, of all that code names.",
        "",
        "| program | most used that are hot | hot that are used | hot that are shared | rank correlation |",
        "|---|---|---|---|---|",
    ]
    for made, s in scores:
        rows.append(
            f"| {made.program} | {_of(s.hot_of_most_used)} | {_of(s.used_of_hot)} | {_of(s.shared_of_hot)} | "
            f"{s.rank_correlation:.2f} |"
        )
    totals = [_sum(scores, name) for name in ("hot_of_most_used", "used_of_hot", "shared_of_hot")]
    mean = sum(s.rank_correlation for _, s in scores) / max(len(scores), 1)
    return [*rows, f"| **all** | {' | '.join(map(_of, totals))} | {mean:.2f} (mean) |", ""]


def _findings(scores: Sequence[tuple[Made, Score]]) -> list[str]:
    columns = ("first", *SEVERITIES)
    rows = [
        "## Findings\n",
        f"Of the findings that say that threads share a line, for how many that was so: of the first {FIRST} of a",
        "report, and by severity; and of the lines that were shared, how many have a finding of low or more.",
        "",
        f"| program | first {FIRST} | {' | '.join(SEVERITIES)} | shared lines found |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for made, s in scores:
        rows.append(f"| {made.program} | {' | '.join(_of(s.precision[c]) for c in columns)} | {_of(s.recall)} |")
    totals = [reduce(add, (s.precision[c] for _, s in scores), Share()) for c in columns]
    return [*rows, f"| **all** | {' | '.join(map(_of, totals))} | {_of(_sum(scores, 'recall'))} |", ""]


def _reach(scores: Sequence[tuple[Made, Score]]) -> list[str]:
    rows = [
        "## Threads\n",
        "Thread entries that the code names and a thread was in; threads that were in none of them (they begin in",
        "another file, or through a pointer); of the functions that ran on a thread, those that its entry reaches.",
        "",
        "| program | threads | without a known entry | entries seen | functions reached |",
        "|---|---|---|---|---|",
    ]
    for made, s in scores:
        rows.append(f"| {made.program} | {s.threads} | {s.unknown_threads} | {_of(s.entries)} | {_of(s.reached)} |")
    threads, unknown = sum(s.threads for _, s in scores), sum(s.unknown_threads for _, s in scores)
    return [
        *rows,
        f"| **all** | {threads} | {unknown} | {_of(_sum(scores, 'entries'))} | {_of(_sum(scores, 'reached'))} |",
        "",
    ]


def _sum(scores: Sequence[tuple[Made, Score]], name: str) -> Share:
    shares: list[Share] = [getattr(s, name) for _, s in scores]
    return reduce(add, shares, Share())


def _of(share: Share) -> str:
    return f"{share.part} of {share.whole}" if share.whole else "–"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"
