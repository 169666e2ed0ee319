"""Which record the address of an access leads to: a variable that debug information knows, and pointers from there on.

Owns the meeting of two readings of one instruction: where its address comes from (``ORIGIN_DTYPE``), and which
variables are there.  Of several ways one through a pointer counts before a variable in memory, which may be no more
than what was read through the pointer; then the exact one counts, then the one to the largest record: a member's own
record says less than the one around it.  Of equal size, the one from which more members lead to the bytes is around the
other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy.typing as npt

from sharing.model.locals import Local, Locals, Static
from sharing.model.operands import NO_REGISTER, Chosen, WordSet
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind, TypeTable

_POINTERS = (TypeKind.POINTER, TypeKind.REFERENCE)
Rows = npt.NDArray[Any]  # ORIGIN_DTYPE
_Columns = dict[str, list[int]]  # of it, by name
_Begin = tuple[int, int, Local | Static]  # the byte of an object of a type, by way of the variable
OF_LIBRARIES = ("std::", "__gnu_cxx::")


@dataclass(frozen=True, slots=True)
class Reached:
    """An access to the byte ``offset`` of an object of a type, by way of a variable.

    ``exact``: else it is an element of an array of such objects, or of an array in one, and which one is not known.
    ``local``: the object is the variable itself, in the frame of its function.
    """

    type: int
    offset: int
    exact: bool
    variable: Local | Static
    local: bool = False


@dataclass(frozen=True, slots=True)
class Element:
    """An access to the byte ``offset`` of an element of an array, and which one is not known.

    A pointer leads to the array, ``word`` bytes into an object of the type ``holder``, or a static variable: then
    ``holder`` is that of the pointer.  Of an array within an object of the type ``holder`` the element of ``size``
    bytes is all that is known, and ``type`` is -1; ``word`` is where it begins.  ``walks``: a loop goes from element to
    element.  ``by``: types of the objects from which the number is loaded that chooses the element.
    """

    type: int
    offset: int
    size: int
    holder: int
    word: int
    walks: bool
    variable: Local | Static
    by: frozenset[int] = frozenset()


def elements(rows: Rows, locals_: Locals, line: int) -> dict[int, Element]:
    """What elements instructions access, by row of the query: of several ways the one by the largest record.

    What a pointer leads to that is larger than a line is taken for an object with an array in it.
    """
    out: dict[int, Element] = {}
    statics = _Statics(locals_)
    columns: _Columns = {name: rows[name].tolist() for name in rows.dtype.names or ()}
    sizes = locals_.types.size
    numbers: dict[int, set[int]] = defaultdict(set)
    for at, asked in enumerate(columns["asked"]):
        for kind, offset, variable in _begins(at, columns, locals_, statics):
            of = _of_number(at, columns, locals_, kind, offset)
            if of >= 0:
                numbers[asked].add(of)
                continue
            found = _element(at, columns, locals_, (kind, offset, variable), line)
            if found is None or not (_is_record(locals_, found.holder) or isinstance(found.variable, Static)):
                continue
            known = out.get(asked)
            if known is None or sizes(found.holder) > sizes(known.holder):
                walks = found.walks or (known is not None and known.walks)
                out[asked] = replace(found, walks=walks)
    return {
        asked: replace(one, by=frozenset(numbers[asked])) if asked in numbers else one for asked, one in out.items()
    }


def _of_number(at: int, rows: _Columns, locals_: Locals, kind: int, offset: int) -> int:
    """The type of the object from which a number is loaded that chooses an element; -1 of other rows."""
    for step in _steps(at, rows, locals_, kind, offset):
        if step.parent >= 0 and rows["kept"][step.parent] == WordSet.NUMBER:
            return step.type
    return -1


def _element(at: int, rows: _Columns, locals_: Locals, begin: _Begin, line: int) -> Element | None:
    types = locals_.types
    kind, offset, variable = begin
    last: tuple[int, int] | None = None
    for step in _steps(at, rows, locals_, kind, offset):
        if step.parent >= 0:
            last = step.type, step.offset
        elif step.chosen:
            walks, size = step.chosen == Chosen.WALKS, types.size(step.type)
            if _is_record(locals_, step.type) and (last is None or size > line):
                inside = _in_array(types, step.type, step.offset % size)
                if inside >= 0 and (series := _series(types, step.type, inside)) is not None:
                    first, stride = series
                    return Element(-1, (inside - first) % stride, stride, step.type, first, walks, variable)
            if last is not None:
                return Element(step.type, step.offset, size, *last, walks, variable)
    return None


def _series(types: TypeTable, kind: int, inside: int) -> tuple[int, int] | None:
    """(where the array in a type begins that has this byte, bytes between its elements)."""
    leaf = types.leaf(kind, inside)
    if leaf is None or not 0 < leaf.stride < types.size(kind):
        return None
    path = leaf.path.partition("[]")[0]
    return min(one.offset for one in types.flatten(kind) if one.path.partition("[]")[0] == path), leaf.stride


def _is_record(locals_: Locals, kind: int) -> bool:
    """Whether it is one of the program's own, which has a name."""
    name = locals_.types.record_name(kind)
    return bool(name) and not name.startswith(OF_LIBRARIES)


def reached(rows: Rows, locals_: Locals) -> dict[int, Reached]:
    """What each instruction that was asked for accesses, as far as it is known, by its row of the query."""
    out: dict[int, Reached] = {}
    statics = _Statics(locals_)
    columns: _Columns = {name: rows[name].tolist() for name in rows.dtype.names or ()}
    for at, asked in enumerate(columns["asked"]):
        for found in _from(at, columns, locals_, statics):
            if asked not in out or _rank(found, locals_) > _rank(out[asked], locals_):
                out[asked] = found
    return out


def called_of(rows: Rows, locals_: Locals) -> dict[int, set[str]]:
    """By row of the query, of calls that load their target through a pointer in the first word of an object, the names
    of the records that pointers to the object are of."""
    out: dict[int, set[str]] = defaultdict(set)
    statics = _Statics(locals_)
    columns: _Columns = {name: rows[name].tolist() for name in rows.dtype.names or ()}
    for at, asked in enumerate(columns["asked"]):
        for kind, offset, _ in _begins(at, columns, locals_, statics):
            for step in _steps(at, columns, locals_, kind, offset):
                is_last = step.parent >= 0 and columns["parent"][step.parent] < 0
                if is_last and not step.offset and (name := locals_.types.record_name(step.type)):
                    out[asked].add(name)
    return out


def _rank(one: Reached, locals_: Locals) -> tuple[bool, bool, int, int]:
    leaf = locals_.types.leaf(one.type, one.offset)
    return not one.local, one.exact, locals_.types.size(one.type), leaf.path.count(".") if leaf is not None else -1


class _Statics:
    """The static variables at a place: code names few places, and those often."""

    def __init__(self, locals_: Locals) -> None:
        self._locals = locals_
        self._at: dict[tuple[bool, int], list[Static]] = {}

    def covering(self, address: int, *, own: bool) -> list[Static]:
        """Those with this byte, of the file or of the thread's own storage."""
        known = self._at.get((own, address))
        if known is None:
            every, types = self._locals.own if own else self._locals.statics, self._locals.types
            known = [one for one in every if one.address <= address < one.address + types.size(one.type)]
            self._at[own, address] = known
        return known


def _from(at: int, rows: _Columns, locals_: Locals, statics: _Statics) -> list[Reached]:
    """What row ``at`` says with each variable that is in its register, or at its place."""
    ways = [_along(at, rows, locals_, *begin) for begin in _begins(at, rows, locals_, statics)]
    return [*_in_frame(at, rows, locals_), *(one for one in ways if one is not None)]


def _begins(at: int, rows: _Columns, locals_: Locals, statics: _Statics) -> Iterator[_Begin]:
    """The objects in which the word of row ``at`` is, or what it accesses, by variables."""
    displacement, base = rows["displacement"][at], rows["base"][at]
    if rows["kept"][at] == WordSet.RETURNED:
        yield _returned(at, rows, locals_)
    elif base == NO_REGISTER or rows["kept"][at] == WordSet.OWN:
        # What is in a static variable itself has its name already.
        if rows["parent"][at] >= 0:
            for static in statics.covering(displacement, own=rows["kept"][at] == WordSet.OWN):
                yield static.type, displacement - static.address, static
    else:
        for variable in locals_.at.get(rows["ip"][at], ()):
            offset = displacement - variable.offset
            if variable.register != base:
                continue
            if not variable.in_memory:
                yield locals_.pointees.get(_word(locals_, variable.type, 0), -1), offset, variable
            # A word of it, and of nothing else in the frame.
            elif rows["parent"][at] >= 0 and 0 <= offset < locals_.types.size(variable.type):
                yield variable.type, offset, variable


def _in_frame(at: int, rows: _Columns, locals_: Locals) -> Iterator[Reached]:
    """The variables of the frame that row ``at`` accesses."""
    displacement, base = rows["displacement"][at], rows["base"][at]
    if rows["kept"][at] in (WordSet.RETURNED, WordSet.OWN) or base == NO_REGISTER or rows["parent"][at] >= 0:
        return
    for variable in locals_.at.get(rows["ip"][at], ()):
        offset = displacement - variable.offset
        if variable.register == base and variable.in_memory and 0 <= offset < locals_.types.size(variable.type):
            yield Reached(variable.type, offset, not rows["indexed"][at], variable, local=True)


def _returned(at: int, rows: _Columns, locals_: Locals) -> _Begin:
    """What row ``at`` says with the type of the pointer that a function returns: in code without optimization the
    element of a container, and what a smart pointer leads to."""
    ip = rows["ip"][at]
    kind = locals_.results.get(ip, -1)
    target = locals_.pointees.get(_word(locals_, kind, 0), -1)
    around = locals_.functions.get(ip, ())
    by = Local(f"{around[-1].name}()" if around else "", "", kind, NO_REGISTER, 0, in_memory=False)
    return target, rows["displacement"][at], by


class _Step(NamedTuple):
    """The byte ``offset`` of an object of a type is accessed, or else is a pointer that leads on to row ``parent``."""

    type: int
    offset: int
    chosen: int  # Chosen
    parent: int


def _steps(at: int, rows: _Columns, locals_: Locals, kind: int, offset: int) -> Iterator[_Step]:
    """From the byte ``offset`` of an object of type ``kind``, which row ``at`` stands for, through what points on."""
    types = locals_.types
    chosen = rows["indexed"][at]
    for _ in range(MAX_DEPTH):
        size = types.size(kind)
        if size <= 0:
            return
        # Objects one behind the other: the offset in one of them.
        offset = offset % size if chosen else offset
        parent = rows["parent"][at]
        yield _Step(kind, offset, chosen, parent)
        if parent < 0:
            return
        kind = locals_.pointees.get(_word(locals_, kind, offset), -1)
        at, offset, chosen = parent, rows["displacement"][parent], rows["indexed"][parent]


def _along(
    at: int, rows: _Columns, locals_: Locals, first: int, begin: int, variable: Local | Static
) -> Reached | None:
    """The record at the end of this way."""
    types = locals_.types
    for kind, offset, chosen, parent in _steps(at, rows, locals_, first, begin):
        if parent >= 0:
            continue
        core, size = types.strip(kind)[0], types.size(kind)
        if core < 0 or types[core].kind not in RECORD_KINDS or not (0 <= offset < size or _ends(types, core)):
            return None
        # Behind the object are others like it.
        inside = offset % size
        if chosen and variable.name == "this" and (inside := _in_array(types, kind, inside)) < 0:
            return None
        return Reached(kind, inside % size, not chosen, variable)
    return None


def _ends(types: TypeTable, core: int) -> bool:
    """Whether a record has no array of open length at its end."""
    members = types[core].members
    return not members or types.size(members[-1].type) > 0


def _in_array(types: TypeTable, kind: int, offset: int) -> int:
    """Where in an object an index leads: ``this`` is one object, so to an element of the one array in it, -1 none.

    Compilers add a constant part of the address to the index, so that the rest may be that of another member.
    """
    leaf = types.leaf(kind, offset)
    if leaf is not None and leaf.stride > 0:
        return offset
    series = [one for one in types.flatten(kind) if one.stride > 0]
    if len({one.stride for one in series}) != 1:
        return -1
    return series[0].offset + (offset - series[0].offset) % series[0].stride


def _word(locals_: Locals, kind: int, offset: int, depth: int = 0) -> int:
    """The row of the type of pointers that an object of type ``kind`` has at ``offset``, -1 none."""
    types = locals_.types
    core = types.strip(kind)[0]
    if core < 0 or depth > MAX_DEPTH:
        return -1
    record = types[core]
    if record.kind in _POINTERS:
        return core if offset == 0 else -1
    if record.kind == TypeKind.ARRAY:
        size = types.size(record.target)
        return _word(locals_, record.target, offset % size, depth + 1) if size > 0 else -1
    for member in record.members:
        inside = offset - member.offset_bits // 8
        # An empty base class begins where the first member does.
        if not member.bit_size and 0 <= inside < types.size(member.type):
            found = _word(locals_, member.type, inside, depth + 1)
            if found >= 0:
                return found
    return -1
