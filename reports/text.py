"""The report for a terminal: what was analysed, then each finding with a picture of its line.

Owns the long form; the short one, a table and the worst few, is ``reports.brief``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports import brief
from reports import picture as pictures
from reports.escape import byte_ranges, name_list, shorten, visible, visible_block
from reports.locations import access_rows, finding_title, picture_title, relative
from reports.options import RenderOptions
from reports.order import worst_first
from reports.styled import (
    INDENT,
    MIN_WIDTH,
    NAME_WIDTH,
    SEVERITY_STYLE,
    Line,
    owner_styles,
    paint,
    picture_rows,
    wrapped,
)
from reports.wording import accesses, facts, tally, target_name, target_text, target_title, terms
from sharing.model import Finding, LinePicture, Participant, Remedy, Report, Severity, Target
from sharing.model.plural import count

NAMES_SHOWN = 3
ACCESSES_SHOWN = 6
TARGETS_SHOWN = 3  # of a short report
NOTES_SHOWN = 4  # of a short report
NAME_COLUMN = 28  # a longer name stands on a line of its own


def render(report: Report, options: RenderOptions) -> str:
    """The report as text; ``options.width`` columns except for pictures, names and edits, which are never cut."""
    report = relative(report, options.source_root)
    width = max(options.width, MIN_WIDTH)
    lines: list[Line] = []
    if options.summary:
        lines.extend(_summary(report, width, options))
    if not options.details:
        lines.extend([[]] * bool(lines and report.findings))
        lines.extend(brief.findings(report, options, width))
        return paint(lines, color=options.color)
    for finding in worst_first(report.findings):
        if lines:
            lines.append([])
        lines.extend(_finding(finding, width))
    return paint(lines, color=options.color)


def _summary(report: Report, width: int, options: RenderOptions) -> Iterator[Line]:
    shown = report.targets if options.details else _worst_targets(report)
    for target in shown:
        yield from target_lines(target, width)
    if more := len(report.targets) - len(shown):
        yield [(f"and {count(more, 'more file or member', 'more files or members')}", "bold")]
    counts = facts(report)
    if counts:
        yield from wrapped(f"analysed: {visible(counts)}", width, INDENT, hang=10)
    for note in report.coverage.notes[: None if options.details else NOTES_SHOWN]:
        yield from wrapped(f"note: {visible(note)}", width, INDENT, hang=6, style="yellow")
    if not options.details and (more := len(report.coverage.notes) - NOTES_SHOWN) > 0:
        yield [(f"{INDENT}and {count(more, 'more note')}: --details", "yellow")]
    if report.incomplete:
        yield from wrapped("incomplete: not all could be analysed, see above", width, INDENT, style="bold yellow")
    lines = 0 if options.details else len(brief.rows_of(report.findings))
    yield from wrapped(visible(tally(report, lines)) + _passed(report, options), width, INDENT, hang=2, style="bold")
    told = report.findings if options.details else brief.with_blocks(report, options)
    if any(finding.picture for finding in told):
        key = "pictures: a character a byte, a letter an owner; UPPER CASE is hot, '.' padding, '-' hole, '?' unknown"
        yield from wrapped(key, width, INDENT, style="dim")


def _passed(report: Report, options: RenderOptions) -> str:
    """Why a run that found something does not fail."""
    limit = options.fail_on
    if not report.findings or limit is None or any(found.severity.rank >= limit.rank for found in report.findings):
        return ""
    # Who looks for the reason of a slowdown has two builds, and this command has seen one.
    builds = report.command == "audit" and len(report.targets) == 1
    slower = "; linemate explain OLD NEW says why one build is slower than another" if builds else ""
    least = limit.value if limit is Severity.CRITICAL else f"{limit.value} or worse"
    return f"; none is {least}, so that --fail-on passes{slower}"


def target_lines(target: Target, width: int) -> Iterator[Line]:
    """What was analysed: the file, and below it what kind of file that is."""
    yield [(visible(target_title(target)), "bold")]
    yield from wrapped(visible(target_text(target)), width, INDENT)


def _worst_targets(report: Report) -> list[Target]:
    """A few of many files: those with the worst findings, then the first by name."""
    worst = {finding.target: rank for rank, finding in reversed(list(enumerate(worst_first(report.findings))))}
    return sorted(report.targets, key=lambda target: worst.get(target_name(target), len(worst)))[:TARGETS_SHOWN]


def _finding(finding: Finding, width: int) -> Iterator[Line]:
    severity = finding.severity.value
    yield [
        (severity.upper(), SEVERITY_STYLE[severity]),
        (f"  {visible(finding.rule)}", "bold"),
        (f"  {finding.verdict.value}, {finding.confidence.value}", ""),
        (f"  [{visible(finding.id)}]", "dim"),
    ]
    yield [(f"{visible(finding_title(finding))}, {count(finding.line.size, 'byte')}", "")]
    yield from wrapped(visible(finding.message), width, INDENT)
    for picture in finding.picture:
        yield []
        title = picture_title(finding, picture) if len(finding.picture) > 1 else ""
        yield from _picture(picture, finding.participants, title)
    for section in (list(_accesses(finding.participants, width)), list(_related(finding))):
        if section:
            yield []
            yield from section
    if finding.evidence:
        yield []
        kind_width = max(len(evidence.kind.value) for evidence in finding.evidence)
        for evidence in finding.evidence:
            lead = f"{evidence.kind.value:<{kind_width}}  "
            yield from wrapped(lead + visible(evidence.text), width, INDENT, hang=len(lead))
    for remedy in finding.remedies:
        yield []
        yield from _remedy(remedy, width)


def _picture(picture: LinePicture, participants: Sequence[Participant], title: str) -> Iterator[Line]:
    if title:
        yield [(f"{INDENT}{visible(title)}", "")]
    yield from picture_rows(picture)
    yield from _legend(picture, participants, owner_styles(picture))


def _legend(
    picture: LinePicture, participants: Sequence[Participant], styles: dict[pictures.Owner, str]
) -> Iterator[Line]:
    rows: list[tuple[str, str, str, str, str]] = []
    for entry in pictures.legend(picture, participants):
        who = entry.participant
        name = shorten(visible(pictures.label(entry.owner)), NAME_WIDTH)
        role = visible(who.role) if who else ""
        if who and who.type:
            role += f" ({shorten(visible(who.type), NAME_WIDTH)})"
        source = visible(who.source) if who else ""
        rows.append((entry.mark, name, _range_text(entry), role, source))
    widths = [max(len(row[column]) for row in rows) for column in range(4)] if rows else []
    for entry, row in zip(pictures.legend(picture, participants), rows, strict=True):
        fields = "  ".join(f"{text:<{column}}" for text, column in zip(row[1:4], widths[1:4], strict=True))
        yield [(f"{INDENT}{row[0]}  ", styles.get(entry.owner, "dim")), (f"{fields}  {row[4]}".rstrip(), "")]


def _range_text(entry: pictures.LegendEntry) -> str:
    text = byte_ranges(entry.ranges)
    if not entry.hot:
        return text
    return f"{text} (hot)" if entry.hot == entry.ranges else f"{text} (hot {byte_ranges(entry.hot)})"


def _accesses(participants: Sequence[Participant], width: int) -> Iterator[Line]:
    accessed = [participant for participant in participants if accesses(participant)]
    names = [shorten(visible(participant.full_name), NAME_WIDTH) for participant in accessed]
    column = max((len(name) for name in names), default=0)
    beside = column <= NAME_COLUMN
    for name, participant in zip(names, accessed, strict=True):
        lead = f"{name:<{column}}  "
        if not beside:
            yield [(f"{INDENT}{name}", "")]
            lead = INDENT
        for verb, functions in accesses(participant):
            text = f"{lead}{verb:<10} {name_list(functions, NAMES_SHOWN, NAME_WIDTH)}"
            yield from wrapped(text, width, INDENT, hang=len(lead) + 11)
            lead = " " * len(lead)


def _related(finding: Finding) -> Iterator[Line]:
    """Where in source the variables are used: a table of a few accesses."""
    shown = list(access_rows(finding.related, ACCESSES_SHOWN, NAME_WIDTH))
    widths = [max((len(row[column]) for row in shown), default=0) for column in range(4)]
    for row in shown:
        fields = "  ".join(f"{text:<{column}}" for text, column in zip(row[:4], widths, strict=True))
        yield [(f"{INDENT}{fields}  {row[4]}".rstrip(), "")]
    left = len(finding.related) - len(shown)
    if left:
        yield [(f"{INDENT}and {count(left, 'more access', 'more accesses')}", "dim")]


def _remedy(remedy: Remedy, width: int) -> Iterator[Line]:
    lead = f"fix ({visible(remedy.kind)}): "
    yield from wrapped(f"{lead}{visible(remedy.text)} [{terms(remedy)}]", width, INDENT, hang=4, style="green")
    if remedy.edit:
        for line in visible_block(remedy.edit.rstrip("\n")):
            yield [(f"{INDENT}    ", ""), (line, "bold")]
