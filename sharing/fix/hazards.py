"""Code whose meaning depends on the size of a type: what an edit of a layout must not change in silence.

Owns the search for places that compare, store, send or digest an object's bytes, that count on its size in an
assertion, or that make room for it by a number of bytes.  By tokens, but for allocations: what is not called by a
telling name, or takes its size through a template, is not found.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sharing.fix.plan import Planner, last_name
from sharing.fix.style import is_system
from sharing.fix.tokens import Kind, Refused, Source, Token, matching
from sharing.model.facts import RecordFacts, TypeTree
from sharing.source.declarations import stripped

# memcmp, fread, pwrite, sendto, crc32, XXH64_hash, digest_update, serialize, mmap; not thread_create.
_TAKES_BYTES = re.compile(
    rb"cmp|write|(?<!th)(?<!sp)read|send|recv|hash|crc|checksum|digest|dump|serial|mmap|md5|sha\d|xxh", re.IGNORECASE
)
_ASSERTS = re.compile(rb"static_assert|build_bug_on|build_assert|compile_time_assert|compiletime_assert", re.IGNORECASE)
_AROUND = frozenset((b"*", b"&", b"&&", b"const", b"volatile", b"restrict", b"__restrict"))


class LargerBreaks(Refused):
    """Something counts on the size that objects of a record have: who edits it by hand has to know."""


def refuse_larger(planner: Planner, facts: RecordFacts) -> None:
    """Raise ``LargerBreaks`` where something counts on the size that objects of the record have."""
    place = planner.numbered(facts.key)
    if place:
        raise LargerBreaks(
            f"{place} allocates it by a number of bytes, which would be too few: ask for its sizeof there first"
        )
    union = planner.union_around(facts.key)
    if union:
        raise LargerBreaks(f"the union {union} gives its bytes other meanings too")
    taken = bytes_used(planner, facts)
    if taken:
        raise LargerBreaks(f"{taken} would see its new size")


def bytes_used(planner: Planner, facts: RecordFacts) -> str:
    """``file:line takes the bytes of NAME`` where the bytes of the record, or of one around it, are used; "" none."""
    program = planner.program
    keys = planner.around(facts.key)
    records = [program.records[key] for key in keys if key in program.records]
    types = {last_name(record.facts.name).encode("utf-8", "surrogateescape") for record in records} - {b""}
    objects = {
        last_name(variable.facts.name).encode("utf-8", "surrogateescape")
        for known in (program.variables, program.declared)
        for variable in known.values()
        if _key_of(planner, variable.facts.type, variable.unit) in keys
    }
    for record in program.records.values():
        for member in record.facts.members:
            if member.name and _key_of(planner, member.type, record.unit) in keys:
                objects.add(member.name.encode("utf-8", "surrogateescape"))
    homes = {program.path(record.unit, record.facts.file) for record in records if record.facts.file >= 0}
    files = {path: None for unit in program.units if homes.intersection(unit.files) for path in unit.files}
    for path in files:
        if is_system(path):
            continue
        try:
            source = planner.files.source(path)
            if b"sizeof" not in source.words or source.words.isdisjoint(types | objects):
                continue
            if b"sizeof" in source.names and not source.names.isdisjoint(types | objects):
                found = _in_file(source, frozenset(types), frozenset(objects))
                if found is not None:
                    call, name = found
                    line = source.position(call.begin)[0]
                    return (
                        f"{path}:{line} passes the bytes of {name.decode('utf-8', 'replace')} to {_shown(call)}, which"
                    )
        except Refused:
            continue  # generated and gone, or not ours to read
    return ""


def _shown(call: Token) -> str:
    return call.text.decode("utf-8", "replace")


def _key_of(planner: Planner, tree: TypeTree, unit: int) -> str:
    core = stripped(tree)
    while core.inner is not None:
        core = stripped(core.inner)
    record = planner.record_of(core, unit)
    return record.facts.key if record is not None else ""


def _in_file(source: Source, types: frozenset[bytes], objects: frozenset[bytes]) -> tuple[Token, bytes] | None:
    """The first call that takes the size of one of them, and what it takes the size of."""
    bodies = [source.code, *(source.within(d) for d in source.directives if b"sizeof" in d.text)]
    local = objects | frozenset(_declared(source.code, types))
    for code in bodies:
        around: list[int] = []  # of the open parentheses
        for at, token in enumerate(code):
            if token.text == b"(":
                around.append(at)
            elif token.text == b")" and around:
                around.pop()
            elif token.text in (b";", b"{", b"}"):
                around.clear()
            elif token.text == b"sizeof":
                named = _measured(code, at)
                call = next((code[i - 1] for i in reversed(around) if i and code[i - 1].kind is Kind.NAME), None)
                if call is None or not (named in types or named in local):
                    continue
                if _TAKES_BYTES.search(call.text) or (_ASSERTS.search(call.text) and _is_compared(code, around)):
                    return call, named
    return None


def _is_compared(code: list[Token], around: list[int]) -> bool:
    """Is what stands in the outermost of these parentheses compared for being equal, and not its remainder?"""
    inside = code[around[0] : matching(code, around[0])]
    if any(token.text == b"%" for token in inside):
        return False
    return any(b.text == b"=" and a.text in (b"=", b"!") and a.end == b.begin for a, b in pairwise(inside))


def _measured(code: list[Token], at: int) -> bytes:
    """The name that the ``sizeof`` at ``at`` is of: of ``a.b[i]`` b; b"" of a pointer type and of what has none."""
    begin, end = at + 1, at + 1
    if begin < len(code) and code[begin].text == b"(":
        begin, end = begin + 1, matching(code, begin)
    else:
        while end < len(code) and code[end].text not in (b",", b")", b";", b"}", b"+", b"/"):
            end += 1
    if end > begin and code[end - 1].text in (b"*", b"&"):
        return b""
    depth, name = 0, b""
    for token in code[begin:end]:
        depth += (token.text in (b"[", b"(")) - (token.text in (b"]", b")"))
        if token.kind is Kind.NAME and (depth == 0 or not name):
            name = token.text
    return name


def _declared(code: list[Token], types: frozenset[bytes]) -> set[bytes]:
    """Names behind a type: locals and parameters, ``T a, *b`` too."""
    found: set[bytes] = set()
    for at, token in enumerate(code):
        if token.text not in types:
            continue
        next_at = at + 1
        while True:
            while next_at < len(code) and code[next_at].text in _AROUND:
                next_at += 1
            if next_at >= len(code) or code[next_at].kind is not Kind.NAME:
                break
            found.add(code[next_at].text)
            if next_at + 1 >= len(code) or code[next_at + 1].text != b",":
                break
            next_at += 2
    return found
