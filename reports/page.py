"""The report as one HTML page that needs nothing else: a table of findings and the map of the memory they are in.

Owns what the template and the scripts get; looks and behaviour are theirs (``templates``, ``assets``).
"""

from __future__ import annotations

from typing import Any

import msgspec

from reports import picture as pictures
from reports.brief import surer
from reports.escape import byte_ranges, visible, visible_block
from reports.htmltemplate import render_page
from reports.locations import access_rows, finding_title, picture_title, position, relative
from reports.options import RenderOptions
from reports.order import worst_first
from reports.wording import accesses, facts, tally, target_text, target_title, terms
from sharing.model import Finding, LinePicture, Remedy, Report
from sharing.model.finding import Confidence, Severity
from sharing.model.memorymap import MemoryMap

COLORS = 6  # owner colours in the style
ACCESSES_SHOWN = 40
NAME_WIDTH = 200
TARGETS_SHOWN = 5
PLAIN_SHOWN = 30  # findings that a browser without scripts shows
STYLES = ("look.css", "report.css")
SCRIPTS = (
    "base.js",
    "table.js",
    "filteredtable.js",
    "memory.js",
    "map.js",
    "parts.js",
    "links.js",
    "findingdetails.js",
    "memorydetails.js",
    "reportcolumns.js",
    "report.js",
)


def render(report: Report, options: RenderOptions) -> str:
    """The page.  ``options.rules`` add each rule's page, ``options.maps`` the map."""
    report = relative(report, options.source_root)
    findings = [_finding(finding) for finding in worst_first(report.findings)]
    met = {finding.rule for finding in report.findings}
    return render_page(
        "report.html.j2",
        STYLES,
        SCRIPTS,
        {
            "findings": findings,
            "rules": {rule.id: rule.help_markdown.strip() for rule in options.rules if rule.id in met},
            "maps": [_map(drawn, options.source_root) for drawn in options.maps],
        },
        targets=[(visible(target_title(target)), visible(target_text(target))) for target in report.targets],
        targets_shown=TARGETS_SHOWN,
        tally=visible(tally(report)),
        weighed=_weighed(report),
        analysed=visible(facts(report)),
        notes=[visible(note) for note in report.coverage.notes],
        incomplete=report.incomplete,
        without_map=report.command == "audit" and not options.maps,
        plain=findings[:PLAIN_SHOWN],
        version=options.version,
        summary=options.summary,
    )


def _weighed(report: Report) -> str:
    """What nobody has measured yet, where that is so of every finding: the first that a reader of the page sees."""
    known = {finding.confidence for finding in report.findings}
    if report.command != "audit" or not known or max(one.rank for one in known) > Confidence.STATIC.rank:
        return ""
    worst = max((finding.severity for finding in report.findings), key=lambda one: one.rank)
    cost = "None is known to cost anything yet"
    if worst.rank <= Severity.LOW.rank:
        cost = "None matters as far as the code tells, and none is known to cost anything yet"
    return f"{cost}: {surer(Confidence.STATIC, {target.kind for target in report.targets})}."


def _finding(finding: Finding) -> dict[str, Any]:
    """All of a finding; text is made visible where it is packed, and here what the template shows as well."""
    return {
        "id": visible(finding.id),
        "rule": visible(finding.rule),
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "verdict": finding.verdict.value,
        "target": finding.target,
        "where": visible(finding_title(finding)),
        "line": "" if finding.line.place else finding.line.address,
        "size": finding.line.size,
        "names": [visible(name) for name in dict.fromkeys(who.full_name for who in finding.participants)],
        "place": _place(finding),
        "file": _place(finding).rpartition(":")[0],
        "message": visible(finding.message),
        "pictures": [_picture(picture, finding) for picture in finding.picture],
        "accesses": [{"name": who.full_name, "lines": accesses(who)} for who in finding.participants if accesses(who)],
        "related": list(access_rows(finding.related, ACCESSES_SHOWN, NAME_WIDTH)),
        "evidence": [(evidence.kind.value, evidence.text) for evidence in finding.evidence],
        "remedies": [_remedy(remedy) for remedy in finding.remedies],
    }


def _map(drawn: MemoryMap, root: str) -> Any:
    """The map with places in source below ``root`` written relative to it."""
    prefix = f"{root.rstrip('/')}/" if root else ""
    told = msgspec.to_builtins(drawn)
    for section in told["sections"]:
        section["variables"]["sources"] = [source.removeprefix(prefix) for source in section["variables"]["sources"]]
    for excerpt in told["excerpts"]:
        excerpt["source"] = excerpt["source"].removeprefix(prefix)
    return told


def _place(finding: Finding) -> str:
    """Where a participant is declared, or accessed: ``file:line``, "" unknown."""
    sources = [who.source for who in finding.participants] + [access.source for access in finding.related]
    found = next(filter(None, map(position, sources)), None)
    return f"{found.path}:{found.line}" if found else ""


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {
        "text": visible(remedy.text),
        "edit": visible_block(remedy.edit.rstrip("\n")) if remedy.edit else [],
        "terms": terms(remedy),
        "fixes": bool(remedy.edits),
    }


def _picture(picture: LinePicture, finding: Finding) -> dict[str, Any]:
    marks = pictures.marks(picture)
    colors = {owner: str(at % COLORS) for at, owner in enumerate(marks)}
    slices: list[list[Any]] = []
    start = 0
    for cell, text in pictures.runs(pictures.cells(picture)):
        begins = not slices or slices[-1][1] != colors.get(cell.owner, "none")
        slices.append([cell.char, colors.get(cell.owner, "none"), cell.hot, start, start + len(text), begins])
        start += len(text)
    return {
        "title": picture_title(finding, picture),
        "size": picture.size,
        "slices": slices,
        "legend": [
            {
                "mark": entry.mark,
                "color": colors.get(entry.owner, "none"),
                "name": pictures.label(entry.owner),
                "bytes": byte_ranges(entry.ranges),
                "hot": byte_ranges(entry.hot),
                "role": entry.participant.role if entry.participant else "",
                "type": entry.participant.type if entry.participant else "",
                "source": entry.participant.source if entry.participant else "",
            }
            for entry in pictures.legend(picture, finding.participants)
        ],
    }
