"""The short form of a report for a terminal: a table of the lines of memory, then what to do about the worst few.

Owns which findings are one row, the columns, and the words of the short blocks.  All evidence is in ``reports.text``.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import msgspec

from reports import picture as pictures
from reports.escape import byte_ranges, shorten, shorten_apart, visible, visible_block
from reports.locations import finding_title, line_name, picture_title, position
from reports.options import RenderOptions
from reports.order import worst_first
from reports.styled import INDENT, NAME_WIDTH, SEVERITY_STYLE, Line, picture_rows, wrapped
from reports.wording import target_name, terms
from reports.worstfiles import SHOWN, worst_files
from sharing.model import Confidence, Evidence, Finding, Report
from sharing.model.finding import ADVICE, GUARDED, NOT_EXERCISED, LinePicture
from sharing.model.image import ImageKind
from sharing.model.plural import count

APART = "safe-by-luck"  # the rule of pairs that are on two lines in this build
PAIR = 2  # names that a row has
ROWS_SHOWN = 20
NAMES_LEAST = 24  # columns for names
NAMES_FIRST = 44  # names are shorter only where there is no place in source
PLACE_WIDTH = 24
PLACE_LEAST = 12  # columns for a file among several, cut in the middle
LEAD = 5  # columns of the words in front of the sentences of a block

# How a finding is known, and what would make it surer.
_SURER = {
    Confidence.LAYOUT: "positions alone say so; who uses the bytes how often is for a profile to say, and for symbols "
    "and debug information where the file has none",
    Confidence.STATIC: "estimated from code; {decides}",
    Confidence.COUNTED: "executions were counted, waiting is not known; {decides}",
    Confidence.DERIVED: "sampled code, addresses worked out from it: samples with data addresses are surer (linemate "
    "doctor says whether this machine has them)",
    Confidence.SAMPLED: "seen in a profile: record --solo, or a benchmark with the fix, measures the gain",
    Confidence.MEASURED: "measured",
}
_DECIDES = "a profile decides: {}, then audit --samples"
_APART = "estimated from code; the two are apart, so that no profile of this build shows what they would cost together"
_LONGER = "the profile has too little of it to decide: record for longer, under a load that comes there more often"
_RECORD = "linemate record -- COMMAND (or --pid PID)"
_RECORD_KERNEL = "linemate record --duration 30 on a machine that runs it, under a load"
# Profiles do not say where a module's data was loaded.
_OF_MODULE = (
    "perf c2c on a machine that runs it decides, with its addresses of /sys/module/NAME/sections, or a profile of a "
    "kernel that has it built in"
)


class Row(msgspec.Struct):
    """What is said of one line of memory: the worst finding, and the others about the same variables there."""

    worst: Finding
    others: list[Finding] = msgspec.field(default_factory=list)


def rows_of(findings: Sequence[Finding]) -> list[Row]:
    """Findings worst first, those of one line that share a variable as one row; a broken guard has its own.

    So has what a profile saw behind a worse one of code alone: it is the surer, and its edit may be another.
    """
    rows: list[Row] = []
    known: dict[tuple[str, str, str, str], Row] = {}
    for finding in worst_first(findings):
        if finding.rule == GUARDED:
            rows.append(Row(finding))
            continue
        line = (finding.target, finding.line.address, finding.line.place)
        keys = [(*line, who.full_name) for who in finding.participants]
        row = next((known[key] for key in keys if key in known), None)
        if row is None or (_is_seen(finding) and not _is_seen(row.worst)):
            row = Row(finding)
            rows.append(row)
        else:
            row.others.append(finding)
        for key in keys:
            known.setdefault(key, row)
    return rows


def _is_seen(finding: Finding) -> bool:
    return finding.confidence.rank >= Confidence.DERIVED.rank


def with_blocks(report: Report, options: RenderOptions) -> list[Finding]:
    """The findings that have a block."""
    return [row.worst for row in _by_profile(rows_of(report.findings))[0][: options.top]]


def findings(report: Report, options: RenderOptions, width: int) -> Iterator[Line]:
    """The table and the blocks of the worst rows."""
    seen, apart = _by_profile(rows_of(report.findings))
    rows = [*seen, *apart]
    if not rows:
        return
    if seen:
        yield from _table(seen, width)
    if apart:
        yield from [[]] * bool(seen)
        yield from wrapped(f"{NOT_EXERCISED}, so from code alone:", width, "", style="bold")
        yield from _table(apart, width, len(seen))
    yield from _files(report, width)
    explained: set[str] = set()
    files = {target_name(target): target.path for target in report.targets}
    told = f" --in {shlex.quote(visible(options.saved))}" if options.saved not in ("", "-") else ""
    for number, row in enumerate(seen[: options.top], 1):
        yield []
        file = files.get(row.worst.target) or (report.targets[0].path if len(report.targets) == 1 else "FILE")
        sure = _sure(row.worst, report)
        linked = f" --binary {shlex.quote(file)}" if row.worst.line.address and not row.worst.line.place else ""
        fix = f"linemate fix {row.worst.id}{linked}{options.again and ' '}{options.again}"
        yield from _block(number, row, width, "" if sure in explained else sure, told, fix)
        explained.add(sure)
    yield []
    show = f"linemate show {visible(rows[0].worst.id)}{told} has all evidence of one finding, --details that of all"
    yield from wrapped(show, width, "")


def _by_profile(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Rows of which a profile, where there is one, can say something, and the others."""
    return [row for row in rows if row.worst.exercised], [row for row in rows if not row.worst.exercised]


def _sure(finding: Finding, report: Report) -> str:
    kinds, confidence = {target.kind for target in report.targets}, finding.confidence
    if finding.rule == APART and confidence is Confidence.STATIC:
        return f"{confidence.value}: {_APART}"
    return f"{confidence.value}: {surer(confidence, kinds, sampled=bool(report.coverage.counts.get('samples')))}"


def surer(confidence: Confidence, kinds: Collection[str], *, sampled: bool = False) -> str:
    """How what is known in this way is known of files of these kinds, and what would make it surer.

    ``sampled``: there is a profile, which did not tell.
    """
    if sampled:
        decides = _LONGER
    elif kinds and all(kind == ImageKind.MODULE.value for kind in kinds):
        decides = _OF_MODULE
    else:
        of_kernel = all(kind.startswith("kernel") for kind in kinds)
        decides = _DECIDES.format(_RECORD_KERNEL if of_kernel else _RECORD)
    return _SURER[confidence].format(decides=decides)


def _table(rows: Sequence[Row], width: int, before: int = 0) -> Iterator[Line]:
    """``before`` rows stand in a table above."""
    shown = rows[:ROWS_SHOWN]
    severities = [row.worst.severity.value for row in shown]
    lines = [line_name(row.worst.line) for row in shown]
    places = [_place(row.worst) for row in shown]
    fixed = len(str(before + len(shown))) + max(map(len, severities)) + max(map(len, lines)) + 4 * 2
    ids, place = _beside_names(rows, places, width - fixed)
    left = max(width - fixed - max(map(len, ids)), NAMES_LEAST)
    room = left - place - 2 if place > 0 else left
    names = [_names(row, room) for row in shown]
    name_width, line_width, severity_width = (max(map(len, column)) for column in (names, lines, severities))
    for number, severity in enumerate(severities):
        cells = [f"{names[number]:<{name_width}}"]
        if place > 0:
            cells.append(f"{shorten(places[number], place):<{place}}")
        cells += [f"{visible(lines[number]):<{line_width}}", ids[number]]
        yield [
            (f"{before + number + 1:>{len(str(before + len(shown)))}}  ", "dim"),
            (f"{severity:<{severity_width}}", SEVERITY_STYLE[severity]),
            (f"  {'  '.join(cells)}", ""),
        ]
    if len(rows) > len(shown):
        yield [(f"and {count(len(rows) - len(shown), 'more line')}: --details, or another --format", "dim")]


def _beside_names(rows: Sequence[Row], places: Sequence[str], room: int) -> tuple[list[str], int]:
    """Ids of the rows shown and columns of their places, such that names have theirs first of all in ``room``.

    First the rule gives way that an id begins with, then the place in source whole, the file of several only as far as
    it can still be told.
    """
    shown = rows[:ROWS_SHOWN]
    wanted = min(NAMES_FIRST, max(len(" / ".join(_full_names(row))) for row in shown))
    several = any(row.worst.target for row in shown)  # then the place is the file
    widest = min(max(map(len, places), default=0), PLACE_WIDTH)
    whole = [visible(row.worst.id) for row in shown]
    ends = _ends(rows)
    for ids, place in ((whole, widest), (ends, widest), *(() if several else ((whole, 0),))):
        if room - max(map(len, ids)) - (place + 2 if place else 0) >= wanted:
            return ids, place
    if not several:  # a shorter id that gives names nothing is no use
        return (ends if room - max(map(len, ends)) > NAMES_LEAST else whole), 0
    return ends, min(max(room - max(map(len, ends)) - 2 - wanted, PLACE_LEAST), widest)


def _ends(rows: Sequence[Row]) -> list[str]:
    """The digits at the ends of the ids of the rows shown, by which ``show`` finds them; ids whose end is not alone."""
    ids = [visible(row.worst.id) for row in rows]
    ends = Counter(one.rpartition("-")[2] for one in {found.id for row in rows for found in (row.worst, *row.others)})
    return [end if ends[end := one.rpartition("-")[2]] == 1 else one for one in ids[:ROWS_SHOWN]]


def _files(report: Report, width: int) -> Iterator[Line]:
    """The files with the worst findings, where there are several."""
    files = worst_files(report)
    if not files:
        return
    numbers = [file.numbers for file in files[:SHOWN]]
    column = max(map(len, numbers))
    yield []
    yield [(f"{count(len(files), 'file')} with findings, the worst first", "bold")]
    for file, number in zip(files, numbers, strict=False):
        room = max(width - column - len(INDENT) - 2, NAMES_LEAST)
        yield [(f"{INDENT}{number:<{column}}  {shorten(visible(file.name), room)}", "")]
    if len(files) > SHOWN:
        yield [(f"{INDENT}and {count(len(files) - SHOWN, 'more file')}", "dim")]


def _names(row: Row, width: int) -> str:
    names = _full_names(row)
    text = " / ".join(names)
    if len(text) <= width:
        return text
    each = max((width - 3 * (len(names) - 1)) // len(names), 1)
    # What a short name leaves is the other's.
    spare = sum(max(each - len(name), 0) for name in names)
    return " / ".join(shorten_apart(names, [each + (spare if len(name) > each else 0) for name in names]))


def _full_names(row: Row) -> list[str]:
    return list(dict.fromkeys(visible(who.full_name) for who in row.worst.participants[:PAIR]))


def _place(finding: Finding) -> str:
    """The binary where there are several, else file and line, without folders, of a variable, or of an access to it."""
    if finding.target:
        return visible(finding.target.rpartition("/")[2])
    for who in finding.participants[:PAIR]:
        if found := position(who.source):
            return visible(f"{found.path.rpartition('/')[2]}:{found.line}")
    for access in finding.related:  # memory without a declaration: where it is accessed
        if found := position(access.source):
            return visible(f"{found.path.rpartition('/')[2]}:{found.line}")
    return ""


def _block(number: int, row: Row, width: int, sure: str, told: str, fix: str) -> Iterator[Line]:
    """What to do about one line; how ``sure`` it is, and what makes it surer, is said of the first of each confidence.

    ``told`` is what a command that names the finding has to be told besides, ``fix`` the one that shows its edits.
    """
    finding = row.worst
    severity = finding.severity.value
    full = _full_names(row)
    names = " / ".join(shorten_apart(full, [NAME_WIDTH] * len(full)))
    yield [(f"{number}  ", "dim"), (severity.upper(), SEVERITY_STYLE[severity]), (f"  {names}", "bold")]
    where = ", ".join(filter(None, (visible(finding_title(finding)), finding.verdict.value, visible(finding.id))))
    yield [(f"{INDENT} {where}", "dim")]
    yield from _said("what", finding.message, width)
    for other in finding.also:
        yield from _said("", other.text, width)
    if finding.remedies:
        remedy = finding.remedies[0]
        yield from _said("do", f"{remedy.text} [{terms(remedy)}]", width, style="green")
        for line in visible_block(remedy.edit.rstrip("\n")) if remedy.edit else ():
            yield [(" " * (LEAD + len(INDENT) + 5), ""), (line, "bold")]
        if remedy.edits:
            # In one line, however long: it is there to be copied.
            yield [(" " * (LEAD + len(INDENT) + 1), ""), (f"{_with_others(finding)}as a diff: {visible(fix)}", "green")]
        elif more := len(finding.remedies) - 1:
            show = f"linemate show {finding.id}{told}"
            yield from _said("", f"and {count(more, 'more edit')} on this line: {show}", width)
    elif finding.advice:
        yield from _said("do", finding.advice, width, style="green")
    else:
        yield from _said("do", "no edit is proposed; the sentence above and all evidence say what is known", width)
    for at, why in enumerate(_why(finding)):
        yield from _said("" if at else "why", why.text, width)
    if sure:
        yield from _said("sure", sure, width)
    if row.others:
        yield from _said("also", ", ".join(other.id for other in row.others), width)
    yield from _pictures(finding)


def _with_others(finding: Finding) -> str:
    """How many edits more the diff has than the one that is shown: all of them hold together."""
    more = sum(bool(remedy.edits) for remedy in finding.remedies) - 1
    return f"and {count(more, 'more edit')} of this line, all " if more else ""


def _said(word: str, text: str, width: int, style: str = "") -> Iterator[Line]:
    yield from wrapped(f"{word:<{LEAD}}{visible(text)}", width, INDENT + " ", hang=LEAD, style=style)


def _why(finding: Finding) -> list[Evidence]:
    """The strongest evidence, of either side, and why it is said at less; positions are in the picture."""
    limits, also = finding.limits, finding.also
    telling = [
        evidence
        for evidence in finding.evidence
        if evidence.kind is not Confidence.LAYOUT
        and not evidence.text.startswith(ADVICE)
        and evidence not in (*limits, *also)
    ]
    strongest = max((evidence.kind.rank for evidence in telling), default=0)
    return [*[evidence for evidence in telling if evidence.kind.rank == strongest][:PAIR], *limits]


def _pictures(finding: Finding) -> Iterator[Line]:
    """The line that the finding is about, and the other's of a pair that is on two: such have their names above.

    Each with a legend of those who take part and of all that is hot.
    """
    shown = _telling(finding)
    for picture in shown:
        if len(shown) > 1 or (
            int(picture.address, 16) != int(finding.line.address or "0", 16) and not finding.line.place
        ):
            yield [(f"{INDENT} {visible(picture_title(finding, picture))}", "dim")]
        yield from picture_rows(picture)
        entries = [
            entry
            for entry in pictures.legend(picture, finding.participants)
            if entry.participant is not None or entry.hot
        ]
        names = [shorten(visible(pictures.label(entry.owner)), NAME_WIDTH) for entry in entries]
        column = max(map(len, names), default=0)
        for entry, name in zip(entries, names, strict=True):
            role = visible(entry.participant.role) if entry.participant else ""
            yield [(f"{INDENT} {entry.mark}  {name:<{column}}  {byte_ranges(entry.ranges)}  {role}".rstrip(), "")]


def _telling(finding: Finding) -> list[LinePicture]:
    """Of the pictures the one that shows the pair, else one for each of the two, in the order of the lines.

    Busy bytes show a variable, others where it has no busy ones: a lock's end beside data is not the pair.
    """
    sides = [(picture, _shown_in(picture, finding)) for picture in finding.picture]
    busy = {name for _, names in sides for name, hot in names.items() if hot}
    missing = {who.full_name for who in finding.participants[:PAIR]}
    told = [(picture, {n for n, hot in names.items() if hot or n not in busy}) for picture, names in sides]
    shown: list[LinePicture] = []
    for picture, names in sorted(told, key=lambda side: -len(side[1] & missing)):
        if not shown or names & missing:
            shown.append(picture)
            missing -= names
    return sorted(shown, key=lambda picture: int(picture.address, 16))


def _shown_in(picture: LinePicture, finding: Finding) -> dict[str, bool]:
    """The names of those who take part and are on the line, each with whether there it is busy."""
    legend = pictures.legend(picture, finding.participants)
    return {entry.participant.full_name: bool(entry.hot) for entry in legend if entry.participant is not None}
