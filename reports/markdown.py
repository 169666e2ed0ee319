"""The report for a pull-request comment: a table, then each finding with its line in a code block.

Owns escaping for Markdown.  Names become code spans, prose is escaped character by character: neither can open
markup, mention a person or leave its table cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reports import picture as pictures
from reports.escape import byte_ranges, name_list, shorten, visible, visible_block
from reports.options import RenderOptions
from reports.order import worst_first
from reports.wording import accesses, facts, tally, target_name, target_text, terms
from sharing.model import Finding, LinePicture, Participant, Remedy, Report

NAME_WIDTH = 72
NAMES_SHOWN = 3
_SPECIAL = re.compile(r"([\\`*_\[\]|~#>])")
_OPENING = re.compile(r"^(\d*)([-+=.)])")  # what would begin a list or underline a heading


def render(report: Report, options: RenderOptions) -> str:
    """The report as GitHub-flavoured Markdown; without ``options.summary`` only the findings."""
    findings = worst_first(report.findings)
    blocks: list[str] = []
    if options.summary:
        blocks.extend(_summary(report, findings))
    for finding in findings:
        blocks.extend(_finding(finding))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def prose(text: str) -> str:
    """Text in which no character means anything to Markdown, HTML or the forge."""
    safe = visible(text).replace("&", "&amp;").replace("<", "&lt;")
    safe = _OPENING.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", safe))
    # An empty comment parts the sign from the name, so that nobody is notified by a symbol.
    return safe.replace("@", "@<!-- -->")


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


def _summary(report: Report, findings: Sequence[Finding]) -> Iterator[str]:
    yield f"### linemate: {prose(tally(report))}"
    targets = [f"- {code(target_name(target))}: {prose(target_text(target))}" for target in report.targets]
    if targets:
        yield "\n".join(targets)
    if report.coverage.counts:
        yield f"Analysed: {prose(facts(report))}."
    notes = [f"- note: {prose(note)}" for note in report.coverage.notes]
    if report.incomplete:
        notes.append("- **incomplete**: a part of the input failed")
    if notes:
        yield "\n".join(notes)
    if findings:
        rows = ["| severity | line | variables | verdict | confidence |", "|---|---|---|---|---|"]
        rows += [
            f"| {finding.severity} | {code(finding.line.address)} | {_names(finding, in_table=True)} "
            f"| {finding.verdict} | {finding.confidence} |"
            for finding in findings
        ]
        yield "\n".join(rows)


def _names(finding: Finding, *, in_table: bool = False) -> str:
    shown = [code(shorten(visible(p.name), NAME_WIDTH), in_table=in_table) for p in finding.participants[:NAMES_SHOWN]]
    more = len(finding.participants) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _finding(finding: Finding) -> Iterator[str]:
    yield f"#### {finding.severity}: {_names(finding)} on line {code(finding.line.address)}"
    yield f"{prose(finding.message)} ({code(finding.rule)}, {code(finding.id)})"
    lines = picture_lines(finding.picture, finding.participants)
    if lines:
        yield block(lines, "text")
    facts_list: list[str] = []
    for who in finding.participants:
        name = code(shorten(visible(who.full_name), NAME_WIDTH))
        for verb, functions in accesses(who):
            facts_list.append(f"- {name} {verb} {prose(name_list(functions, NAMES_SHOWN, NAME_WIDTH))}")
    facts_list += [f"- {evidence.kind}: {prose(evidence.text)}" for evidence in finding.evidence]
    if facts_list:
        yield "\n".join(facts_list)
    for remedy in finding.remedies:
        yield from _remedy(remedy)


def picture_lines(drawn: Sequence[LinePicture], participants: Sequence[Participant]) -> list[str]:
    """The pictures of a finding and their legends as plain lines."""
    lines: list[str] = []
    for picture in drawn:
        if len(drawn) > 1:
            lines.append(f"line {visible(picture.address)}")
        lines.extend(pictures.plain_rows(picture))
        for entry in pictures.legend(picture, participants):
            name = shorten(visible(pictures.label(entry.owner)), NAME_WIDTH)
            hot = f" (hot {byte_ranges(entry.hot)})" if entry.hot else ""
            role = visible(entry.participant.role) if entry.participant else ""
            source = visible(entry.participant.source) if entry.participant else ""
            rest = ", ".join(part for part in (role, source) if part)
            lines.append(f"{entry.mark}  {name}  {byte_ranges(entry.ranges)}{hot}  {rest}".rstrip())
    return lines


def _remedy(remedy: Remedy) -> Iterator[str]:
    yield f"**Fix** ({prose(remedy.kind)}): {prose(remedy.text)} ({terms(remedy)})"
    if remedy.edit:
        yield block(visible_block(remedy.edit.rstrip("\n")), re.sub(r"[^A-Za-z0-9+#]", "", remedy.language))
