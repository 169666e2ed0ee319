"""The history as one HTML page that needs nothing else; what it says, it says without scripts.

Owns what the template gets.  Jinja2 escapes every value; the charts alone come as markup, from ``chart``.
"""

from __future__ import annotations

from statistics import median

from reports.escape import visible
from reports.history.chart import chart
from reports.history.wording import (
    basis_text,
    bisection_lines,
    labels_text,
    layout_lines,
    remarks,
    step_lines,
    verdict,
)
from reports.htmltemplate import render_page
from reports.options import RenderOptions
from sharing.model.history import History

CHARTS = 24
ROWS = 500


def render(history: History, options: RenderOptions) -> str:
    """The page."""
    steps = [
        (
            step.slower,
            list(step_lines(history, step)),
            [list(layout_lines(history, c)) for c in history.layout_changes if c.step == number],
        )
        for number, step in enumerate(history.steps)
    ]
    suspected = list(step_lines(history, history.best, suspected=True)) if history.best is not None else []
    return render_page(
        "history.html.j2",
        ("look.css", "history.css"),
        ("base.js", "history.js"),
        {},
        verdict=verdict(history),
        slowdown=history.slowdown,
        source=visible(history.source),
        basis=basis_text(history) if history.series else "",
        steps=steps,
        suspected=suspected,
        alone=[list(layout_lines(history, c)) for c in history.layout_changes if c.step < 0],
        metric=visible(history.metric),
        charts=[(labels_text(p.labels), chart(history, p, ROWS)) for p in history.series[:CHARTS]],
        more_charts=max(0, len(history.series) - CHARTS),
        heads=[labels_text(p.labels) for p in history.series[:CHARTS]],
        rows=_rows(history),
        named=any(revision.subject or revision.author for revision in history.revisions),
        pairs=[
            (
                visible(pair.first),
                visible(pair.second),
                [
                    (
                        visible(history.revisions[p.revision].name),
                        p.first,
                        p.second,
                        p.first_offset,
                        p.second_offset,
                        p.line,
                        p.wide,
                    )
                    for p in pair.places
                ],
            )
            for pair in history.pairs
            if any(p.line for p in pair.places)
        ],
        notes=[*bisection_lines(history), *remarks(history)] if options.summary else [],
        version=options.version,
    )


def _rows(history: History) -> list[tuple[str, str, str, bool, list[str]]]:
    steps = {s.between[1] for s in history.steps}
    return [
        (
            visible(revision.name),
            visible(revision.subject),
            visible(revision.author),
            i in steps,
            [f"{median(p.values[i]):,.6g}" if p.values[i] else "" for p in history.series[:CHARTS]],
        )
        for i, revision in enumerate(history.revisions[:ROWS])
    ]
