"""The series as a picture: one SVG for each condition, readable without scripts.

Owns coordinates.  A revision's column leads to its row of the table and says on a touch what it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import median

from markupsafe import Markup

from reports.history.wording import labels_text, revision_name
from reports.svg import drawing, element
from sharing.model.history import History, Points

WIDTH, HEIGHT = 760.0, 210.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 12.0, 30.0
TICKS = 5  # most of them on the axis of values
LABELS = 8  # names of revisions below the axis: more would run into each other
LABEL_CHARACTERS = 11
MOST_POINTS = 20_000  # repetitions that are drawn, beyond that medians alone

Scale = Callable[[float], float]


def chart(history: History, points: Points, rows: int) -> Markup:
    """Repetitions as dots, medians as a line, steps as upright lines; the first ``rows`` revisions are links."""
    known = [i for i, values in enumerate(points.values) if values]
    if not known:
        return Markup("")
    every = sum(len(v) for v in points.values) <= MOST_POINTS
    drawn = [v for i in known for v in (points.values[i] if every else (median(points.values[i]),))]
    low, high = min(drawn), max(drawn)
    margin = (high - low) * 0.08 or high * 0.05
    low, high = low - margin, high + margin
    count = max(len(points.values) - 1, 1)

    def x(at: float) -> float:
        return LEFT + at / count * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = list(_axis(history, low, high, x, y))
    for step in history.steps:
        style = {True: "slower", False: "faster", None: "changed"}[step.slower]
        at = x((step.between[0] + step.between[1]) / 2)
        parts.append(element("line", class_=style, x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM))
        parts.append(element("text", style, class_=style, x=at + 4, y=TOP + 10))
    line = " ".join(f"{x(i):.1f},{y(median(points.values[i])):.1f}" for i in known)
    parts.append(element("polyline", class_="median", points=line))
    if every:
        parts += [element("circle", cx=x(i), cy=y(v), r=2.5) for i in known for v in points.values[i]]
    wide = (WIDTH - LEFT - RIGHT) / count
    for i in known:
        if i < rows:
            title = element("title", f"{revision_name(history, i)}: {median(points.values[i]):,.6g}")
            column = element("rect", x=x(i) - wide / 2, y=TOP, width=wide, height=HEIGHT - TOP, class_="column")
            parts.append(element("a", title + column, href=f"#r{i}", tabindex="-1"))
    return drawing(WIDTH, HEIGHT, f"{history.metric} {labels_text(points.labels)} by revision", *parts, links=True)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers of [low, high], at most ``TICKS``: multiples of 1, 2 or 5 times a power of ten."""
    if not math.isfinite(high - low):
        return []
    power = 10.0 ** math.floor(math.log10((high - low) / TICKS))
    steps = [power * times for times in (1, 2, 5, 10)]
    multiples = [(step, range(math.ceil(low / step), math.floor(high / step) + 1)) for step in steps]
    return next([at * step for at in found] for step, found in multiples if len(found) <= TICKS)


def _value_text(value: float) -> str:
    """Short enough for the margin, whatever the unit of the metric."""
    return f"{value:,.10g}" if 1e-3 <= abs(value) < 1e7 or not value else f"{value:.4g}"


def _axis(history: History, low: float, high: float, x: Scale, y: Scale) -> Iterator[Markup]:
    for value in ticks(low, high):
        yield element("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y(value), y2=y(value))
        yield element("text", _value_text(value), x=LEFT - 6, y=y(value) + 4, text_anchor="end")
    stride = max(1, -(-len(history.revisions) // LABELS))
    last = len(history.revisions) - 1
    for i in range(0, len(history.revisions), stride):
        anchor = "end" if i == last else "middle"
        name = history.revisions[i].name
        name = name if len(name) <= LABEL_CHARACTERS else f"…{name[1 - LABEL_CHARACTERS :]}"
        yield element("text", name, x=x(i), y=HEIGHT - 8, text_anchor=anchor)
