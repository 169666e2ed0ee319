"""What else is new on the line of a new finding: each other pair in a sentence, as ``check`` of one revision has it.

Owns the sentences for findings that are not shown because one on their line is worse, and which of them are said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from reports.fingerprint import PAIR
from sharing.judge.mates import MAX_ALSO
from sharing.model.finding import ALSO, OF_MEETING, Confidence, Evidence, Finding, Participant, Severity
from sharing.model.plural import named
from sharing.model.profile import Role

_READ = frozenset((Role.READ_MOSTLY.value, Role.CONSTANT.value))
MAX_FUNCTIONS = 3  # of a sentence, as in that of the finding


def telling(finding: Finding, others: Sequence[Finding], least: Severity) -> Finding:
    """The finding with a sentence for each of the worst ``others`` of its line, from ``least`` on and above a note.

    What a lock of the line guards is left out, as the lock stands for it.
    """
    worth = [
        one
        for one in others
        if one.severity.rank >= max(least.rank, Severity.LOW.rank)
        and one.verdict in OF_MEETING
        and len(one.participants) >= PAIR
        and not _under_another(one, finding)
    ]
    worth.sort(key=lambda one: -one.severity.rank)
    said = tuple(Evidence(Confidence.STATIC, _sentence(one)) for one in worth[: MAX_ALSO - len(finding.also)])
    return msgspec.structs.replace(finding, evidence=(*finding.evidence, *said)) if said else finding


def _sentence(one: Finding) -> str:
    first, second = one.participants[:PAIR]
    pair = f"{_called(one, first)}, {_use(first)}, meets {_called(one, second)}, {_use(second)}"
    return f"{ALSO}{one.severity.value}: {pair}"


def _called(finding: Finding, who: Participant) -> str:
    """Its name and what it is for, in the words of its own finding."""
    found = re.search(rf"(?<![\w.]){re.escape(who.full_name)} \(([^()]+)\)", finding.message)
    return f"{who.full_name} ({found[1] if found else who.role})"


def _use(who: Participant) -> str:
    writers = () if who.role in _READ else who.writers  # those of what is hardly ever written do not disturb it
    uses = (("taken", who.lockers), ("written", writers), ("read", who.readers), ("written", who.writers))
    said = next((f"{verb} by {named(functions, MAX_FUNCTIONS)}" for verb, functions in uses if functions), "")
    return said or "used by no known function"


def _under_another(one: Finding, shown: Finding) -> bool:
    """Do both lie beside a lock, of the finding that is shown, which guards one of them?"""
    pair = {who.full_name for who in one.participants[:PAIR]}
    locks = {who.full_name for who in shown.participants if who.lockers} - pair
    return any(evidence.text.endswith(f"accesses under {lock}") for evidence in one.evidence for lock in locks)
