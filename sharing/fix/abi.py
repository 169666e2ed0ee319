"""Whether code that is built apart from a program may rely on what an edit changes: the size or layout of what it sees.

Owns that judgement of source.  Of linked files it is ``sharing.judge.remedies``'.
"""

from __future__ import annotations

import re

from sharing.fix.plan import Planner
from sharing.model.facts import RecordFacts, VariableBits, VariableFacts

_HEADER = re.compile(r"\.(h|hh|hpp|hxx|h\+\+|inc|inl|ipp|tcc)$")
_OUTSIDE = "whatever includes {} has to be compiled again, files that were not analysed too"


def is_header(path: str) -> bool:
    """Is the file one that others include?"""
    return bool(_HEADER.search(path))


def outside(path: str) -> tuple[str, ...]:
    """What to know of an edit in a header."""
    return (_OUTSIDE.format(path),) if is_header(path) else ()


def variable_is_seen(planner: Planner, facts: VariableFacts, declaring: list[str]) -> bool:
    """May code that is built apart use the variable by its size?  ``declaring`` are the files that declare it.

    A header tells others of it.  Without one a name that a library exports is enough for whoever declares it.
    """
    if facts.bits & VariableBits.INTERNAL:
        return False
    return any(map(is_header, declaring)) or _is_exported(planner, facts.identity)


def record_is_seen(planner: Planner, facts: RecordFacts, path: str) -> bool:
    """May code that is built apart know the type, which ``path`` defines, or a variable that holds one?"""
    variables = (
        planner.program.variables.get(user) for key in planner.around(facts.key) for user in planner.users(key)
    )
    return is_header(path) or any(
        not known.facts.bits & VariableBits.INTERNAL and _is_exported(planner, known.facts.identity)
        for known in variables
        if known is not None
    )


def _is_exported(planner: Planner, identity: str) -> bool:
    """May the file that the variable is linked into be a library, which exports every name that it does not hide?

    Facts know no visibility.  An executable exports nothing: what a plugin uses of it, linked with ``-rdynamic``, has a
    header.
    """
    for main, part in planner.executables:
        known = part.variables.get(identity)
        if known is None or not planner.has(known.unit):  # another program's of the same name
            continue
        options = planner.program.units[known.unit].options
        if not main or (options.pic and not options.pie):
            return True
    return False
