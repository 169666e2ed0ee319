"""The comparison for a terminal: the two files, causes best first, then what they rest on.

Owns the order and the columns of that page; wrapping and colours are those of the other text reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.escape import count, name_list, shorten, visible
from reports.explain import wording
from reports.options import RenderOptions
from reports.text import INDENT, MIN_WIDTH, NAME_WIDTH, Line, paint, target_lines, wrapped
from sharing.model.comparison import Cause, CauseKind, Comparison, LineMates

FUNCTIONS_SHOWN = 4
_STYLE = {
    CauseKind.LAYOUT: "bold red",
    CauseKind.DEPENDENCY: "bold yellow",
    CauseKind.TOOLCHAIN: "bold magenta",
    CauseKind.CODE: "bold cyan",
    CauseKind.NONE: "bold",
}


def render(comparison: Comparison, options: RenderOptions) -> str:
    """The comparison as text; without ``options.summary`` the causes only."""
    width = max(options.width, MIN_WIDTH)
    lines: list[Line] = []
    if options.summary:
        lines += _head(comparison, width)
    for number, cause in enumerate(comparison.causes, 1):
        lines += [*([[]] if lines else []), *_cause(number, cause, width)]
    if options.summary:
        for section in (
            _ruled_out(comparison, width),
            _profile(comparison),
            _measurements(comparison),
            _sensitivity(comparison, width),
            _changes(comparison),
            _runs(comparison, width),
        ):
            rows = list(section)
            if rows:
                lines += [[], *rows]
    return paint(lines, color=options.color)


def _head(comparison: Comparison, width: int) -> Iterator[Line]:
    for label, target in zip(("old", "new"), comparison.targets, strict=True):
        first, *rest = target_lines(target, width)
        yield [(f"{label}  ", "dim"), *first]
        yield from rest
    yield from wrapped(wording.matched(comparison), width, INDENT, hang=2)
    for note in comparison.coverage.notes:
        yield from wrapped(f"note: {visible(note)}", width, INDENT, hang=6, style="yellow")
    if comparison.incomplete:
        yield from wrapped("incomplete: a part of the input failed, see above", width, INDENT, style="bold yellow")


def _cause(number: int, cause: Cause, width: int) -> Iterator[Line]:
    yield [(f"{number}  {cause.kind.value.upper()}", _STYLE[cause.kind]), (f"  {wording.title(cause)}", "")]
    yield from wrapped(visible(cause.summary), width, INDENT)
    for lead, pairs in wording.pairs_of(cause):
        yield []
        yield from _pairs(lead, pairs, width)
    if cause.moved:
        yield []
        shown = cause.moved[: wording.MOVED_SHOWN]
        column = max(len(shorten(visible(m.name), NAME_WIDTH)) for m in shown)
        for moved in shown:
            name = shorten(visible(moved.name), NAME_WIDTH)
            yield [(f"{INDENT}moved  {name:<{column}}  {moved.old} to {moved.new}, by {moved.shift}", "")]
        yield from _more(len(cause.moved) - len(shown), "moved variable")
    if cause.evidence:
        yield []
        for text in cause.evidence[: wording.EVIDENCE_SHOWN]:
            yield from wrapped(f"evidence  {visible(text)}", width, INDENT, hang=10)
        yield from _more(len(cause.evidence) - wording.EVIDENCE_SHOWN, "piece", "pieces")
    yield []
    for lead, text in (("confirm", cause.confirm), ("refute", cause.refute)):
        if text:
            yield from wrapped(f"{lead:<8}  {visible(text)}", width, INDENT, hang=10, style="green")


def _pairs(lead: str, pairs: Sequence[LineMates], width: int) -> Iterator[Line]:
    for mates in pairs[: wording.PAIRS_SHOWN]:
        yield from wrapped(f"{lead}: {visible(wording.pair(mates))}", width, INDENT, hang=len(lead) + 2)
        if mates.functions:
            functions = name_list(mates.functions, FUNCTIONS_SHOWN, NAME_WIDTH)
            yield from wrapped(f"touched by {functions}", width, INDENT + " " * (len(lead) + 2))
    yield from _more(len(pairs) - wording.PAIRS_SHOWN, "pair")


def _more(number: int, noun: str, plural: str | None = None) -> Iterator[Line]:
    if number > 0:
        yield [(f"{INDENT}and {number:,} more {noun if number == 1 else plural or noun + 's'}", "dim")]


def _ruled_out(comparison: Comparison, width: int) -> Iterator[Line]:
    for ruled in comparison.ruled_out:
        yield from wrapped(f"ruled out: {ruled.kind.value}: {visible(ruled.why)}", width, "", hang=2)


def _profile(comparison: Comparison) -> Iterator[Line]:
    rows = [
        (shorten(visible(f.function), NAME_WIDTH), visible(f.event), wording.share(f), f.kind)
        for f in comparison.profile[: wording.MEASURED_SHOWN]
    ]
    yield from _table("share of samples that changed by more than chance", rows)
    yield from _more(len(comparison.profile) - len(rows), "function")


def _measurements(comparison: Comparison) -> Iterator[Line]:
    rows = [
        (visible(wording.conditions(m)), wording.measured(m)) for m in comparison.measurements[: wording.MEASURED_SHOWN]
    ]
    yield from _table("measured", rows)
    yield from _more(len(comparison.measurements) - len(rows), "measurement")


def _sensitivity(comparison: Comparison, width: int) -> Iterator[Line]:
    if comparison.sensitivity:
        yield [("what an insertion elsewhere would do to the busiest pairs of the new build", "bold")]
    for item in comparison.sensitivity:
        names = " and ".join(shorten(visible(name), NAME_WIDTH) for name in (item.first, item.second))
        yield from wrapped(f"{names}: {wording.sensitive(item)}", width, INDENT, hang=4)


def _changes(comparison: Comparison) -> Iterator[Line]:
    shown = comparison.changes[: wording.CHANGES_SHOWN]
    rows = [
        (c.kind.value, shorten(visible(c.name), NAME_WIDTH), visible(wording.change(c)), visible(c.source))
        for c in shown
    ]
    yield from _table("variables that are not as they were", rows)
    yield from _more(comparison.coverage.counts.get("changes", 0) - len(shown), "change")


def _runs(comparison: Comparison, width: int) -> Iterator[Line]:
    shown = wording.moved_runs(comparison)[: wording.RUNS_SHOWN]
    if shown:
        yield [("runs of equal shift, and what each begins with", "bold")]
    for run in shown:
        name = shorten(visible(wording.run_name(run)), 2 * NAME_WIDTH)
        where = f"{visible(run.section)} {run.start}"
        yield from wrapped(
            f"{wording.signed_hex(run.shift):>8}  {where}  {count(run.variables, 'variable')}: {name}",
            width,
            INDENT,
            hang=10,
        )
        if run.contributions:
            text = visible(wording.contributions(run.contributions))
            yield from wrapped(f"by {wording.signed_hex(run.jump)} more: {text}", width, INDENT + " " * 10, hang=2)
    yield from _more(wording.number_of_runs(comparison) - len(shown), "run")


def _table(heading: str, rows: Sequence[tuple[str, ...]]) -> Iterator[Line]:
    if not rows:
        return
    yield [(heading, "bold")]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield [(INDENT + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip(), "")]
