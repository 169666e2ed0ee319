"""What brought a finding about: the variable that the change added, removed or resized, and that moved the pair.

Owns the choice of the cause for a finding and its words.  What moved is ``sharing.explain``'s.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sharing.model.comparison import Cause, CauseKind, Comparison, LineMates
from sharing.model.finding import MOVES, Finding, Related
from sharing.model.plural import count

_INTO_VARIABLE = (".", "+", "[")


def attributed(findings: Sequence[Finding], found: Comparison) -> tuple[Finding, ...]:
    """The findings; of each whose pair met by a known cause the message begins with it, and it is related first."""
    causes = [c for c in found.causes if c.kind is CauseKind.LAYOUT and not c.improves and c.symbols]
    return tuple(_with_cause(finding, causes, found) for finding in findings)


def _with_cause(finding: Finding, causes: Sequence[Cause], found: Comparison) -> Finding:
    cause = next((c for c in causes if any(_met(finding, mates) for mates in c.new_line_mates)), None)
    if cause is None:
        return finding
    name = cause.symbols[0]
    change = next((change for change in found.changes if change.name == name), None)
    about = ""
    if change is not None:
        grown = change.new_size - change.old_size
        about = f" ({change.kind.value}, {grown:+,} bytes)" if grown else f" ({change.kind.value})"
    others = f" and {count(len(cause.symbols) - 1, 'other symbol')}" if len(cause.symbols) > 1 else ""
    moved = next(
        (
            m
            for m in cause.moved
            if m.shift not in ("0x0", "-0x0") and any(_names(who.name, m.name) for who in finding.participants)
        ),
        None,
    )
    what = f"moved {moved.name} by {moved.shift}" if moved is not None else "brought them together"
    own = any(_names(who.name, name) for who in finding.participants)
    since = f"since the base, {name}{about}{others} {what}" if not own else f"since the base, {name} changed{about}"
    subject = moved.name if moved is not None else finding.participants[0].full_name
    place = (Related(subject, name, MOVES, change.source),) if change is not None and change.source and not own else ()
    return msgspec.structs.replace(finding, message=f"{since}: {finding.message}", related=(*place, *finding.related))


def _met(finding: Finding, mates: LineMates) -> bool:
    """Are the two what the finding is about, and did they come together?"""
    variables = [who.name for who in finding.participants]
    return (
        not mates.stayed
        and mates.line == finding.line.address
        and all(any(_names(variable, mate) for variable in variables) for mate in (mates.first, mates.second))
    )


def _names(variable: str, mate: str) -> bool:
    """Whether ``mate`` is the variable or a part of it."""
    return mate == variable or (mate.startswith(variable) and mate[len(variable) :].startswith(_INTO_VARIABLE))
