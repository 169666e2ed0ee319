"""What a change may have moved without a trace in its sources: pairs that meet by where their unit's part starts.

Owns the note that says so.  Whether they moved is known of linked programs alone.
"""

from __future__ import annotations

from sharing.basics.sourcepath import shortened
from sharing.judge.positions import if_they_meet, meets_at_some
from sharing.model.facts import Init, VariableBits, VariableFacts
from sharing.model.finding import UNDECIDED, Finding, Report, Severity
from sharing.source.program import Defined, Program

_ELSEWHERE = VariableBits.DECLARED_ONLY | VariableBits.THREAD | VariableBits.CONSTANT | VariableBits.INLINE


def moved_by_others(report: Report, program: Program, base: Program, least: Severity) -> tuple[str, ...]:
    """A note for the worst pair that meets by where its part starts, where the change shifts what lies in front, or by
    how far the parts of two units are apart, where it shifts anything there.

    ``report`` has all findings, of which those from ``least`` on count; ``base`` is the program of the base.
    """
    changes = _changes(program, base)
    for finding in sorted(report.findings, key=lambda one: -one.severity.rank) if changes else ():
        first = program.variables.get(finding.participants[0].identity)
        across = if_they_meet(finding)
        worst = across or finding.severity
        if first is None or worst.rank < least.rank or (across is None and not meets_at_some(finding)):
            continue
        section = _section(first)
        for (file, unit, where), said in changes.items():
            if where == section and (across is not None or unit != program.units[first.unit].path):
                return (_note(finding, section, file, said, across=across is not None),)
    return ()


def _note(finding: Finding, section: str, file: str, said: str, *, across: bool) -> str:
    names = " and ".join(who.full_name for who in finding.participants[:2])
    how = "by where the linker puts the parts of their files" if across else "by where their file's part starts"
    return (
        f"{UNDECIDED}{file} {said}, which may have moved what the linker puts behind it in {section}: {names} share a "
        f"line or not {how}, which sources do not tell; --binary FILE with --build COMMAND "
        f"compares the linked programs"
    )


def _changes(program: Program, base: Program) -> dict[tuple[str, str, str], str]:
    """What the change does to variables by (file in short, unit, section), of each the first in words."""
    found: dict[tuple[str, str, str], str] = {}
    for identity in [*program.variables, *(one for one in base.variables if one not in program.variables)]:
        now, was = program.variables.get(identity), base.variables.get(identity)
        one, of = (now, program) if now is not None else (was, base)
        size, before = _bytes(now), _bytes(was)
        if one is None or size == before:
            continue
        unit = of.units[one.unit]
        key = (shortened(unit.path, (unit.directory,)), unit.path, _section(one))
        verb = "resizes" if size and before else "adds" if size else "removes"
        found.setdefault(key, f"{verb} {one.facts.name} ({size - before:+,} bytes)")
    return found


def _bytes(variable: Defined[VariableFacts] | None) -> int:
    """What it takes of its unit's part of .bss or .data."""
    if variable is None or variable.facts.bits & _ELSEWHERE or variable.facts.section:
        return 0
    return max(variable.facts.size, 0)


def _section(variable: Defined[VariableFacts]) -> str:
    return ".bss" if variable.facts.init in (Init.ZERO, Init.DYNAMIC) else ".data"
