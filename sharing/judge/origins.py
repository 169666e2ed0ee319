"""What the source adds to findings about a binary: declarations to the column, accesses by place, locks held there.

Owns the joining by address.  Verdicts stay those of the binary.
"""

from __future__ import annotations

import msgspec

from sharing.judge.findings import guard_evidence, related
from sharing.judge.static import Judgement
from sharing.model.finding import Confidence, Evidence, Finding, Participant, Related


def annotate(findings: tuple[Finding, ...], source: Judgement) -> tuple[list[Finding], int]:
    """The findings with what source says of their participants, and how many participants were found in it.

    ``source`` is the judgement of the program's facts at the addresses of the same binary.
    """
    joined = 0
    out = []
    for finding in findings:
        participants: list[Participant] = []
        places: list[Related] = []
        evidence = list(finding.evidence)
        for participant in finding.participants:
            actors = source.actors(int(participant.address, 16), max(participant.size, 1))
            if not actors:
                participants.append(participant)
                continue
            joined += 1
            first = actors[0]
            participants.append(
                msgspec.structs.replace(participant, identity=first.identity, source=first.source or participant.source)
            )
            places += [p for actor in actors[:2] for p in related(actor)]
            evidence += [Evidence(Confidence.STATIC, f"in source, {text}") for text in guard_evidence(actors[:2])]
        out.append(
            msgspec.structs.replace(
                finding,
                participants=tuple(participants),
                related=tuple(dict.fromkeys(places)),
                evidence=tuple(evidence),
            )
        )
    return out, joined
