"""The report as SARIF 2.1.0 (OASIS), for code scanning services.

Owns the mapping: severity to level, variables to locations, names to fingerprints, edits to fixes.  Line mates
and the accesses that make them busy are related locations.  A variable without a known declaration is located by its
address in the binary, or by name alone where addresses are a model's.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from reports.escape import bytes_in_words, name_list, shorten, visible
from reports.fingerprint import PAIR, fingerprint
from reports.jsontext import encode
from reports.locations import few, held, line_title, position, relative_finding
from reports.markdown import block, picture_lines, prose_with_code
from reports.options import RenderOptions
from reports.order import worst_first
from reports.wording import accesses, target_name, terms
from sharing.model import Finding, Participant, Related, Remedy, Report, Severity, SourceEdit
from sharing.model.finding import MOVES
from sharing.model.rule import RuleInfo

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "linemateFinding/v3"
ROOT = "SRCROOT"
MAX_EXACT_INTEGER = 2**53 - 1  # JSON readers may hold numbers as doubles; larger addresses stay text
NAMES_SHOWN = 3
NAME_WIDTH = 120
ACCESSES_SHOWN = 20

LEVELS = {
    Severity.NOTE: "note",
    Severity.LOW: "note",
    Severity.MEDIUM: "warning",
    Severity.HIGH: "error",
    Severity.CRITICAL: "error",
}

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
        driver["version"] = driver["semanticVersion"] = options.version
    if options.home:
        driver["informationUri"] = options.home
    run: Json = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"linemate/{quote(report.command, safe='')}/"},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the source tree."}}},
        "results": [
            _result(finding, row_of[finding.rule], rules[row_of[finding.rule]], report, options.source_root)
            for finding in findings
        ],
        "columnKind": "unicodeCodePoints",
        "properties": {
            "targets": msgspec.to_builtins(report.targets),
            "counts": report.coverage.counts,
            "suppressed": report.suppressed,
            "hidden": report.hidden,
            "known": report.known,
            "baseline": visible(report.baseline),
        },
    }
    document = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}
    return encode(document)


def _rule(rule: RuleInfo) -> Json:
    out: Json = {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in re.split(r"[^A-Za-z0-9]+", rule.id)),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": _first_paragraph(rule.help_markdown) or rule.summary},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["performance", "cache"]},
    }
    if rule.help_markdown:
        out["help"] = {"text": rule.help_markdown.strip(), "markdown": rule.help_markdown.strip()}
    return out


def _first_paragraph(markdown: str) -> str:
    return " ".join(markdown.strip().partition("\n\n")[0].split())


def _invocation(report: Report) -> Json:
    notes = [{"level": "warning", "message": {"text": _message(note)}} for note in report.coverage.notes]
    return {"executionSuccessful": not report.incomplete, "toolExecutionNotifications": notes}


def _result(finding: Finding, rule_index: int, rule: RuleInfo, report: Report, root: str) -> Json:
    of = finding.target or (target_name(report.targets[0]) if len(report.targets) == 1 else "")
    binary = "" if finding.line.place else next((t.path for t in report.targets if target_name(t) == of), "")
    first, *others = _placed_first(finding.participants) or (None,)
    out: Json = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": LEVELS[finding.severity],
        "message": {
            "text": _message(_headline(finding, rule)),
            "markdown": _details(relative_finding(finding, root)),
        },
        "partialFingerprints": {FINGERPRINT: fingerprint(finding)},
        "properties": {
            "id": visible(finding.id),
            "severity": finding.severity,
            "confidence": finding.confidence,
            "verdict": finding.verdict,
            "line": msgspec.to_builtins(finding.line),
            "target": visible(finding.target),
            "score": finding.score,
            "evidence": [f"{evidence.kind}: {visible(evidence.text)}" for evidence in finding.evidence],
            "remedies": msgspec.to_builtins(finding.remedies),
        },
    }
    if report.baseline:
        out["baselineState"] = "new"
    virtual = bool(finding.line.place)
    if first is not None:
        location = _location(first, binary, root, virtual=virtual)
        if position(first.source) is None:
            # Where the declaration is not known, a place that accesses it is what a person can open.
            access = next((place for one in finding.related if (place := _physical(one.source, root))), None)
            location |= {"physicalLocation": access} if access else {}
        out["locations"] = [location]
    places = [_access(access, root) for access in finding.related if access.verb == MOVES]
    places += [
        {**_location(mate, binary, root, virtual=virtual), "message": {"text": _message(_role(mate))}}
        for mate in others
    ]
    accessing = [access for access in finding.related if access.verb != MOVES]
    places += [_access(access, root) for access in few(accessing, ACCESSES_SHOWN)]
    if places:
        out["relatedLocations"] = [{"id": number, **place} for number, place in enumerate(places, 1)]
    fixes = [_fix(remedy, root) for remedy in finding.remedies if remedy.edits]
    if fixes:
        out["fixes"] = fixes
    return out


def _placed_first(participants: Sequence[Participant]) -> list[Participant]:
    """In their order, but that one whose declaration is known comes first: hosts show the first place alone."""
    known = next((who for who in participants if position(who.source) is not None), None)
    return [*([known] if known else []), *(who for who in participants if who is not known)]


def _headline(finding: Finding, rule: RuleInfo) -> str:
    """What a list of results has room for: the names, what is wrong with them, and on which line."""
    names = " and ".join(shorten(visible(who.full_name), NAME_WIDTH) for who in finding.participants[:PAIR])
    if not names or rule.summary == rule.id:
        return finding.message
    summary = rule.summary.rstrip(".")
    moved = next((f"{about.function} moved {about.name}: " for about in finding.related if about.verb == MOVES), "")
    return f"{moved}{names}: {summary[:1].lower()}{summary[1:]} ({line_title(finding.line)})"


def _details(finding: Finding) -> str:
    """The whole message, the evidence, the first remedy and the picture."""
    parts = [prose_with_code(finding.message)]
    parts.append(
        "\n".join(f"- {evidence.kind.value}: {prose_with_code(evidence.text)}" for evidence in finding.evidence)
    )
    parts += [f"**Do:** {prose_with_code(remedy.text)} ({terms(remedy)})" for remedy in finding.remedies[:1]]
    lines = picture_lines(finding)
    parts += [block(lines, "text")] if lines else []
    return _braced("\n\n".join(part for part in parts if part))


def _role(mate: Participant) -> str:
    on_line = bytes_in_words(mate.bytes)
    where = f"{on_line} of the line" if on_line else f"on another line, at {mate.address}"
    parts = [f"{mate.full_name} ({mate.role}), {where}"]
    parts += [f"{verb} {name_list(functions, NAMES_SHOWN, NAME_WIDTH)}" for verb, functions in accesses(mate)]
    return "; ".join(parts)


def _access(access: Related, root: str) -> Json:
    function = shorten(visible(access.function), NAME_WIDTH)
    locks = held(access)
    under = f" under {name_list(locks, NAMES_SHOWN, NAME_WIDTH)}" if locks else ""
    kind = "variable" if access.verb == MOVES else "function"
    out: Json = {
        "logicalLocations": [
            {"name": function, "fullyQualifiedName": visible(access.function), "kind": kind},
        ],
        "message": {"text": _message(f"{function} {access.verb} {shorten(access.name, NAME_WIDTH)}{under}")},
    }
    physical = _physical(access.source, root)
    if physical:
        out["physicalLocation"] = physical
    return out


def _fix(remedy: Remedy, root: str) -> Json:
    changes: dict[str, list[Json]] = {}
    for edit in sorted(remedy.edits, key=lambda edit: (edit.file, edit.begin)):
        replacement = {"deletedRegion": _deleted(edit), "insertedContent": {"text": _encodable(edit.replacement)}}
        changes.setdefault(edit.file, []).append(replacement)
    return {
        "description": {"text": _message(f"{remedy.text} ({terms(remedy)})")},
        "artifactChanges": [
            {"artifactLocation": _artifact(path, root), "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }


def _deleted(edit: SourceEdit) -> Json:
    """Lines and columns where they are known, which every reader of SARIF takes, else bytes."""
    if min(edit.line, edit.column, edit.end_line, edit.end_column) > 0:
        return {
            "startLine": edit.line,
            "startColumn": edit.column,
            "endLine": edit.end_line,
            "endColumn": edit.end_column,
        }
    return {"byteOffset": edit.begin, "byteLength": edit.end - edit.begin}


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _location(participant: Participant, binary: str, root: str, *, virtual: bool) -> Json:
    name = shorten(visible(participant.full_name), NAME_WIDTH)
    logical = {"name": name, "fullyQualifiedName": visible(participant.full_name), "kind": "variable"}
    out: Json = {"logicalLocations": [logical]}
    physical = _physical(participant.source, root)
    if physical:
        return {"physicalLocation": physical, **out}
    if virtual:
        return out
    address: Json = {"name": name, "fullyQualifiedName": participant.address, "kind": "data"}
    if int(participant.address, 16) <= MAX_EXACT_INTEGER:
        address["absoluteAddress"] = int(participant.address, 16)
    physical = {"address": address}
    if binary:
        # Hosts refuse a result without a region, and a binary has no lines: its first one, where the file is opened.
        physical |= {"artifactLocation": _artifact(binary, root), "region": {"startLine": 1}}
    return {"physicalLocation": physical, **out}


def _physical(source: str, root: str) -> Json:
    """The place in source, empty where it is not known."""
    place = position(source)
    if place is None:
        return {}
    region = {"startLine": place.line}
    if place.column:
        region["startColumn"] = place.column
    return {"artifactLocation": _artifact(place.path, root), "region": region}


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
