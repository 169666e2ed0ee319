"""Records that grew, by code alone: members of them are on other lines than before, which ones nothing says.

Owns the words and the strength.  What is a record that grew is ``growth``'s; what debug information says of records is
``behind``'s.
"""

from __future__ import annotations

from sharing.basics.naming import readable_names
from sharing.explain import numbers
from sharing.explain.bodychanges import Bodies
from sharing.explain.causes.base import Builds, named_again
from sharing.explain.causes.run import MISSES
from sharing.explain.growth import Growth
from sharing.model.comparison import Cause, CauseKind
from sharing.model.finding import Confidence
from sharing.model.plural import count

MAX_RECORDS = 3
MAX_FUNCTIONS = 12


def grown(builds: Builds, bodies: Bodies) -> tuple[Cause, ...]:
    """The records that grew, those of most functions first.  Tables of functions nobody writes: they are no causes."""
    found = [(one, size) for one, size in zip(bodies.grown, bodies.sizes, strict=True) if not one.of_functions]
    return tuple(_cause(builds, one, size) for one, size in found[:MAX_RECORDS])


def _cause(builds: Builds, growth: Growth, size: tuple[int, int] | None) -> Cause:
    whole = growth.by % builds.line_size == 0
    names = _names(builds, growth)
    evidence = ["which record it is and which of its members meet on a line is not known without debug information"]
    if size is not None:
        evidence.append(f"its size was {size[0]:,} bytes, now {size[1]:,}, by numbers that grew alike")
    if whole:
        evidence.append(
            f"by whole lines of {builds.line_size} bytes: what moved keeps its place in its line, and only what stands "
            "around the place where it grew has other neighbours"
        )
    evidence.append(f"used by {', '.join(names)}")
    return Cause(
        kind=CauseKind.LAYOUT,
        confidence=Confidence.LAYOUT,
        strength=numbers.GREW_BY_LINES if whole else numbers.GREW,
        summary=f"offsets from {growth.mostly:#x} upwards {growth.verb} by {abs(growth.by):#x} in "
        f"{count(len(growth.functions), 'function')}: a record {growth.verb}, and members of it may meet on other "
        "lines than before",
        symbols=names,
        evidence=tuple(evidence),
        confirm=(f"{named_again(builds.old.image, builds.new.image)}: names the members that meet",),
        refute=(f"{builds.runs[1].counted(MISSES)}: no more misses than before",),
    )


def _names(builds: Builds, growth: Growth) -> tuple[str, ...]:
    matching = builds.functions
    rows = matching.pairs["new"][sorted(growth.functions)].tolist()
    assert builds.new.profiler is not None
    weight = builds.new.profiler.graph.frequency
    rows.sort(key=lambda row: (-weight[row], row))
    names = [matching.new.label(row) for row in rows[:MAX_FUNCTIONS]]
    shown = readable_names(names, builds.demangle)
    return tuple(dict.fromkeys(shown[name] for name in names))
