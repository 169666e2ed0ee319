"""The comparison for a terminal: the answer on its first screen, then what it rests on, the two files last.

Owns the order and the columns of that page; wrapping and colours are those of the other text reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.escape import name_list, names_cut, sentence, shorten, visible
from reports.explain import wording
from reports.options import RenderOptions
from reports.styled import INDENT, MIN_WIDTH, NAME_WIDTH, Line, paint, wrapped
from reports.text import target_lines
from sharing.model.comparison import Cause, CauseKind, ChangeKind, Comparison, LineMates, SymbolChange
from sharing.model.linkage import is_table_of_class
from sharing.model.plural import count

# A terminal gets what explains the answer; the other formats hold the lists.
FUNCTIONS_SHOWN = 4
PAIRS_SHOWN = 4
MOVED_SHOWN = 4
EVIDENCE_SHOWN = 5
CHANGES_SHOWN = 8
RUNS_SHOWN = 6
TABLES = "virtual tables and type names"
CAUSES_AT_A_GLANCE = 5
RUNS_OF_NO_CAUSE = 3  # where nothing is likely
_STYLE = {
    CauseKind.LAYOUT: "bold red",
    CauseKind.DEPENDENCY: "bold yellow",
    CauseKind.TOOLCHAIN: "bold magenta",
    CauseKind.CODE: "bold cyan",
    CauseKind.CONTENTION: "bold blue",
    CauseKind.NONE: "bold",
}


def render(comparison: Comparison, options: RenderOptions) -> str:
    """The comparison as text; without ``options.summary`` the causes only."""
    width = max(options.width, MIN_WIDTH)
    unlikely = bool(wording.verdict(comparison))
    details = [] if unlikely else [_details(comparison, number, cause, width) for number, cause in _told(comparison)]
    if not options.summary:
        sections = [_causes(comparison, width), *details]
    else:
        sections = [
            _short(comparison, width) if unlikely else _verdict(comparison, width),
            *([_in_full(comparison, width), _names(comparison, width)] if unlikely else details),
            _ruled_out(comparison, width),
            _profile(comparison),
            _places(comparison),
            _measurements(comparison),
            _sensitivity(comparison, width),
            _changes(comparison),
            _runs(comparison, width, RUNS_OF_NO_CAUSE if unlikely else RUNS_SHOWN),
            _compared(comparison, width),
        ]
    lines: list[Line] = []
    for section in sections:
        rows = list(section)
        if rows:
            lines += [*([[]] if lines else []), *rows]
    return paint(lines, color=options.color)


def _short(comparison: Comparison, width: int) -> Iterator[Line]:
    """Where nothing is likely: that, each cause on a line, and what to do next.  It stands alone on a screen."""
    yield from _doubt(comparison, width)
    for text, _ in wording.verdict(comparison):
        yield from wrapped(visible(text), width, "", hang=2, style="bold")
    told = list(enumerate(comparison.causes, 1))
    shown = told if len(told) <= CAUSES_AT_A_GLANCE else told[: CAUSES_AT_A_GLANCE - 1]
    for number, cause in shown:
        text = f"{number}  {visible(sentence(wording.glance(cause)))}"
        yield [(text if len(text) <= width else f"{text[: width - 1].rstrip()}…", "")]
    yield from _more(len(told) - len(shown), "cause")
    yield from _kinds_ruled_out(comparison, width)
    for text, command in wording.following(comparison):
        yield from wrapped(f"{text}:" if command else visible(text), width, "", hang=2, style="bold")
        if command:  # on a line of its own, to be copied
            yield [(INDENT + visible(command), "")]


def _verdict(comparison: Comparison, width: int) -> Iterator[Line]:
    """The answer: every cause in a sentence, best first; before all, whether the two can be compared."""
    yield from _doubt(comparison, width)
    for text in wording.measured_first(comparison):
        yield from wrapped(visible(text), width, "", hang=2, style="bold")
    yield from _names(comparison, width)
    if note := wording.unmatched(comparison):
        yield from wrapped(visible(note), width, "", hang=2, style="yellow")
    yield from _causes(comparison, width)
    yield from _kinds_ruled_out(comparison, width)


def _doubt(comparison: Comparison, width: int) -> Iterator[Line]:
    if doubt := wording.doubt(comparison):
        yield from wrapped(visible(doubt), width, "", style="bold yellow")


def _names(comparison: Comparison, width: int) -> Iterator[Line]:
    for note in wording.names(comparison):
        yield from wrapped(visible(note), width, "", hang=2, style="yellow")


def _causes(comparison: Comparison, width: int) -> Iterator[Line]:
    for number, cause in enumerate(comparison.causes, 1):
        if cause.kind is CauseKind.NONE:
            yield [("NO CAUSE FOUND", _STYLE[cause.kind])]
        else:
            yield [(f"{number}  {cause.kind.value.upper()}", _STYLE[cause.kind]), (f"  {wording.title(cause)}", "")]
        yield from wrapped(visible(sentence(cause.summary)), width, INDENT)


def _kinds_ruled_out(comparison: Comparison, width: int) -> Iterator[Line]:
    better = {cause.kind for cause in comparison.causes if cause.improves}
    kinds = [r.kind.value + (" as a slowdown" if r.kind in better else "") for r in comparison.ruled_out]
    if kinds and comparison.causes[0].kind is not CauseKind.NONE:
        yield from wrapped(f"ruled out: {', '.join(kinds)}", width, "", hang=2)
    if comparison.causes[0].kind is not CauseKind.NONE:
        for ruled in comparison.not_ruled_out:
            yield from wrapped(f"not ruled out: {ruled.kind.value}, {visible(ruled.why)}", width, "", hang=2)
    if comparison.incomplete:
        yield from wrapped("incomplete: a part of the input failed, see the notes", width, "", style="bold yellow")


def _told(comparison: Comparison) -> Iterator[tuple[int, Cause]]:
    """The causes whose details are shown.  Where something may be slower, what got better is no news."""
    for number, cause in enumerate(comparison.causes, 1):
        if number == 1 or not cause.improves:
            yield number, cause


def _in_full(comparison: Comparison, width: int) -> Iterator[Line]:
    yield [("the causes in full; evidence, and how to confirm or refute each: -o FILE.html, .md or .json", "bold")]
    yield from _causes(comparison, width)


def _compared(comparison: Comparison, width: int) -> Iterator[Line]:
    for label, target in zip(("old", "new"), comparison.targets, strict=True):
        first, *rest = target_lines(target, width)
        yield [(f"{label}  ", "dim"), *first]
        yield from rest
    yield from wrapped(wording.matched(comparison), width, INDENT, hang=2)
    shown = wording.names(comparison)
    for note in (note for note in comparison.coverage.notes if note not in shown):
        yield from wrapped(f"note: {visible(note)}", width, INDENT, hang=6, style="yellow")


def _details(comparison: Comparison, number: int, cause: Cause, width: int) -> Iterator[Line]:
    """What a cause rests on: pairs, places, evidence, and the two commands."""
    sections = [
        [
            line
            for lead, pairs in wording.pairs_of(cause)
            for line in _pairs(lead, pairs, wording.pairs_in_all(comparison, cause), width)
        ],
        list(_moved(cause)),
        [
            line
            for name in names_cut(cause.summary)
            for line in wrapped(f"in full   {visible(name)}", width, INDENT, hang=10)
        ],
        list(_evidence(cause, width)),
        [
            line
            for lead, steps in (("confirm", cause.confirm), ("refute", cause.refute))
            for number, step in enumerate(steps)
            for line in wrapped(f"{'' if number else lead:<8}  {visible(step)}", width, INDENT, hang=10, style="green")
        ],
    ]
    rows = [row for section in sections if section for row in ([], *section)][1:]
    if rows and cause.kind is not CauseKind.NONE:
        yield [(f"{number}  {cause.kind.value}", "bold")]
    yield from rows


def _moved(cause: Cause) -> Iterator[Line]:
    far = [moved for moved in cause.moved if moved.old != moved.new]
    shown = far[:MOVED_SHOWN]
    column = max((len(shorten(visible(m.name), NAME_WIDTH)) for m in shown), default=0)
    for moved in shown:
        name = shorten(visible(moved.name), NAME_WIDTH)
        yield [(f"{INDENT}moved  {name:<{column}}  {moved.old} to {moved.new}, by {moved.shift}", "")]
    yield from _more(len(far) - len(shown), "moved variable")


def _evidence(cause: Cause, width: int) -> Iterator[Line]:
    # What only repeats the sentence above is none.
    texts = [text for text in cause.evidence if text not in cause.summary]
    for text in texts[:EVIDENCE_SHOWN]:
        yield from wrapped(f"evidence  {visible(text)}", width, INDENT, hang=10)
    yield from _more(len(texts) - EVIDENCE_SHOWN, "piece", "pieces")


def _pairs(lead: str, pairs: Sequence[LineMates], total: int, width: int) -> Iterator[Line]:
    """The pairs that a rule objects to; others only where there is none of these."""
    told = [mates for mates in pairs if mates.finding] or list(pairs)
    for mates in told[:PAIRS_SHOWN]:
        yield from wrapped(f"{lead}: {visible(wording.pair(mates))}", width, INDENT, hang=len(lead) + 2)
        if mates.functions:
            functions = name_list(mates.functions, FUNCTIONS_SHOWN, NAME_WIDTH, mates.users)
            yield from wrapped(f"used by the functions {functions}", width, INDENT + " " * (len(lead) + 2))
    if more := len(pairs) - min(len(told), PAIRS_SHOWN):
        yield [(f"{INDENT}{wording.shown_pairs(more, len(pairs), total)}", "dim")]


def _more(number: int, noun: str, plural: str | None = None) -> Iterator[Line]:
    if number > 0:
        yield [(f"{INDENT}and {number:,} more {noun if number == 1 else plural or noun + 's'}", "dim")]


def _ruled_out(comparison: Comparison, width: int) -> Iterator[Line]:
    if comparison.ruled_out:
        yield [("ruled out, because", "bold")]
    for ruled in comparison.ruled_out:
        yield from wrapped(f"{ruled.kind.value}: {visible(ruled.why)}", width, INDENT, hang=2)


def _profile(comparison: Comparison) -> Iterator[Line]:
    rows = [
        (shorten(visible(f.function), NAME_WIDTH), visible(f.event), wording.share(f), f.kind)
        for f in comparison.profile[: wording.MEASURED_SHOWN]
    ]
    total = len(comparison.profile)
    return _table("functions whose share of samples changed by more than chance", rows, total, "function")


def _places(comparison: Comparison) -> Iterator[Line]:
    rows = [
        (shorten(visible(p.name), NAME_WIDTH), visible(p.event), wording.share(p), p.line)
        for p in comparison.places[: wording.MEASURED_SHOWN]
    ]
    total = len(comparison.places)
    return _table("variables and lines whose share of samples changed by more than chance", rows, total, "variable")


def _measurements(comparison: Comparison) -> Iterator[Line]:
    rows = [
        (visible(wording.conditions(m)), wording.measured(m)) for m in comparison.measurements[: wording.MEASURED_SHOWN]
    ]
    return _table("measured", rows, len(comparison.measurements), "measurement")


def _sensitivity(comparison: Comparison, width: int) -> Iterator[Line]:
    if comparison.sensitivity:
        yield [("what an insertion elsewhere would do to the busiest pairs of the new build", "bold")]
    for item in comparison.sensitivity:
        names = " and ".join(shorten(visible(name), NAME_WIDTH) for name in (item.first, item.second))
        yield from wrapped(f"{names}: {wording.sensitive(item)}", width, INDENT, hang=4)


def _changes(comparison: Comparison) -> Iterator[Line]:
    """The busiest; of several that went from one section to another the first stands for all, listed or not.

    So does one of the tables of classes.
    """
    groups: dict[tuple[str, str] | int, list[SymbolChange]] = {}
    tables = [one for one in comparison.changes if is_table_of_class(one.name)]
    for one in comparison.changes:
        if is_table_of_class(one.name):
            continue
        moved = one.kind is ChangeKind.MOVED
        groups.setdefault((one.old_section, one.new_section) if moved else id(one), []).append(one)
    went: dict[tuple[str, str] | int, int] = {
        (one.old_section, one.new_section): one.variables for one in comparison.section_moves
    }
    shown = [(group[0], max(went.get(key, 0), len(group)) - 1) for key, group in groups.items()][:CHANGES_SHOWN]
    rows = [
        (
            first.kind.value,
            shorten(visible(first.name), NAME_WIDTH) + (f" and {others:,} more" if others else ""),
            visible(f"{first.old_section} to {first.new_section}" if others else wording.change(first)),
            visible(first.source),
        )
        for first, others in shown
    ]
    counts = comparison.coverage.counts
    total = counts.get("changes", 0) - sum(others for _, others in shown)
    if number := max(counts.get("changes_of_class_tables", 0), len(tables)):
        rows.append(
            ("of classes", f"{count(number, 'virtual table or type name', TABLES)}", "made by the compiler", "")
        )
        total -= number - 1
    return _table("variables that changed", rows, total, "change")


def _runs(comparison: Comparison, width: int, most: int) -> Iterator[Line]:
    """The runs of most variables, in order of their addresses."""
    runs = wording.moved_runs(comparison)
    largest = sorted(range(len(runs)), key=lambda at: (runs[at].section.startswith(".rodata"), -runs[at].variables))
    shown = [runs[at] for at in sorted(largest[:most])]
    if shown:
        yield [("ranges that moved by the same distance, and what each begins with", "bold")]
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


def _table(heading: str, rows: Sequence[tuple[str, ...]], total: int, noun: str) -> Iterator[Line]:
    """Rows in columns, then how many of ``total`` are not shown."""
    if not rows:
        return
    yield [(heading, "bold")]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield [(INDENT + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip(), "")]
    yield from _more(total - len(rows), noun)
