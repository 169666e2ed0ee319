"""Which record the address of an access leads to: a variable that debug information knows, and pointers from there on.

Owns the meeting of two readings of one instruction: where its address comes from (``ORIGIN_DTYPE``), and which
variables are there.  Of several ways the exact one counts, then the one to the largest record: a member's own record
says less than the one around it.  Of equal size, the one from which more members lead to the bytes is around the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from sharing.model.locals import Local, Locals, Static
from sharing.model.operands import NO_REGISTER, WordSet
from sharing.model.types import MAX_DEPTH, RECORD_KINDS, TypeKind, TypeTable

_POINTERS = (TypeKind.POINTER, TypeKind.REFERENCE)
Rows = npt.NDArray[Any]  # ORIGIN_DTYPE
_Columns = dict[str, list[int]]  # of it, by name


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


def _rank(one: Reached, locals_: Locals) -> tuple[bool, bool, int, int]:
    leaf = locals_.types.leaf(one.type, one.offset)
    return one.local, one.exact, locals_.types.size(one.type), leaf.path.count(".") if leaf is not None else -1


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
    displacement, base, found = rows["displacement"][at], rows["base"][at], []
    if rows["kept"][at] == WordSet.RETURNED:
        return _returned(at, rows, locals_)
    if base == NO_REGISTER or rows["kept"][at] == WordSet.OWN:
        for static in statics.covering(displacement, own=rows["kept"][at] == WordSet.OWN):
            # What is in a static variable itself has its name already.
            if rows["parent"][at] >= 0:
                offset = displacement - static.address
                found.append(_along(at, rows, locals_, static.type, offset, static))
        return [one for one in found if one is not None]
    for variable in locals_.at.get(rows["ip"][at], ()):
        if variable.register != base:
            continue
        offset = displacement - variable.offset
        if not variable.in_memory:
            target = locals_.pointees.get(_word(locals_, variable.type, 0), -1)
            found.append(_along(at, rows, locals_, target, offset, variable))
        elif rows["parent"][at] >= 0:
            # A word of it, and of nothing else in the frame.
            if 0 <= offset < locals_.types.size(variable.type):
                found.append(_along(at, rows, locals_, variable.type, offset, variable))
        elif 0 <= offset < locals_.types.size(variable.type):
            found.append(Reached(variable.type, offset, not rows["indexed"][at], variable, local=True))
    return [one for one in found if one is not None]


def _returned(at: int, rows: _Columns, locals_: Locals) -> list[Reached]:
    """What row ``at`` says with the type of the pointer that a function returns: in code without optimization the
    element of a container, and what a smart pointer leads to."""
    ip = rows["ip"][at]
    kind = locals_.results.get(ip, -1)
    target = locals_.pointees.get(_word(locals_, kind, 0), -1)
    around = locals_.functions.get(ip, ())
    by = Local(f"{around[-1].name}()" if around else "", "", kind, NO_REGISTER, 0, in_memory=False)
    found = _along(at, rows, locals_, target, rows["displacement"][at], by)
    return [found] if found is not None else []


def _along(
    at: int, rows: _Columns, locals_: Locals, kind: int, offset: int, variable: Local | Static
) -> Reached | None:
    """From the byte ``offset`` of an object of type ``kind``, which row ``at`` stands for, through what points on."""
    types = locals_.types
    indexed = bool(rows["indexed"][at])
    for _ in range(MAX_DEPTH):
        size = types.size(kind)
        if size <= 0:
            return None
        # Objects one behind the other: the offset in one of them.
        offset = offset % size if indexed else offset
        parent = rows["parent"][at]
        if parent < 0:
            core = types.strip(kind)[0]
            if core < 0 or types[core].kind not in RECORD_KINDS or not (0 <= offset < size or _ends(types, core)):
                return None
            if indexed and variable.name == "this" and (offset := _in_array(types, kind, offset % size)) < 0:
                return None
            # Behind the object are others like it.
            return Reached(kind, offset % size, not indexed, variable)
        kind = locals_.pointees.get(_word(locals_, kind, offset), -1)
        at, offset, indexed = parent, rows["displacement"][parent], bool(rows["indexed"][parent])
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
