"""The report as SARIF 2.1.0 (OASIS), for code scanning services.

Owns the mapping: severity to level, variables to locations, finding ids to fingerprints.  Line mates are related
locations.  A variable without a known declaration is located by its address in the binary.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any
from urllib.parse import quote

import msgspec

from reports.escape import byte_ranges, name_list, shorten, visible
from reports.jsontext import encode
from reports.markdown import block, picture_lines, prose
from reports.options import RenderOptions
from reports.order import worst_first
from reports.wording import accesses
from sharing.model import Finding, Participant, Report, Severity
from sharing.model.rule import RuleInfo

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "linemateFinding/v1"
ROOT = "SRCROOT"
MAX_EXACT_INTEGER = 2**53 - 1  # JSON readers may hold numbers as doubles; larger addresses stay text
NAMES_SHOWN = 3
NAME_WIDTH = 120

LEVELS = {
    Severity.NOTE: "note",
    Severity.LOW: "note",
    Severity.MEDIUM: "warning",
    Severity.HIGH: "error",
    Severity.CRITICAL: "error",
}

_SOURCE = re.compile(r"(.+):(\d+)$", re.DOTALL)

Json = dict[str, Any]


def render(report: Report, options: RenderOptions) -> str:
    """One run.  Sources below ``options.source_root`` become relative to SRCROOT, others absolute URIs."""
    findings = worst_first(report.findings)
    rules = list(options.rules)
    known = {rule.id for rule in rules}
    missing = dict.fromkeys(finding.rule for finding in findings if finding.rule not in known)
    rules += [RuleInfo(rule, rule, rule, "", Severity.MEDIUM) for rule in missing]
    row_of = {rule.id: row for row, rule in enumerate(rules)}
    driver: Json = {"name": "linemate", "rules": [_rule(rule) for rule in rules]}
    if options.version:
        driver["semanticVersion"] = options.version
    run: Json = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the source tree."}}},
        "results": [_result(finding, row_of[finding.rule], report, options.source_root) for finding in findings],
        "columnKind": "unicodeCodePoints",
        "properties": {
            "targets": msgspec.to_builtins(report.targets),
            "counts": report.coverage.counts,
            "suppressed": report.suppressed,
            "hidden": report.hidden,
        },
    }
    document = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}
    return encode(document)


def _rule(rule: RuleInfo) -> Json:
    out: Json = {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", rule.id)),
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["performance", "cache"]},
    }
    if rule.help_markdown:
        out["help"] = {"text": rule.help_markdown.strip(), "markdown": rule.help_markdown.strip()}
    return out


def _invocation(report: Report) -> Json:
    notes = [{"level": "warning", "message": {"text": _message(note)}} for note in report.coverage.notes]
    return {"executionSuccessful": not report.incomplete, "toolExecutionNotifications": notes}


def _result(finding: Finding, rule_index: int, report: Report, root: str) -> Json:
    lines = picture_lines(finding.picture, finding.participants)
    picture = [_braced(block(lines, "text"))] if lines else []
    binary = report.targets[0].path if len(report.targets) == 1 else ""
    first, *others = finding.participants or (None,)
    out: Json = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.severity],
        "message": {
            "text": _message(finding.message),
            "markdown": "\n\n".join([_braced(prose(finding.message)), *picture]),
        },
        "partialFingerprints": {FINGERPRINT: finding.id},
        "properties": {
            "severity": finding.severity,
            "confidence": finding.confidence,
            "verdict": finding.verdict,
            "line": msgspec.to_builtins(finding.line),
            "score": finding.score,
            "evidence": [f"{evidence.kind}: {visible(evidence.text)}" for evidence in finding.evidence],
            "remedies": msgspec.to_builtins(finding.remedies),
        },
    }
    if first is not None:
        out["locations"] = [_location(first, binary, root)]
    if others:
        out["relatedLocations"] = [
            {"id": number, **_location(mate, binary, root), "message": {"text": _message(_role(mate))}}
            for number, mate in enumerate(others, 1)
        ]
    return out


def _role(mate: Participant) -> str:
    parts = [f"{mate.full_name} ({mate.role}), bytes {byte_ranges(mate.bytes)} of the line"]
    parts += [f"{verb} {name_list(functions, NAMES_SHOWN, NAME_WIDTH)}" for verb, functions in accesses(mate)]
    return "; ".join(parts)


def _location(participant: Participant, binary: str, root: str) -> Json:
    name = shorten(visible(participant.full_name), NAME_WIDTH)
    logical = {"name": name, "fullyQualifiedName": visible(participant.full_name), "kind": "variable"}
    source = _SOURCE.match(participant.source)
    if source and int(source[2]) > 0:
        physical: Json = {"artifactLocation": _artifact(source[1], root), "region": {"startLine": int(source[2])}}
        return {"physicalLocation": physical, "logicalLocations": [logical]}
    address: Json = {"name": name, "fullyQualifiedName": participant.address, "kind": "data"}
    if int(participant.address, 16) <= MAX_EXACT_INTEGER:
        address["absoluteAddress"] = int(participant.address, 16)
    physical = {"address": address}
    if binary:
        physical["artifactLocation"] = _artifact(binary, root)
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def _artifact(path: str, root: str) -> Json:
    """A URI: relative to SRCROOT where the path is relative or below ``root``, else a file URI."""
    clean = posixpath.normpath(path)
    if root and clean.startswith(root.rstrip("/") + "/"):
        clean = clean[len(root.rstrip("/")) + 1 :]
    uri = quote(clean, errors="surrogatepass", safe="/._-+~")
    if clean.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": ROOT}


def _message(text: str) -> str:
    return _braced(visible(text))


def _braced(text: str) -> str:
    # SARIF 2.1.0, 3.11.5: braces enclose placeholders, so literal ones are doubled.
    return text.replace("{", "{{").replace("}", "}}")
