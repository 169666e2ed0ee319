"""The part of docs/accuracy.md about findings that instructions cannot decide: records on the heap, and arrays.

Owns its wording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from bench.truth.corpus import Compared
from bench.truth.score import FIRST, Checked, Score, Share
from sharing.model.finding import Severity

SEVERITIES = tuple(severity.value for severity in reversed(Severity))
LISTED = 6  # members of each record that took a line from each other
Row = tuple[Compared, Score]
Test = Callable[[Checked], bool]
HEAD = """Findings that the section above leaves out, by what can be told of them: for how many it is possible that
they are true. One about members of a record on the heap is possible where lines of the source that use one of its
members ran on one thread, and those that use another one on a second, both often enough to matter; whether they did so
to one object is not counted. One about an array is possible where two threads used it. The others are wrong under this
load.
"""
SEEN = """**By their addresses.** The programs that are built here were built once more, with a call before each access
(gcc's `-fsanitize=thread`, and `bench/truth/native` in the place of its library), and run under the same
load: `bench.truth accesses`, kept in `testdata/truth/*.accesses.xz`. For each line it was counted how often a thread
used it after another one had written it, and whether it then used any byte that had been written. Where it did not,
separate lines would have spared the transfer. A finding is true where that happened to two of the members that it names
so often that it can cost 0.1 % of the run, and threads used both often enough to matter. Sizes, alignment and the
allocator are those of the normal build. An access takes much longer, calls of the system as long as ever, and
threads run on two processors: counted are accesses and who was between whose, not time. Libraries are not
seen, nor members that are atomics of C++: debug information says that a header of the library accesses them.
"""


def records(rows: Sequence[Row]) -> list[str]:
    """Of findings that counted instructions cannot tell to be true, what else is known."""
    told = [(name_of(one, s), s) for one, s in rows if any(not c.decided for c in s.checked)]
    out = ["## Records and arrays", "", HEAD, *_table(told, lambda c: c.possible)]
    seen = [(name_of(one, s), s) for one, s in rows if any(c.exact for c in s.checked) or s.members]
    if not seen:
        return out
    out += [SEEN, *_exact(seen)]
    for name, score in seen:
        out += _members(name, score) if score.variant == "source" else []  # once a program
    return out


def name_of(one: Compared, score: Score) -> str:
    return one.made.program if len(one.scores) == 1 else f"{one.made.program} ({score.variant})"


def _table(told: Sequence[tuple[str, Score]], holds: Test) -> list[str]:
    of = [(name, _shares(score, holds)) for name, score in told]
    out = [f"| program | {' | '.join(SEVERITIES)} |", "|---|---|---|---|---|---|"]
    out += [f"| {name} | {' | '.join(_of(shares[s]) for s in SEVERITIES)} |" for name, shares in of]
    totals = [reduce(add, (shares[s] for _, shares in of), Share()) for s in SEVERITIES]
    return [*out, f"| **all** | {' | '.join(map(_of, totals))} |", ""]


def _undecided(checked: Checked) -> bool:
    return not checked.decided


def _shares(score: Score, holds: Test, of: Test = _undecided) -> dict[str, Share]:
    shares = {severity: Share() for severity in SEVERITIES}
    for c in filter(of, score.checked):
        shares[c.finding.severity.value] += Share(int(holds(c)), 1)
    return shares


def _exact(seen: Sequence[tuple[str, Score]]) -> list[str]:
    """Findings that were confirmed, and records that threads took lines of from each other."""
    out = [
        f"| program | first {FIRST} | {' | '.join(SEVERITIES)} | records that shared and are found |",
        "|---|---|---|---|---|---|---|---|",
    ]
    sums: list[Share] = []
    for name, score in seen:
        shares = _shares(score, lambda c: c.confirmed, lambda c: c.exact)
        said = [c for c in score.checked if c.exact and c.finding.severity is not Severity.NOTE][:FIRST]
        found = Share(len(score.members_found), len({m.owner for m in score.members}))
        cells = [Share(sum(c.confirmed for c in said), len(said)), *(shares[s] for s in SEVERITIES), found]
        sums = [a + b for a, b in zip(sums, cells, strict=True)] if sums else cells
        out.append(f"| {name} | {' | '.join(map(_of, cells))} |")
    return [*out, f"| **all** | {' | '.join(map(_of, sums))} |", ""]


def _members(name: str, score: Score) -> list[str]:
    """What threads took from each other, and what is said of it."""
    out = []
    for m in score.members[:LISTED]:
        said = [c for c in score.checked if c.confirmed and c.owner == m.owner]
        best = max((c.finding for c in said), key=lambda f: f.severity.rank, default=None)
        what = f"{best.severity.value} {best.rule}" if best is not None else "no finding that is true"
        out.append(
            f"- {name}: `{m.used}` was used by a thread that had lost the line for `{m.wrote}`"
            f"{' of another element' if m.elements else ''}, {m.vain:,} times, "
            f"{100 * m.share:.2g} % of the run: {what}"
        )
    return [*out, ""] if out else []


def _of(share: Share) -> str:
    return f"{share.part} of {share.whole}" if share.whole else "–"
