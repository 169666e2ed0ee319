"""Findings of a profile on source: which record or variable of a program each participant is declared by.

Owns the match of names and places in debug information with those of facts.  Both have to fit: a line of source may
have moved since the profile's program was built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from sharing.fix.plan import last_name
from sharing.model.facts import RecordFacts, VariableFacts
from sharing.model.finding import Finding, Participant
from sharing.source.program import Program

_ARGUMENTS = re.compile(r"<.*>|\(.*\)")  # of templates, and of functions
_KEYWORD = re.compile(r"^(struct|union|class) ")


def in_source(finding: Finding, program: Program) -> Finding | None:
    """The finding with the identities that its participants have in source, None where none of them is known."""
    who = tuple(_declared(one, program) for one in finding.participants)
    return msgspec.structs.replace(finding, participants=who) if any(one.identity for one in who) else None


def _declared(who: Participant, program: Program) -> Participant:
    if who.identity and (who.identity in program.variables or who.identity in program.records):
        return who
    found = dict(_candidates(who, program)) if who.source else {}
    if len(found) != 1:
        return msgspec.structs.replace(who, identity="")
    ((identity, name),) = found.items()
    if identity in program.variables:
        return msgspec.structs.replace(who, identity=identity)
    # Which of several objects it was is no matter of source: hits of stats[1] is stats.hits.
    inner = re.sub(r"^\[\d*\]", "", _KEYWORD.sub("", who.full_name)[len(name) :])
    return msgspec.structs.replace(who, identity=identity, name=f"{name}{inner}", member="")


def _candidates(who: Participant, program: Program) -> Iterator[tuple[str, str]]:
    """(identity, name) of what is declared where the participant is, under the beginning of its name."""
    file, _, line = who.source.rpartition(":")
    called = _KEYWORD.sub("", who.full_name)
    for table in (program.variables, program.records):
        for identity, known in table.items():
            facts = known.facts
            if str(facts.line) != line or facts.file < 0 or not _begins(called, facts):
                continue
            if _same_file(file, program.path(known.unit, facts.file)):
                yield identity, facts.name


def _begins(called: str, facts: VariableFacts | RecordFacts) -> bool:
    if isinstance(facts, VariableFacts):
        return name_end(facts, called) >= 0
    name = facts.name
    return bool(name) and called.startswith(name) and called[len(name) : len(name) + 1] in ("", ".", "[", "+")


def name_end(facts: VariableFacts, name: str) -> int:
    """Where the variable's own name ends in a report's name of it or of something in it, -1 where it is another's.

    Of a static of a function a report says the function in front, and a binary what is around that as well.
    """
    owner = f"{facts.scope}::{facts.name}" if facts.scope else facts.name
    if facts.name and name.startswith(owner) and name[len(owner) : len(owner) + 1] in ("", ".", "[", "+"):
        return len(owner)
    if not facts.scope:
        return -1
    plain = _ARGUMENTS.sub(lambda part: "x" * len(part[0]), name)
    found = re.search(rf"(?:^|::){re.escape(last_name(facts.name))}(?:\.\d+)?(?=[.\[+]|$)", plain)
    return found.end() if found else -1


def _same_file(a: str, b: str) -> bool:
    """One path may begin where the compiler ran."""
    short, long = sorted((a.removeprefix("./"), b.removeprefix("./")), key=len)
    return long == short or (not short.startswith("/") and long.endswith(f"/{short}"))
