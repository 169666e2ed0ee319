"""What the source adds to findings about a binary: declarations to the column, accesses by place, locks held there.

Owns the joining by address and identity.  Verdicts stay those of the binary.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from sharing.model.facts import VariableFacts
from sharing.model.finding import Confidence, Evidence, Finding, Participant, Related
from sharing.model.image import AccessKind
from sharing.source.program import Defined, Program
from sharing.source.uses import Use, Uses

MAX_PLACES = 3  # a participant


def annotate(findings: list[Finding], program: Program, addresses: dict[str, int]) -> tuple[list[Finding], int]:
    """The findings with what source says of their participants, and how many participants were found in it.

    ``addresses`` are those of variables in the binary, by identity.
    """
    spans = {addresses[i]: (i, d) for i, d in program.variables.items() if i in addresses}
    starts = sorted(spans)
    uses = Uses(program)
    joined = 0
    out = []
    for finding in findings:
        participants: list[Participant] = []
        related: list[Related] = []
        evidence = list(finding.evidence)
        for participant in finding.participants:
            found = _at(participant, spans, starts)
            if found is None:
                participants.append(participant)
                continue
            joined += 1
            identity, defined = found
            offset = int(participant.address, 16) - addresses[identity]
            own = [u for u in uses.of_variable(identity) if _touches(u, offset, participant)]
            participants.append(
                msgspec.structs.replace(participant, identity=identity, source=_declared(program, defined))
            )
            related += _places(participant.full_name, own)
            evidence += _support(participant.full_name, own)
        out.append(
            msgspec.structs.replace(
                finding, participants=tuple(participants), related=tuple(related), evidence=tuple(evidence)
            )
        )
    return out, joined


def _at(
    participant: Participant, spans: dict[int, tuple[str, Defined[VariableFacts]]], starts: list[int]
) -> tuple[str, Defined[VariableFacts]] | None:
    """The variable that covers the participant's first byte."""
    address = int(participant.address, 16)
    start = max((s for s in starts if s <= address), default=-1)
    if start < 0 or address >= start + max(spans[start][1].facts.size, 1):
        return None
    return spans[start]


def _touches(use: Use, offset: int, participant: Participant) -> bool:
    """Does a use fall within the participant?  Uses at a computed index may, wherever it is."""
    if use.kind is AccessKind.ADDRESS:
        return False
    if use.indexed:
        return use.offset < offset + participant.size
    return use.offset < offset + participant.size and offset < use.offset + max(use.size, 1)


def _declared(program: Program, defined: Defined[VariableFacts]) -> str:
    facts = defined.facts
    return f"{program.path(defined.unit, facts.file)}:{facts.line}:{facts.column}"


def _places(name: str, uses: list[Use]) -> list[Related]:
    """One place a function and verb: locks, then writes, then the deepest loops."""
    found: dict[tuple[str, str], Related] = {}
    for use in sorted(uses, key=lambda u: (not u.locks, not u.writes, -u.loop_depth)):
        verb = "locks" if use.locks else {AccessKind.STORE: "writes", AccessKind.RMW: "updates"}.get(use.kind, "reads")
        found.setdefault((use.function, verb), Related(name, use.function, verb, use.source, use.under))
    return list(found.values())[:MAX_PLACES]


def _support(name: str, uses: list[Use]) -> list[Evidence]:
    """The lock that most accesses are under, as written."""
    plain = [u for u in uses if not u.locks]
    counted = Counter(lock for use in plain for lock in use.under)
    best = counted.most_common(1)
    if not best or 2 * best[0][1] <= len(plain):
        return []
    text = f"{name}: {best[0][1]} of {len(plain)} accesses in source are under {best[0][0]}"
    return [Evidence(Confidence.STATIC, text)]
