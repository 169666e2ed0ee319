"""The report as one HTML page that needs nothing else: no scripts, no fonts, no requests.

Owns what the template gets; the template owns the looks.  Jinja2 escapes every value, and names have passed
``visible`` before, so that control and bidirectional characters are shown instead of obeyed.
"""

from __future__ import annotations

from typing import Any

from reports import picture as pictures
from reports.escape import byte_ranges, name_list, visible, visible_block
from reports.htmltemplate import render_template
from reports.locations import access_rows, finding_title, picture_title, relative
from reports.options import RenderOptions
from reports.order import worst_first
from reports.wording import accesses, facts, tally, target_name, target_text, terms
from sharing.model import Finding, LinePicture, Participant, Report
from sharing.model.rule import RuleInfo

COLORS = 6  # owner colours in the template
NAMES_SHOWN = 8
ACCESSES_SHOWN = 40
NAME_WIDTH = 200


def render(report: Report, options: RenderOptions) -> str:
    """The page.  ``options.rules`` add each rule's page to its findings."""
    report = relative(report, options.source_root)
    findings = worst_first(report.findings)
    rules = {rule.id: rule for rule in options.rules}
    return render_template(
        "report.html.j2",
        targets=[(visible(target_name(target)), visible(target_text(target))) for target in report.targets],
        tally=tally(report),
        analysed=visible(facts(report)),
        notes=[visible(note) for note in report.coverage.notes],
        incomplete=report.incomplete,
        findings=[_finding(finding, rules.get(finding.rule)) for finding in findings],
        version=options.version,
        summary=options.summary,
    )


def _finding(finding: Finding, rule: RuleInfo | None) -> dict[str, Any]:
    return {
        "id": visible(finding.id),
        "rule": visible(finding.rule),
        "rule_page": visible_block(rule.help_markdown.strip()) if rule else [],
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "verdict": finding.verdict.value,
        "line": visible(finding_title(finding)),
        "size": finding.line.size,
        "names": [visible(participant.name) for participant in finding.participants],
        "message": visible(finding.message),
        "pictures": [_picture(picture, finding) for picture in finding.picture],
        "accesses": [_accesses(participant) for participant in finding.participants if accesses(participant)],
        "related": list(access_rows(finding.related, ACCESSES_SHOWN, NAME_WIDTH)),
        "evidence": [(evidence.kind.value, visible(evidence.text)) for evidence in finding.evidence],
        "remedies": [
            {
                "kind": visible(remedy.kind),
                "text": visible(remedy.text),
                "edit": visible_block(remedy.edit.rstrip("\n")) if remedy.edit else [],
                "terms": terms(remedy),
            }
            for remedy in finding.remedies
        ],
    }


def _picture(picture: LinePicture, finding: Finding) -> dict[str, Any]:
    number = {owner: at % COLORS for at, owner in enumerate(pictures.marks(picture))}

    def style(owner: pictures.Owner, hot: bool) -> str:
        if owner in number:
            return f"owner{number[owner]}{' hot' if hot else ''}"
        return pictures.label(owner)

    legend = []
    for entry in pictures.legend(picture, finding.participants):
        who = entry.participant
        legend.append(
            {
                "mark": entry.mark,
                "style": style(entry.owner, False),
                "name": visible(pictures.label(entry.owner)),
                "bytes": byte_ranges(entry.ranges),
                "hot": byte_ranges(entry.hot),
                "role": visible(who.role) if who else "",
                "type": visible(who.type) if who else "",
                "source": visible(who.source) if who else "",
            }
        )
    return {
        "title": visible(picture_title(finding, picture)),
        "rows": [
            (first, [[(cell.char, style(cell.owner, cell.hot)) for cell in group] for group in groups])
            for first, groups in pictures.rows(picture)
        ],
        "legend": legend,
    }


def _accesses(participant: Participant) -> dict[str, Any]:
    return {
        "name": visible(participant.full_name),
        "lines": [(verb, name_list(functions, NAMES_SHOWN, NAME_WIDTH)) for verb, functions in accesses(participant)],
    }
