"""The report as JUnit XML, which every continuous integration shows as a list of tests.

Owns the mapping: a finding is a test case that fails from ``options.fail_on`` on and passes with a word below; an
analysis that is incomplete is an error; a clean report is one case that passes, since hosts refuse an empty list.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from reports.escape import shorten, visible
from reports.locations import line_title, position, relative
from reports.options import RenderOptions
from reports.order import worst_first
from reports.wording import target_name, terms
from sharing.model import Finding, Report

NAME_WIDTH = 120
TOOL = "linemate"


def render(report: Report, options: RenderOptions) -> str:
    """One suite, named by the command; times are zero, so that equal reports give equal bytes."""
    report = relative(report, options.source_root)
    findings = worst_first(report.findings)
    cases = [_case(finding, options) for finding in findings]
    if report.incomplete:
        cases.append(_incomplete(report))
    if not cases:
        name = ", ".join(visible(target_name(target)) for target in report.targets) or report.command
        cases.append(Element("testcase", classname=TOOL, name=f"{shorten(name, NAME_WIDTH)}: no finding", time="0"))
    root = Element("testsuites")
    suite = SubElement(root, "testsuite", name=f"{TOOL} {report.command}", tests=str(len(cases)))
    for kind in ("failure", "error"):
        total = sum(case.find(kind) is not None for case in cases)
        suite.set(f"{kind}s", str(total))
    suite.set("skipped", "0")
    suite.set("time", "0")
    suite.extend(cases)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _case(finding: Finding, options: RenderOptions) -> Element:
    names = " / ".join(shorten(visible(who.full_name), NAME_WIDTH) for who in finding.participants[:2])
    case = Element("testcase", classname=f"{TOOL}.{visible(finding.rule)}", name=f"{names} ({visible(finding.id)})")
    place = next(filter(None, (position(who.source) for who in finding.participants)), None)
    if place is not None:
        case.set("file", visible(place.path))
        case.set("line", str(place.line))
    case.set("time", "0")
    text = "\n".join(_lines(finding))
    if options.fail_on is not None and finding.severity.rank >= options.fail_on.rank:
        message = shorten(visible(finding.message), 300)
        SubElement(case, "failure", type=finding.severity.value, message=message).text = text
    else:
        SubElement(case, "system-out").text = text
    return case


def _lines(finding: Finding) -> list[str]:
    out = [f"{finding.severity.value}, {finding.confidence.value}: {visible(finding.message)}"]
    out.append(visible(line_title(finding.line)))
    out += [f"{visible(who.full_name)}: {visible(who.source or who.address)}" for who in finding.participants]
    out += [f"do: {visible(remedy.text)} ({terms(remedy)})" for remedy in finding.remedies[:1]]
    return [*out, f"all evidence: {TOOL} show {visible(finding.id)}"]


def _incomplete(report: Report) -> Element:
    case = Element("testcase", classname=TOOL, name="the analysis is complete", time="0")
    error = SubElement(case, "error", type="incomplete", message="a part of the input could not be analysed")
    error.text = "\n".join(map(visible, report.coverage.notes))
    return case
