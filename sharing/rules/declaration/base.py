"""What rules that speak from declarations are made of: their context and their result.

Owns no pattern of its own.  Such a rule is a pure function from a program to drafts; ``sharing.judge.declarations``
runs them and makes findings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sharing.basics.geometry import round_up
from sharing.knowledge import Knowledge
from sharing.model.finding import Related, Remedy, Severity, Verdict
from sharing.model.image import AccessKind
from sharing.model.plural import named
from sharing.model.profile import Heat
from sharing.rules.row import Rule
from sharing.source.program import Program
from sharing.source.uses import Use, Uses


def no_heat(name: str, offset: int) -> Heat:
    """Nothing is known of how busy a variable or record is."""
    return Heat.COLD


def no_meeting(name: str, offset: int, size: int) -> bool:
    """No threads are known to meet in bytes of a variable."""
    return False


def no_threads(name: str, offset: int) -> bool:
    """No thread is known to change a variable or record."""
    return False


def unknown_users(name: str, offset: int, size: int) -> bool:
    """The threads that use bytes of a variable are not all known."""
    return False


def perhaps_busy(name: str, offset: int, function: str) -> bool:
    """Of no function is it known that it uses a byte only while no threads work."""
    return False


def seldom(function: str) -> bool:
    """No function is known to run often."""
    return False


@dataclass(frozen=True, slots=True)
class SourceContext:
    """What rules may know besides the program.

    ``line_size`` and ``pair_size`` in bytes; ``heat`` of a byte offset in a variable (by identity) or a record (by
    key), ``contested`` whether threads surely meet in bytes (offset, size) of a variable, often, ``alone`` whether
    all threads that use bytes (offset, size) of one are known, and no two of them run at once when one changes it,
    ``changed_by_threads`` whether threads of which several run at once write it under no lock, ``changed_at_once``
    whether any threads do, main as well, ``often`` whether such threads run a function (by symbol) often, ``idle``
    whether a function (by name) is known to use the byte only while no threads work, as when it sets it up.
    ``macro`` is the project's own alignment macro, "" none.
    """

    line_size: int
    pair_size: int
    knowledge: Knowledge
    uses: Uses
    heat: Callable[[str, int], Heat] = no_heat
    contested: Callable[[str, int, int], bool] = no_meeting
    alone: Callable[[str, int, int], bool] = unknown_users
    changed_by_threads: Callable[[str, int], bool] = no_threads
    changed_at_once: Callable[[str, int], bool] = no_threads
    often: Callable[[str], bool] = seldom
    idle: Callable[[str, int, str], bool] = perhaps_busy
    macro: str = ""


@dataclass(frozen=True, slots=True)
class SourceParticipant:
    """One variable, record or member.  ``at`` is where it starts, in bytes from the start of the object that is judged.

    ``source`` is file:line:column; ``identity`` joins it with facts: a variable's identity or a record's key.
    """

    name: str
    at: int
    size: int
    role: str
    source: str
    identity: str
    type: str = ""
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceDraft:
    """A finding before it is worded for a report: ``participants`` are in order of blame, the first is located.

    ``line_at`` is the first byte of the line that is judged, from the start of the object.
    """

    rule: str
    severity: Severity
    verdict: Verdict
    participants: tuple[SourceParticipant, ...]
    message: str
    evidence: tuple[str, ...]
    remedies: tuple[Remedy, ...]
    line_at: int = 0
    score: float = 0.0
    related: tuple[Related, ...] = field(default=())


Check = Callable[[Program, SourceContext], Iterator[SourceDraft]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarationRule(Rule):
    """A rule on a whole program as source states it.

    ``said_by`` are ids of line rules: what one of these says of a variable, with its victim, need not be said without.
    """

    check: Check
    said_by: frozenset[str] = frozenset()


def raised(severity: Severity, heat: Heat) -> Severity:
    """What is seen to be busy counts one step more."""
    return severity.raised() if heat is Heat.HOT else severity


def users(uses: tuple[Use, ...], limit: int = 3) -> str:
    """Names of the functions that use it: "a, b, c and 4 more"."""
    functions = list(dict.fromkeys(u.function for u in uses))
    if not functions:
        return "no known function"
    return named(functions, limit)


def related(name: str, uses: tuple[Use, ...], limit: int = 6) -> tuple[Related, ...]:
    """The uses as places, one a function and verb."""
    found: dict[tuple[str, str], Related] = {}
    for use in uses:
        verb = "locks" if use.locks else {AccessKind.STORE: "writes", AccessKind.RMW: "updates"}.get(use.kind, "reads")
        if use.kind is not AccessKind.ADDRESS and use.source:
            found.setdefault((use.function, verb), Related(name, use.function, verb, use.source, use.under))
    return tuple(found.values())[:limit]


def rounded(size: int, line_size: int) -> int:
    """The next multiple of a line."""
    return round_up(max(size, 1), line_size)


def type_attribute(language: str, ctx: SourceContext) -> str:
    """What gives a struct the alignment of a line: behind the keyword in C++, behind the closing brace in C."""
    if ctx.macro:
        return ctx.macro
    return f"alignas({ctx.line_size})" if language == "C++" else f"__attribute__((aligned({ctx.line_size})))"


def wrapper(name: str, type_text: str, language: str, ctx: SourceContext, *, storage: str | None = None) -> str:
    """A type that holds one value and fills its lines; with ``storage`` ("" or "static") the variable that has it."""
    attribute = type_attribute(language, ctx)
    if language == "C++":
        edit, tag = f"struct {attribute} Line_{name} {{ {_member(type_text)}; }};", f"Line_{name}"
    else:
        edit, tag = f"struct line_{name} {{ {_member(type_text)}; }} {attribute};", f"struct line_{name}"
    return edit if storage is None else f"{edit}\n{storage}{' ' if storage else ''}{tag} {name};"


def _member(type_text: str) -> str:
    """A member called ``value`` of a type as it is written: ``long value[8]``, ``void (*value)(int)``."""
    if "(*)" in type_text:
        return type_text.replace("(*)", "(*value)", 1)
    kind, bounds = re.fullmatch(r"(.*?)\s*((?:\[[^\]]*\])*)", type_text, re.S).groups()  # type: ignore[union-attr]
    return f"{kind}{'' if kind.endswith(('*', '&')) else ' '}value{bounds}"


def aligned_record(name: str, language: str, ctx: SourceContext) -> str:
    """The definition of a record with the alignment on it, its members left as they are."""
    attribute = type_attribute(language, ctx)
    if language == "C++":
        return f"struct {attribute} {name} {{\n    // its members as they are\n}};"
    return f"struct {name} {{\n    /* its members as they are */\n}} {attribute};"
