"""Layouts along the revisions: which busy pairs meet or part between which builds, and which steps came with that.

Owns the join of layouts with each other and with steps.  Why a layout changed is ``explain``'s to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sharing.history.busy import Busy, Layout, meet
from sharing.model.history import LayoutChange, Pair, PairPosition, Step

MAX_PAIRS = 200
MAX_ON_LINE = 64  # actors of one line that are paired

Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Together:
    """The busy pairs of one build that are on one line, and on one pair of lines; weights by names."""

    line: dict[Names, float]
    wide: dict[Names, float]


def together(layout: Layout) -> Together:
    """Pairs of hot actors of different variables, one of them written, that share a line."""
    return Together(_pairs(layout, layout.line_size), _pairs(layout, layout.pair_size))


def _pairs(layout: Layout, size: int) -> dict[Names, float]:
    if not layout.threaded:
        return {}
    lines: dict[int, list[Busy]] = {}
    for busy in layout.busy:
        if busy.hot:
            for line in sorted({at // size for start, end in busy.used for at in (start, end - 1)}):
                lines.setdefault(line, []).append(busy)
    out: dict[Names, float] = {}
    for found in lines.values():
        for i, one in enumerate(found[:MAX_ON_LINE]):
            for two in found[i + 1 : MAX_ON_LINE]:
                weight = max(min(one.written, two.weight), min(two.written, one.weight))
                if one.variable != two.variable and weight > 0:
                    names = (min(one.name, two.name), max(one.name, two.name))
                    out[names] = max(weight, out.get(names, 0.0))
    return out


@dataclass(frozen=True, slots=True)
class Moves:
    """Between two neighbouring builds (revision indexes): pairs that met and parted, the busiest first."""

    between: tuple[int, int]
    gained: tuple[Names, ...]
    lost: tuple[Names, ...]
    gained_wide: tuple[Names, ...]
    lost_wide: tuple[Names, ...]


def moves(layouts: Mapping[int, Layout]) -> list[Moves]:
    """Where the set of pairs changes along the revisions (by index); builds that are missing are passed over."""
    out = []
    order = sorted(layouts)
    before = together(layouts[order[0]]) if order else Together({}, {})
    for earlier, later in pairwise(order):
        after = before if layouts[later] is layouts[earlier] else together(layouts[later])
        made = Moves(
            (earlier, later),
            _new(after.line, before.line),
            _new(before.line, after.line),
            _new(_only(after.wide, after.line), before.wide),
            _new(_only(before.wide, before.line), after.wide),
        )
        if made.gained or made.lost or made.gained_wide or made.lost_wide:
            out.append(made)
        before = after
    return out


def _only(wide: dict[Names, float], line: dict[Names, float]) -> dict[Names, float]:
    return {names: weight for names, weight in wide.items() if names not in line}


def _new(here: Mapping[Names, float], there: Mapping[Names, float]) -> tuple[Names, ...]:
    found = sorted((names for names in here if names not in there), key=lambda n: (-here[n], n))
    return tuple(found[:MAX_PAIRS])


def pairs_along(layouts: Mapping[int, Layout], found: Sequence[Moves], most: int = 40) -> tuple[Pair, ...]:
    """For each pair that met or parted somewhere, where it is in each build that has both."""
    names = list(dict.fromkeys(n for m in found for n in (*m.gained, *m.lost)))
    names += [n for m in found for n in (*m.gained_wide, *m.lost_wide) if n not in names]
    by_name = {i: {b.name: b for b in layout.busy} for i, layout in layouts.items()}
    out = []
    for one, two in list(dict.fromkeys(names))[:most]:
        places = []
        for i in sorted(layouts):
            a, b = by_name[i].get(one), by_name[i].get(two)
            if a is None or b is None:
                continue
            size, wide = layouts[i].line_size, layouts[i].pair_size
            at, on = a.used[0][0], b.used[0][0]
            places.append(
                PairPosition(
                    i, f"{at:#x}", f"{on:#x}", at % size, on % size, meet((a,), (b,), size), meet((a,), (b,), wide)
                )
            )
        out.append(Pair(one, two, tuple(places)))
    return tuple(out)


def step_of(between: tuple[int, int], steps: Sequence[Step]) -> int:
    """The step that may have been made where the layout changed: their stretches overlap.  -1 none."""
    for number, step in enumerate(steps):
        if max(between[0], step.between[0]) < min(between[1], step.between[1]):
            return number
    return -1


def change_of(found: Moves, steps: Sequence[Step], cause: str, confidence: str, *, improves: bool) -> LayoutChange:
    """The change for the report."""
    gained, lost, gained_wide, lost_wide = (
        tuple(f"{one} / {two}" for one, two in names)
        for names in (found.gained, found.lost, found.gained_wide, found.lost_wide)
    )
    step = step_of(found.between, steps)
    return LayoutChange(found.between, gained, lost, gained_wide, lost_wide, cause, confidence, improves, step)
