"""The difference of two reports for a terminal: a row a finding, under what became of it."""

from __future__ import annotations

from collections.abc import Iterator

from reports.diff.wording import MEANING, detail, finding_id, headline, severity
from reports.escape import visible
from reports.options import RenderOptions
from reports.styled import INDENT, MIN_WIDTH, Line, paint, wrapped
from reports.text import target_lines
from sharing.model.reportdiff import Difference, ReportDiff

_STYLE = {
    Difference.NEW: "bold red",
    Difference.CHANGED: "bold yellow",
    Difference.GONE: "green",
    Difference.MOVED: "dim",
}


def render(diff: ReportDiff, options: RenderOptions) -> str:
    """The difference as text of ``options.width`` columns, names uncut."""
    width = max(options.width, MIN_WIDTH)
    return paint(list(_lines(diff, width, options.summary)), color=options.color)


def _lines(diff: ReportDiff, width: int, summary: bool) -> Iterator[Line]:
    if summary:
        for targets in (diff.old, diff.new):
            for target in targets:
                yield from target_lines(target, width)
        for note in diff.notes:
            yield from wrapped(f"note: {visible(note)}", width, INDENT, hang=6, style="yellow")
    yield from wrapped(headline(diff), width, INDENT if summary else "", hang=2, style="bold")
    for kind in Difference:
        rows = [row for row in diff.differences if row.kind is kind]
        if not rows:
            continue
        yield []
        yield [(kind.value, _STYLE[kind]), (f": {MEANING[kind]}", "")]
        for row in rows:
            names = " / ".join(visible(name) for name in row.names)
            yield [(f"{INDENT}{severity(row)}", "bold"), (f"  {visible(row.rule)}: {names}", "")]
            yield from wrapped(f"{visible(detail(row))} [{visible(finding_id(row))}]", width, INDENT * 2, hang=2)
