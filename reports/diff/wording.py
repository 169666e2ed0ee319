"""What the formats of a difference say in the same words.  Owns phrases, not markup."""

from __future__ import annotations

from collections.abc import Iterator

from sharing.model.plural import count
from sharing.model.reportdiff import Difference, FindingDifference, Judged, ReportDiff

MEANING = {
    Difference.NEW: "only in the new report",
    Difference.CHANGED: "in both, judged otherwise",
    Difference.GONE: "only in the old report",
    Difference.MOVED: "as before, on another line",
}


def headline(diff: ReportDiff) -> str:
    """``2 new, 1 changed, 0 gone, 3 moved; 12 as before``."""
    numbers = {kind: sum(row.kind is kind for row in diff.differences) for kind in Difference}
    if not diff.differences:
        return f"no difference: {count(diff.same, 'finding')} in both"
    return ", ".join(f"{number:,} {kind.value}" for kind, number in numbers.items()) + f"; {diff.same:,} as before"


def short_rows(diff: ReportDiff) -> Iterator[str]:
    """A line a finding: ``new  high  LOCK_open / unused_tables  false sharing, static, line 0x4600  [id]``."""
    for row in diff.differences:
        names = " / ".join(row.names)
        yield f"{row.kind.value:<7}  {severity(row):<6}  {names}  {detail(row)}  [{finding_id(row)}]"


def severity(row: FindingDifference) -> str:
    """``high``, or ``low -> high`` where it changed."""
    sides = [side.severity.value for side in (row.old, row.new) if side is not None]
    return " -> ".join(dict.fromkeys(sides))


def detail(row: FindingDifference) -> str:
    """What else changed: confidence, verdict, line."""
    if row.old is None or row.new is None:
        side = row.new or row.old
        return f"{side.verdict.value}, {side.confidence.value}, {_line(side)}" if side is not None else ""
    pairs = (
        (row.old.verdict.value, row.new.verdict.value),
        (row.old.confidence.value, row.new.confidence.value),
        (_line(row.old), _line(row.new)),
    )
    return ", ".join(old if old == new else f"{old} -> {new}" for old, new in pairs)


def finding_id(row: FindingDifference) -> str:
    """The id in the report that has it, the new one first."""
    side = row.new or row.old
    return side.id if side is not None else ""


def _line(side: Judged) -> str:
    return side.place or f"line {side.line}"
