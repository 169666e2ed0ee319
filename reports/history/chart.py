"""The series as a picture: one SVG for each condition, drawn by hand and without scripts.

Owns coordinates only; every text in it is a number or was made visible and escaped before.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import median

from reports.escape import visible
from sharing.model.history import History, Points

WIDTH, HEIGHT = 720, 160
LEFT, RIGHT, TOP, BOTTOM = 70, 12, 10, 22
LABELS = 12  # names of revisions below the axis
MOST_POINTS = 20_000  # repetitions that are drawn, beyond that medians alone


def chart(history: History, points: Points) -> str:
    """Repetitions as dots, medians as a line, steps as upright lines."""
    known = [i for i, values in enumerate(points.values) if values]
    if not known:
        return ""
    every = sum(len(v) for v in points.values) <= MOST_POINTS
    drawn = [v for i in known for v in (points.values[i] if every else (median(points.values[i]),))]
    low, high = min(drawn), max(drawn)
    margin = (high - low) * 0.08 or high * 0.05
    low, high = low - margin, high + margin
    count = max(len(points.values) - 1, 1)

    def x(at: float) -> str:
        return f"{LEFT + at / count * (WIDTH - LEFT - RIGHT):.1f}"

    def y(value: float) -> str:
        return f"{TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM):.1f}"

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(_title(history, points))}">',
        *_axis(history, low, high, x, y),
    ]
    for step in history.steps:
        style = "slower" if step.slower else "faster"
        at = x((step.between[0] + step.between[1]) / 2)
        parts.append(f'<line class="{style}" x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    line = " ".join(f"{x(i)},{y(median(points.values[i]))}" for i in known)
    parts.append(f'<polyline class="median" points="{line}"/>')
    if every:
        parts += [f'<circle cx="{x(i)}" cy="{y(v)}" r="2"/>' for i in known for v in points.values[i]]
    return "".join([*parts, "</svg>"])


def _title(history: History, points: Points) -> str:
    labels = ", ".join(f"{name} {text}" for name, text in points.labels)
    return visible(f"{history.metric} {labels}".strip())


def _axis(history: History, low: float, high: float, x: object, y: object) -> Sequence[str]:
    assert callable(x)
    assert callable(y)
    out = []
    for value in (low + (high - low) * share for share in (0.1, 0.5, 0.9)):
        at = y(value)
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>')
        out.append(f'<text x="{LEFT - 6}" y="{at}" dy="4" text-anchor="end">{value:,.4g}</text>')
    stride = max(1, -(-len(history.revisions) // LABELS))
    for i in range(0, len(history.revisions), stride):
        name = escape(visible(history.revisions[i].name)[-10:])
        out.append(f'<text x="{x(i)}" y="{HEIGHT - 6}" text-anchor="middle">{name}</text>')
    return out
