"""A program judged from its source and, where it is at hand, from the linked code.

Owns the joining of the two reports: which severity counts, and which findings only the code shows.  Judging either is
``linemate.pipeline``'s, what of it is new ``linemate.baseline``'s.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

import msgspec

from elfscan.fileformat.elf import map_file
from elfscan.image import read_images
from linemate.filestamp import stamp
from linemate.options import AuditOptions, CheckOptions
from reports.fingerprint import PAIR, fingerprint
from sharing.explain.same import loaded_digest
from sharing.model.finding import Evidence, Finding, Report, Severity
from sharing.rules.line.table import OF_WHOLE_ARRAYS

if TYPE_CHECKING:
    from pathlib import Path

    from sharing.model.image import Image
    from sharing.source.program import Program

_NAMED = 3  # variables in the note of an old program
LISTED = Severity.MEDIUM  # from here on what only the linked program shows is a finding of a check


def check_built(program: Program, options: CheckOptions) -> Report:
    """The report of the source, with ``options.binary`` joined with an audit of it.

    Raises LinemateError where the linked program cannot be audited.
    """
    from linemate.pipeline import check_program
    from sharing.judge.declarations import said_once

    if not options.binary:
        return check_program(program, options)
    report = check_program(program, dataclasses.replace(options, min_severity=Severity.NOTE))
    wanted = AuditOptions(
        binary=options.binary,
        line_size=options.line_size,
        min_confidence=options.min_confidence,
        min_severity=Severity.NOTE,
        rules=options.rules,
        symbols=options.symbols,
        project=options.project,
        assume_threads=options.assume_threads,
        every_pair=options.every_pair,
        heat=options.heat,
        newcomers=options.newcomers,
    )
    code = _audited(_Asked(f"{wanted} {stamp(options.binary)}", wanted)).findings
    both = joined(report.findings, code, every_pair=options.every_pair)
    findings = said_once(declared(both, report.findings, program))
    shown = [finding for finding in findings if finding.severity.rank >= options.min_severity.rank]
    return msgspec.structs.replace(report, findings=tuple(shown), hidden=report.hidden + len(findings) - len(shown))


def with_age(
    report: Report, options: CheckOptions, program: Program, base: Program | None = None, built: Path | None = None
) -> Report:
    """The report, incomplete where the linked program was made of other sources: of before the change, mostly.

    ``base`` is the program of the sources that the report was compared with, ``built`` what was linked of them.
    """
    if not options.binary or not program.units:
        return report
    from linemate.checking.debugnames import may_name
    from sharing.source.outdated import outdated
    from sharing.source.stalestatics import stale_statics

    def is_older(path: str) -> bool:
        try:
            return os.stat(options.binary).st_mtime_ns < os.stat(path).st_mtime_ns
        except OSError:
            return False

    linked = next(read_images(options.binary, types=False, access=False), None)
    old = next(read_images(str(built), types=False, access=False), None) if built is not None else None

    @cache
    def loads_as_base() -> bool:
        return old is not None and linked is not None and _loaded(old) == _loaded(linked)

    found = outdated(linked, program, base, is_older, loads_as_base) if linked is not None else []
    if not found and linked is not None and old is not None and base is not None and loads_as_base():
        found = stale_statics(linked, old, program, base, partial(may_name, linked, old))
    if not found:
        return report
    more = f" (and {len(found) - _NAMED:,} more)" if len(found) > _NAMED else ""
    note = f"{options.binary} was not built of these sources (before the change?): it {', '.join(found[:_NAMED])}{more}"
    coverage = msgspec.structs.replace(report.coverage, notes=(note, *report.coverage.notes))
    return msgspec.structs.replace(report, coverage=coverage, incomplete=True)


def _loaded(image: Image) -> str:
    return loaded_digest(image, map_file(image.path))


@dataclass(frozen=True, slots=True)
class _Asked:
    """An audit by what makes its answer: ``key`` stands for the options and the file as it was written."""

    key: str
    options: AuditOptions = field(compare=False)


@lru_cache(maxsize=2)
def _audited(asked: _Asked) -> Report:
    """Kept, since a comparison and ``--watch`` ask for the same program again."""
    from linemate.pipeline import audit

    return audit(asked.options, lambda how_far: None)


def joined(source: tuple[Finding, ...], linked: tuple[Finding, ...], *, every_pair: bool = False) -> list[Finding]:
    """The worst first: findings of source, each at the severity that either side gives it, and those of code alone.

    A line is fetched as often as the code says; what source alone is known by, its places, stays.  Of two findings
    about one thing the worse is kept; where ``every_pair`` stands for itself, of two about one pair.
    """
    code: dict[str, Finding] = {}
    for finding in linked:
        known = code.get(fingerprint(finding))
        if known is None or known.severity.rank < finding.severity.rank:
            code[fingerprint(finding)] = finding
    kept = [_with_code(finding, code.pop(fingerprint(finding), None)) for finding in source]
    for finding in code.values():
        if finding.severity.rank < LISTED.rank:
            continue
        same = [one for one in kept if _about_the_same(one, finding, every_pair=every_pair)]
        if all(one.severity.rank < finding.severity.rank for one in same):
            kept = [one for one in kept if one not in same] + [finding]
    return sorted(kept, key=lambda finding: -finding.severity.rank)


def declared(findings: list[Finding], source: tuple[Finding, ...], program: Program) -> list[Finding]:
    """The findings, those of code alone on what source declares where debug information says, so that it is edited."""
    from sharing.fix.seen import in_source

    known = {finding.id for finding in source}
    return [one if one.id in known else in_source(one, program) or one for one in findings]


def _with_code(finding: Finding, code: Finding | None) -> Finding:
    """At the higher severity of the two, where they are known equally well; that an audit says another is evidence."""
    if code is None or code.severity is finding.severity or code.confidence.rank < finding.confidence.rank:
        return finding
    why = f"{code.severity} by the linked code, {finding.severity} by the source: the higher counts"
    if code.severity.rank > finding.severity.rank:
        why = f"{why}; {code.message}"
    severity = max(code.severity, finding.severity, key=lambda severity: severity.rank)
    return msgspec.structs.replace(
        finding, severity=severity, evidence=(Evidence(code.confidence, why), *finding.evidence)
    )


def _about_the_same(one: Finding, other: Finding, *, every_pair: bool) -> bool:
    """On one line, the same pair, or by the same rule one thing with the same other or with another, or one array."""
    if one.line.address != other.line.address:
        return False
    if one.rule == other.rule and one.rule in OF_WHOLE_ARRAYS:
        return one.participants[0].array == other.participants[0].array
    sides = [{who.full_name for who in finding.participants[:PAIR]} for finding in (one, other)]
    alike = not every_pair and one.rule == other.rule
    return sides[0] == sides[1] or (alike and not sides[0].isdisjoint(sides[1]))
