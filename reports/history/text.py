"""The history for a terminal: the verdict, the steps with what came with them, then the series.

Owns the layout in columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from reports.escape import shorten, visible
from reports.history.wording import (
    basis_text,
    bisection_lines,
    labels_text,
    layout_lines,
    percent,
    remarks,
    step_lines,
    verdict,
)
from reports.options import RenderOptions
from reports.styled import INDENT, MIN_WIDTH, Line, paint, wrapped
from sharing.model.history import History, Pair
from sharing.model.plural import count

SHOWN = 60  # rows of a table
CELLS = 8
BARS = "▁▂▃▄▅▆▇█"
SUBJECT = 40
NAME = 60
HEAD = 14  # a longer name of a condition stands above the table
FEW = 6  # revisions that are columns, where there are several conditions
PAIRS = 4  # shown place by place; the JSON document has all


_COLOURS = {True: "red", False: "green", None: "yellow"}


def render(history: History, options: RenderOptions) -> str:
    """The history as text."""
    width = max(options.width, MIN_WIDTH)
    lines = list(wrapped(verdict(history), width, "", style="bold red" if history.slowdown else "bold"))
    if history.bisection is not None and options.summary:
        for text in bisection_lines(history):
            lines += wrapped(text, width, INDENT, hang=2, style="dim")
    if options.summary and history.series:
        lines += wrapped(basis_text(history), width, INDENT, hang=2, style="dim")
    for number, step in enumerate(history.steps):
        lines += _block(step_lines(history, step), width, _COLOURS[step.slower])
        for change in history.layout_changes:
            if change.step == number:
                lines += _block(layout_lines(history, change), width, "", gap=False)
    if history.best is not None:
        lines += _block(step_lines(history, history.best, suspected=True), width, "yellow")
    alone = [c for c in history.layout_changes if c.step < 0]
    if alone:
        shown = " at which no step is shown" if history.metric else ""
        lines += [[], [(f"changes of layout{shown}", "bold")]]
        for change in alone:
            lines += _block(layout_lines(history, change), width, "", gap=False)
    if options.summary:
        if history.series:
            lines += [[], *_series(history)]
        for pair in [p for p in history.pairs if any(place.line for place in p.places)][:PAIRS]:
            lines += [[], *_pair(history, pair)]
        said = list(remarks(history))
        if said:
            lines.append([])
        for remark in said:
            lines += wrapped(f"note: {remark}", width, INDENT, hang=6, style="yellow")
    return paint(lines, color=options.color)


def _block(texts: Iterator[str], width: int, style: str, *, gap: bool = True) -> Iterator[Line]:
    if gap:
        yield []
    for number, text in enumerate(texts):
        yield from wrapped(text, width, INDENT if number == 0 else INDENT * 2, hang=2, style="" if number else style)


def _series(history: History) -> Iterator[Line]:
    """Medians by revision and condition, the level of all conditions as a bar."""
    measured = [i for i in range(len(history.revisions)) if any(c.values[i] for c in history.series)]
    if len(history.series) > len(measured) <= FEW and measured:
        yield from _by_condition(history, measured)
        return
    cells = history.series[:CELLS]
    names = [labels_text(c.labels) for c in cells]
    if max(map(len, names)) > HEAD:
        for number, name in enumerate(names, 1):
            yield [(f"{INDENT}[{number}] {name}", "dim")]
        names = [f"[{number}]" for number in range(1, len(names) + 1)]
    heads = ["revision", *names, ""]
    rows: list[list[str]] = []
    level = levels(history)
    low, high = min((v for v in level if v is not None), default=0), max((v for v in level if v is not None), default=0)
    steps = {s.between[1] for s in history.steps}
    failed = {i for i, r in enumerate(history.revisions) if r.left_out}
    shown = [i for i in range(len(history.revisions)) if level[i] is not None or i in failed]
    for i in shown[:SHOWN]:
        values = [f"{median(c.values[i]):,.6g}" if c.values[i] else "-" for c in cells]
        here = level[i]
        bar = "" if here is None or high <= low else BARS[round((here - low) / (high - low) * (len(BARS) - 1))]
        mark = " ← step" if i in steps else ""
        if i in failed:
            mark = " (left out)"
        rows.append([visible(history.revisions[i].name), *values, f"{bar}{mark}"])
    yield from table([heads, *rows])
    if len(shown) > SHOWN:
        yield [(f"{INDENT}... {count(len(shown) - SHOWN, 'more revision')}", "dim")]
    if len(history.series) > CELLS:
        yield [(f"{INDENT}... {count(len(history.series) - CELLS, 'more condition')}", "dim")]


def _by_condition(history: History, measured: Sequence[int]) -> Iterator[Line]:
    """Few revisions of many conditions: a row for each condition, the change to the last one at the end."""
    rows = [["", *(visible(history.revisions[i].name) for i in measured), "first to last"]]
    for points in history.series[:SHOWN]:
        values = [median(points.values[i]) if points.values[i] else None for i in measured]
        change = percent(values[-1] / values[0] - 1) if values[0] and values[-1] else ""
        shown = [f"{v:,.6g}" if v is not None else "-" for v in values]
        rows.append([shorten(labels_text(points.labels), NAME), *shown, f"{change:>13}"])
    yield from table(rows, NAME)
    if len(history.series) > SHOWN:
        yield [(f"{INDENT}... {count(len(history.series) - SHOWN, 'more condition')}", "dim")]


def levels(history: History) -> list[float | None]:
    """For each measured revision the mean over all conditions of the logarithmic distance to the condition's median.

    A condition that was not measured there is as it was last: else the others would look like a step.
    """
    out: list[list[float]] = [[] for _ in history.revisions]
    measured = [any(points.values[i] for points in history.series) for i in range(len(history.revisions))]
    for points in history.series:
        middles = [math.log(middle) if v and (middle := median(v)) > 0 else None for v in points.values]
        known = [m for m in middles if m is not None]
        last = known[0] if known else 0.0
        for i, value in enumerate(middles):
            last = last if value is None else value
            if known and measured[i]:
                out[i].append(last - median(known))
    return [sum(found) / len(found) if found else None for found in out]


def _pair(history: History, pair: Pair) -> Iterator[Line]:
    yield [(f"{visible(pair.first)} and {visible(pair.second)}", "bold")]
    rows = [["revision", "first", "second", "in line", "64", "128"]]
    before: tuple[object, ...] = ()
    for place in pair.places:
        now = (place.first, place.second, place.line, place.wide)
        if now == before:
            continue  # where nothing moved there is nothing to say
        before = now
        rows.append(
            [
                visible(history.revisions[place.revision].name),
                place.first,
                place.second,
                f"{place.first_offset}, {place.second_offset}",
                "together" if place.line else "apart",
                "together" if place.wide else "apart",
            ]
        )
    yield from table(rows)


def table(rows: Sequence[Sequence[str]], most: int = SUBJECT) -> Iterator[Line]:
    """Rows under a header, the first column to the left, all others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for number, row in enumerate(rows):
        first = f"{shorten(row[0], most):<{min(widths[0], most)}}"
        rest = [f"{text:>{widths[at + 1]}}" for at, text in enumerate(row[1:-1])]
        yield [(INDENT + "  ".join([first, *rest, row[-1]]).rstrip(), "" if number else "dim")]
