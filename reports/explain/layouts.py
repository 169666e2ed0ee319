"""Two layouts above each other, as pictures: what moved in a section and why, and a pair on its lines.

Owns coordinates.  A page without scripts shows them as they are; with scripts a slider moves the pair from the old
place to the new one (``assets/explain.js``), for which its boxes have both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.explain.wording import moved_runs, number_of_runs, pairs_of, signed_hex
from reports.svg import FONT_WIDTH, drawing, element
from sharing.model.comparison import Cause, ChangeKind, Comparison, LineMates, ShiftRun, SymbolChange

WIDTH, LEFT, RIGHT = 760.0, 44.0, 12.0
ROW = 26.0  # of one layout
BELOW = 50.0  # of a layout, for the names of its pair and the addresses of the next one
SECTIONS_SHOWN = 4
RUNS_SHOWN = 120  # of a section
MARKED = 8  # causes of a section with a label
LINES_SHOWN = 4  # of a pair


@dataclass(frozen=True, slots=True)
class _Scale:
    """Addresses as places in a picture."""

    start: int
    end: int

    def x(self, address: int) -> float:
        share = (address - self.start) / max(self.end - self.start, 1)
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def box(self, start: int, end: int, y: float, style: str) -> Markup:
        return element(
            "rect", x=self.x(start), y=y, width=max(self.x(end) - self.x(start), 2.0), height=ROW, class_=style
        )


def section_pictures(comparison: Comparison) -> Iterator[tuple[str, Markup]]:
    """(section, picture) of the sections in which something moved, in the order of addresses."""
    by_section: dict[str, list[ShiftRun]] = {}
    for run in moved_runs(comparison):
        by_section.setdefault(run.section, []).append(run)
    for section, runs in list(by_section.items())[:SECTIONS_SHOWN]:
        changes = [c for c in comparison.changes if section in (c.old_section, c.new_section)]
        yield section, _section(section, runs[:RUNS_SHOWN], changes)


def _section(section: str, runs: Sequence[ShiftRun], changes: Iterable[SymbolChange]) -> Markup:
    places = [(run, int(run.start, 16), int(run.end, 16)) for run in runs]
    marks = list(_marks(changes))
    edges = [edge for run, start, end in places for edge in (start, end, start - run.shift, end - run.shift)]
    edges += [edge for _, start, end, _ in marks for edge in (start, end)]
    scale = _Scale(min(edges), max(edges))
    old, new = 18.0, 18.0 + 2 * ROW
    parts = [_row_name("old", old), _row_name("new", new)]
    for number, (run, start, end) in enumerate(places):
        style = f"run run{number % 2}"
        before, after = (start - run.shift, end - run.shift), (start, end)
        corners = [(scale.x(before[0]), old + ROW), (scale.x(before[1]), old + ROW)]
        corners += [(scale.x(after[1]), new), (scale.x(after[0]), new)]
        parts.append(element("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in corners), class_=f"{style} way"))
        title = element(
            "title", f"{run.first} .. {run.last}, {run.variables:,} variables, moved by {signed_hex(run.shift)}"
        )
        for (low, high), y in ((before, old), (after, new)):
            parts.append(element("g", title + scale.box(low, high, y, style)))
    bottom = new + ROW + 4
    for number, (is_new, start, end, text) in enumerate(marks[:MARKED]):
        parts.append(scale.box(start, end, new if is_new else old, "cause"))
        x = scale.x(start)
        y = bottom + 14 + 15 * number
        parts.append(element("line", x1=x, x2=x, y1=(new if is_new else old) + ROW, y2=y, class_="lead"))
        parts.append(_label(text, x, y + 4))
    height = bottom + 14 + 15 * min(len(marks), MARKED)
    return drawing(WIDTH, height, f"{section}: the old layout above the new one, and what moved", *parts)


def _marks(changes: Iterable[SymbolChange]) -> Iterator[tuple[bool, int, int, str]]:
    """(in the new build, start, end, text) of what came, went or grew."""
    for change in changes:
        grown = change.new_size - change.old_size
        if change.kind in (ChangeKind.ADDED, ChangeKind.RESIZED, ChangeKind.REALIGNED) and change.new_address:
            start = int(change.new_address, 16)
            yield True, start, start + change.new_size, f"{change.name} {change.kind.value}, {grown:+,} bytes"
        elif change.kind is ChangeKind.REMOVED and change.old_address:
            start = int(change.old_address, 16)
            yield False, start, start + change.old_size, f"{change.name} removed, {grown:+,} bytes"


def _row_name(text: str, y: float) -> Markup:
    return element("text", text, x=4, y=y + ROW / 2 + 4, class_="row")


def _label(text: str, x: float, y: float) -> Markup:
    """To the right of a place, or to its left where there is no room."""
    if x + 8 + len(text) * FONT_WIDTH > WIDTH:
        return element("text", text, x=x - 5, y=y, text_anchor="end")
    return element("text", text, x=x + 5, y=y)


def pair_pictures(comparison: Comparison, cause: Cause) -> Iterator[Markup]:
    """Of each pair that matters to the cause, where it is known how both moved."""
    for _, pairs in pairs_of(cause):
        yield from filter(None, (_pair(comparison, cause, mates) for mates in pairs))


def _pair(comparison: Comparison, cause: Cause, mates: LineMates) -> Markup | None:
    """The pair on its lines in both builds; None where nothing moved, where that is not known, or far away."""
    line = int(mates.line, 16)
    given = [line + mates.first_bytes[0], line + mates.second_bytes[0]]
    named = zip((mates.first, mates.second), given, strict=True)
    shifts = [shift for name, at in named if (shift := _shift(comparison, cause, name, at)) is not None]
    sizes = [end - start for start, end in (mates.first_bytes, mates.second_bytes)]
    if len(shifts) < len(given) or not any(shifts):
        return None
    back = cause.improves  # then the pair shared its line in the old build
    old = given if back else [at - shift for at, shift in zip(given, shifts, strict=True)]
    new = [at + shift for at, shift in zip(given, shifts, strict=True)] if back else given
    size = mates.line_size
    bases = [min(places) // size * size for places in (old, new)]
    lines = 1 + max(
        (at + extent - 1 - base) // size
        for places, base in ((old, bases[0]), (new, bases[1]))
        for at, extent in zip(places, sizes, strict=True)
    )
    if lines > LINES_SHOWN:
        return None
    scale = _Scale(0, lines * size)
    names = (mates.first, mates.second)
    parts = []
    for number, (text, base, places) in enumerate((("old", bases[0], old), ("new", bases[1], new))):
        y = 18.0 + number * (ROW + BELOW)
        parts += [_row_name(text, y), *_lines(scale, base, size, lines, y)]
        for at, (place, extent) in enumerate(zip(places, sizes, strict=True)):
            title = element("title", f"{names[at]} at {place:#x}")
            parts.append(element("g", title + scale.box(place - base, place - base + extent, y, f"part{at}")))
            parts.append(_label(names[at], scale.x(place - base), y + ROW + 13 + 13 * at))
    y = 18.0 + 2 * (ROW + BELOW)
    parts.append(
        element("g", Markup("").join(_moving(scale, bases, (old, new), sizes, size, lines, y)), class_="moving")
    )
    label = f"{' and '.join(names)} on lines of {size} bytes, in the old build and below in the new one"
    return drawing(WIDTH, y + ROW + 6, label, *parts)


def _moving(
    scale: _Scale,
    bases: Sequence[int],
    places: tuple[Sequence[int], Sequence[int]],
    sizes: Sequence[int],
    size: int,
    lines: int,
    y: float,
) -> Iterator[Markup]:
    """The row of the slider: boxes with both of their places."""
    yield _row_name("slide", y)
    yield from _lines(scale, 0, size, lines, y, named=False)
    for number, extent in enumerate(sizes):
        old, new = (scale.x(row[number] - base) for row, base in zip(places, bases, strict=True))
        width = max(scale.x(extent) - LEFT, 2.0)
        yield element("rect", x=old, y=y, width=width, height=ROW, class_=f"part{number}", data_old=old, data_new=new)


def _lines(scale: _Scale, base: int, size: int, lines: int, y: float, *, named: bool = True) -> Iterator[Markup]:
    for at in range(lines):
        yield scale.box(at * size, (at + 1) * size, y, "line")
        if named:
            yield element("text", f"line {base + at * size:#x}", x=scale.x(at * size) + 2, y=y - 4, class_="address")


def _shift(comparison: Comparison, cause: Cause, name: str, address: int) -> int | None:
    """How far a variable, or that of a member, moved; None where that is not told.

    ``address`` is that of the build in which the pair shares its line: the old one, where that is no more so.
    """
    for moved in cause.moved:
        if name == moved.name or name.startswith((f"{moved.name}.", f"{moved.name}[", f"{moved.name}+")):
            return int(moved.shift, 16)
    runs = moved_runs(comparison)
    for run in runs:
        back = run.shift if cause.improves else 0
        if int(run.start, 16) - back <= address < int(run.end, 16) - back:
            return run.shift
    return 0 if len(runs) == number_of_runs(comparison) else None
