"""The report for a pull-request comment: the verdict, then each finding with its line in a code block.

Owns escaping for Markdown and the length of the comment.  Names become code spans, prose is escaped character by
character: neither can open markup, mention a person or leave its table cell.  Who, where and how to fix it is folded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reports import picture as pictures
from reports.escape import byte_ranges, name_list, shorten, visible, visible_block
from reports.locations import access_rows, line_name, picture_title, relative
from reports.options import RenderOptions
from reports.order import worst_first
from reports.wording import accesses, facts, tally, target_text, target_title, terms
from reports.worstfiles import SHOWN, FileRow, worst_files
from sharing.model import Finding, Remedy, Report
from sharing.model.finding import UNDECIDED
from sharing.model.plural import count, named

NAME_WIDTH = 72
NAMES_SHOWN = 3
ACCESSES_SHOWN = 6
FINDINGS_SHOWN = 10  # a comment that nobody scrolls through
ROWS_SHOWN = 25
MESSAGE_WIDTH = 2000
NOTE_WIDTH = 400
MAX_CHARACTERS = 60_000  # forges refuse comments of more than 65,536
_SPECIAL = re.compile(r"([\\`*_\[\]|~#>])")
_QUOTED = re.compile(r"`([^`]+)`")
_OPENING = re.compile(r"^( *\d*)([-+=.)])")  # what would begin a list or underline a heading


def render(report: Report, options: RenderOptions) -> str:
    """The report as GitHub-flavoured Markdown; without ``options.summary`` only the findings.

    At most ``MAX_CHARACTERS``: findings that do not fit are counted.
    """
    report = relative(report, options.source_root)
    findings = worst_first(report.findings)
    blocks = [_headline(report)] if options.summary else []
    if options.summary and len(findings) > 1:
        blocks.append(_table(findings))
    if options.summary and (files := worst_files(report)):
        blocks.append(_files(files))
    foot = _foot(report) if options.summary else []
    left = MAX_CHARACTERS - sum(len(block) + 2 for block in (*blocks, *foot))
    for number, finding in enumerate(findings):
        made = list(_finding(finding))
        left -= sum(len(block) + 2 for block in made)
        if number == FINDINGS_SHOWN or left < 0:
            blocks.append(f"{count(len(findings) - number, 'more finding')}: see another format of the report.")
            break
        blocks += made
    blocks += foot
    return "\n\n".join(blocks) + "\n" if blocks else ""


def prose(text: str) -> str:
    """Text in which no character means anything to Markdown, HTML or the forge."""
    safe = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    safe = _OPENING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", safe))
    # An empty comment parts the sign from the name, so that nobody is notified by a symbol.
    return safe.replace("@", "@<!-- -->")


def prose_with_code(text: str) -> str:
    """As ``prose``, but what stands between two backquotes is code; one that is left over is text."""
    parts = _QUOTED.split(visible(text))
    return "".join(code(part) if at % 2 else prose(part) for at, part in enumerate(parts))


def code(text: str, *, in_table: bool = False) -> str:
    """A code span; in a table cell a bar is escaped even inside of code."""
    safe = visible(text)
    if in_table:
        safe = safe.replace("|", "\\|")
    if not safe:
        return ""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", safe)), default=0) + 1)
    gap = " " if len(fence) > 1 or safe[0] == safe[-1] == " " else ""
    return f"{fence}{gap}{safe}{gap}{fence}"


def block(lines: Sequence[str], language: str) -> str:
    """A fenced block whose fence no line can close."""
    ticks = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, ticks + 1)
    return "\n".join([fence + language, *lines, fence])


def fold(summary: str, blocks: Sequence[str]) -> list[str]:
    """Blocks behind a line to click on; ``summary`` is a constant, not escaped."""
    return [f"<details><summary>{summary}</summary>", *blocks, "</details>"] if blocks else []


def _headline(report: Report) -> str:
    state = " (incomplete: not all could be analysed)" if report.incomplete else ""
    return f"### linemate: {prose(tally(report))}{state}"


def _table(findings: Sequence[Finding]) -> str:
    rows = ["| severity | variables | verdict | confidence | line |", "|---|---|---|---|---|"]
    rows += [
        f"| {finding.severity} | {_names(finding, in_table=True)} | {finding.verdict} | {finding.confidence} "
        f"| {code(line_name(finding.line), in_table=True)} |"
        for finding in findings[:ROWS_SHOWN]
    ]
    return "\n".join(rows)


def _files(files: Sequence[FileRow]) -> str:
    rows = ["| file | findings |", "|---|---|"]
    rows += [f"| {code(file.name, in_table=True)} | {file.numbers} |" for file in files[:SHOWN]]
    if len(files) > SHOWN:
        rows.append(f"| and {count(len(files) - SHOWN, 'more file')} | |")
    return "\n".join(rows)


def _foot(report: Report) -> list[str]:
    """What was analysed and what was not, folded; notes of an incomplete run in the open, since they explain it."""
    targets = [
        f"- {code(target_title(target))}: {prose(target_text(target))}" for target in report.targets[:ROWS_SHOWN]
    ]
    if len(report.targets) > ROWS_SHOWN:
        targets.append(f"- and {len(report.targets) - ROWS_SHOWN:,} more")
    blocks = ["\n".join(targets)] if targets else []
    if report.coverage.counts:
        blocks.append(f"Analysed: {prose(facts(report))}.")
    notes = [
        f"- note: {prose_with_code(shorten(visible(note), NOTE_WIDTH))}" for note in report.coverage.notes[:ROWS_SHOWN]
    ]
    if len(report.coverage.notes) > ROWS_SHOWN:
        notes.append(f"- and {count(len(report.coverage.notes) - ROWS_SHOWN, 'more note')}")
    shown = ["\n".join(notes)] if notes else []
    if report.incomplete or any(note.startswith(UNDECIDED) for note in report.coverage.notes):
        return [*shown, *fold("What was analysed", blocks)]
    return fold("What was analysed", blocks + shown)


def _names(finding: Finding, *, in_table: bool = False) -> str:
    shown = [code(shorten(visible(p.name), NAME_WIDTH), in_table=in_table) for p in finding.participants[:NAMES_SHOWN]]
    return named(shown, NAMES_SHOWN, len(finding.participants))


def _finding(finding: Finding) -> Iterator[str]:
    yield f"#### {finding.severity}: {_names(finding)}, {finding.verdict}"
    yield prose_with_code(shorten(visible(finding.message), MESSAGE_WIDTH))
    lines = picture_lines(finding)
    if lines:
        yield block(lines, "text")
    facts_list: list[str] = []
    for who in finding.participants:
        name = code(shorten(visible(who.full_name), NAME_WIDTH))
        for verb, functions in accesses(who):
            facts_list.append(f"- {name} {verb} {prose(name_list(functions, NAMES_SHOWN, NAME_WIDTH))}")
    facts_list += [
        " ".join(part for part in (f"- {code(function)}", prose(verb), code(name), _at(source), prose(under)) if part)
        for name, verb, function, source, under in access_rows(finding.related, ACCESSES_SHOWN, NAME_WIDTH)
    ]
    facts_list += [
        f"- {evidence.kind}: {prose_with_code(shorten(visible(evidence.text), MESSAGE_WIDTH))}"
        for evidence in finding.evidence
    ]
    of = f", of {code(shorten(visible(finding.target), NAME_WIDTH))}" if finding.target else ""
    facts_list.append(f"- {code(finding.rule)}, {finding.confidence}, {code(finding.id)}{of}")
    yield from fold("Who and where", ["\n".join(facts_list)])
    remedies = [part for remedy in finding.remedies for part in _remedy(remedy)]
    yield from fold("How to fix it", remedies)


def _at(source: str) -> str:
    return f"at {code(source)}" if source else ""


def picture_lines(finding: Finding) -> list[str]:
    """The pictures of a finding and their legends as plain lines."""
    lines: list[str] = []
    for picture in finding.picture:
        if len(finding.picture) > 1:
            lines.append(visible(picture_title(finding, picture)))
        lines.extend(pictures.plain_rows(picture))
        for entry in pictures.legend(picture, finding.participants):
            name = shorten(visible(pictures.label(entry.owner)), NAME_WIDTH)
            hot = f" (hot {byte_ranges(entry.hot)})" if entry.hot else ""
            role = visible(entry.participant.role) if entry.participant else ""
            source = visible(entry.participant.source) if entry.participant else ""
            rest = ", ".join(part for part in (role, source) if part)
            lines.append(f"{entry.mark}  {name}  {byte_ranges(entry.ranges)}{hot}  {rest}".rstrip())
    return lines


def _remedy(remedy: Remedy) -> Iterator[str]:
    yield f"**Fix** ({prose(remedy.kind)}): {prose_with_code(remedy.text)} ({terms(remedy)})"
    if remedy.edit:
        yield block(visible_block(remedy.edit.rstrip("\n")), re.sub(r"[^A-Za-z0-9+#]", "", remedy.language))
