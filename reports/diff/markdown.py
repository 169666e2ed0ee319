"""The difference of two reports for a pull-request comment: one table, worst first."""

from __future__ import annotations

from reports.diff.wording import detail, finding_id, headline, severity
from reports.escape import shorten
from reports.markdown import NAME_WIDTH, code, prose, prose_with_code
from reports.options import RenderOptions
from sharing.model.reportdiff import ReportDiff

ROWS_SHOWN = 100  # forges refuse comments of more than 65,536 characters


def render(diff: ReportDiff, options: RenderOptions) -> str:
    """GitHub-flavoured Markdown; rows beyond ``ROWS_SHOWN`` are counted."""
    lines = [f"**linemate diff**: {prose(headline(diff))}", ""]
    if options.summary:
        lines += [f"> {prose_with_code(note)}" for note in diff.notes]
        lines += [""] * bool(diff.notes)
    shown = diff.differences[:ROWS_SHOWN]
    if shown:
        lines += ["| | severity | rule | variables | what | id |", "|---|---|---|---|---|---|"]
    for row in shown:
        names = " / ".join(code(shorten(name, NAME_WIDTH), in_table=True) for name in row.names)
        cells = (
            row.kind.value,
            severity(row),
            prose(row.rule),
            names,
            prose(detail(row)),
            code(finding_id(row), in_table=True),
        )
        lines.append(f"| {' | '.join(cells)} |")
    if len(diff.differences) > ROWS_SHOWN:
        lines += ["", f"{len(diff.differences) - ROWS_SHOWN:,} more: see another format."]
    return "\n".join(lines).rstrip("\n") + "\n"
