"""What records threads are started with, by what debug information says where they are started.

Owns the accesses of a thread's entry to what it is handed: where the entry takes that as ``void *`` and the compiler
kept no variable of another type, only the call that starts the thread tells of which record it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import picked
from sharing.model.image import ARG_DTYPE, ArgKind, Image, Table
from sharing.static.callees import function_at
from sharing.static.handovers import Handover, entered_otherwise, handovers


class _Place(Protocol):
    @property
    def offset(self) -> int: ...


_Where = TypeVar("_Where", bound=_Place)


def starts_with_data(image: Image, knowledge: Knowledge) -> list[Handover]:
    """The calls that start threads with something, of entries that are entered in no other way."""
    found = [one for one in handovers(image, knowledge, np.concatenate([image.args, image.behind.args])) if one.starts]
    otherwise = entered_otherwise(image, found)
    return [one for one in found if one.entry not in otherwise]


def arguments_of(image: Image, starts: Iterable[Handover]) -> Table:
    """These as ARG_DTYPE by ip, each an address that is zero.  What starts threads with nothing has no argument."""
    callers = dict(
        zip(image.calls["ip"].tolist(), image.calls[["callee", "function", "loop_depth"]].tolist(), strict=True)
    )
    found = [
        (ip, callee, 0, function, arg, ArgKind.ADDRESS, 0, depth)
        for ip, arg in sorted({_asked(one) for one in starts})
        for callee, function, depth in [callers.get(ip, (0, -1, 0))]
        if function >= 0 and arg >= 0
    ]
    return np.array(found, ARG_DTYPE) if found else np.zeros(0, ARG_DTYPE)


def used_by_entries(
    image: Image, starts: Iterable[Handover], handed: Mapping[tuple[int, int], _Where]
) -> list[tuple[int, _Where, int]]:
    """(instruction, where what the entry is handed begins, bytes from there) of accesses to that by entries which are
    handed the same place of one record by all calls that start them."""
    places: dict[tuple[int, int], set[_Where | None]] = defaultdict(set)
    for one in starts:
        places[one.entry, one.parameter].add(handed.get(_asked(one)))
    params, found = image.params, []
    for (entry, parameter), told in places.items():
        where = next(iter(told))
        if len(told) > 1 or where is None:
            continue
        row = int(function_at(image, np.array([entry], np.uint64))[0])
        mine = picked(params, (params["function"] == row) & (params["arg"] == parameter) & (params["stride"] == 0))
        found += [(ip, where, at) for ip, at in mine[["ip", "offset"]].tolist()]
    return found


def _asked(one: Handover) -> tuple[int, int]:
    return one.given or (one.ip, one.argument)
