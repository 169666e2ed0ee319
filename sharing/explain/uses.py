"""What functions of both builds do with data that an edit added, and whether that is all they do otherwise.

Owns the comparison of a function with itself and the added accesses: instructions are compared without registers and
addresses (``Shape`` of the reader), and those that are there in one build alone have to belong to an access.  Which
added data shares a line with whom is ``linepairs``' and ``reported``'s.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher

import numpy as np
import numpy.typing as npt

from sharing.basics.naming import readable_names
from sharing.explain import mates, numbers
from sharing.explain.causes.base import Builds, Use
from sharing.explain.code import Code, loop_heads, read_code
from sharing.explain.identity import Ids
from sharing.explain.linepairs import BuildView
from sharing.explain.reported import added_to
from sharing.model.arrays import picked
from sharing.model.image import AccessKind
from sharing.model.instructions import Deed, Holding, Table

MAX_FUNCTIONS = 60  # that are compared
MAX_INSTRUCTIONS = 2048  # of one function

WRITES = (AccessKind.STORE, AccessKind.RMW)


def with_uses(builds: Builds, view: BuildView) -> Builds:
    """The builds, with the functions that use added data of pairs that the rules object to; ``side``: the new one."""
    pairs = list(added_to(builds.gained.pairs))
    if not pairs or not (len(builds.old_traits.code) and len(builds.new_traits.code)):
        return builds
    rows = {row for pair in pairs for row in pair.rows}
    return replace(builds, uses=tuple(_uses(builds, view, rows)))


def _uses(builds: Builds, view: BuildView, rows: set[int]) -> list[Use]:
    """Of functions that touch added bytes of the variables at ``rows``."""
    image = builds.new.image
    sites = picked(image.sites, image.sites["function"] >= 0)
    row = image.variables_at(sites["target"])
    added = _added(view, sites, row)
    touching = np.unique(sites["function"][added & np.isin(row, sorted(rows))]).astype(np.int64)
    pair_of = builds.functions.of_new[touching]
    touching, pair_of = touching[pair_of >= 0][:MAX_FUNCTIONS], pair_of[pair_of >= 0][:MAX_FUNCTIONS]
    if not len(touching):
        return []
    before = builds.functions.pairs["old"][pair_of].astype(np.int64)
    old = read_code(builds.old.image, builds.old_traits, before.tolist())[0]
    new = read_code(image, builds.new_traits, touching.tolist())[0]
    shown = readable_names([builds.functions.new.label(int(f)) for f in touching], builds.demangle)
    out = []
    for function, one, other in zip(touching.tolist(), old, new, strict=True):
        mine = added & (sites["function"] == function)
        did = _named(builds, sites[mine], row[mine])
        written = frozenset(name for name, kinds in did.items() if not kinds.isdisjoint(WRITES))
        read = frozenset(name for name, kinds in did.items() if AccessKind.LOAD in kinds) - written
        alone = only_accesses(one, other, frozenset(sites["ip"][mine].tolist()))
        out.append(Use(function, shown[builds.functions.new.label(function)], tuple(did), written, read, alone))
    return out


def _added(view: BuildView, sites: Table, row: Ids) -> npt.NDArray[np.bool_]:
    """Which accesses are to a variable, or a member, that the other build has not."""
    out = np.zeros(len(sites), bool)
    known = np.flatnonzero(row >= 0)
    rows, partner = row[known], view.partner[row[known]]
    target, address = sites["target"][known], view.here.image.variables["address"][rows]
    offset = (target - address).view(np.int64)
    there = view.members.offsets(rows, partner, offset)
    out[known] = np.where(partner >= 0, there == mates.MISSING, view.told[rows])
    return out


def _named(builds: Builds, sites: Table, row: Ids) -> dict[str, set[int]]:
    """The kinds of accesses by the name of what they are to."""
    names: dict[str, set[int]] = {}
    variables = builds.new.image.variables
    for one, target, kind in zip(row.tolist(), sites["target"].tolist(), sites["kind"].tolist(), strict=True):
        actor = builds.new.actor_at(one, target - int(variables["address"][one]))
        names.setdefault(actor.name if actor is not None else builds.variables.new.label(one), set()).add(kind)
    return names


def only_accesses(old: Code | None, new: Code | None, accesses: frozenset[int]) -> bool:
    """Whether a function does what it did and, besides, makes these accesses (addresses of instructions).

    What belongs to an access: instructions that move values between registers, and few that reckon or jump beside it.
    """
    if old is None or new is None or old.instructions is None or new.instructions is None:
        return False
    one, other = old.instructions, new.instructions
    if max(len(one), len(other)) > MAX_INSTRUCTIONS or not (one["shape"].all() and other["shape"].all()):
        return False
    if len(loop_heads(old) or ()) < len(loop_heads(new) or ()):
        return False
    pairs = _alike(one, other)
    gone, come = (np.setdiff1d(np.arange(len(rows)), some) for rows, some in zip((one, other), pairs, strict=True))
    marked = np.isin(other["offset"][come] + np.uint64(new.address), list(accesses))
    if not marked.any():
        return False  # they are in the place of others, as where a member was renamed
    come = come[~marked]
    if not _jump_alike(one, other, pairs) or not _only_moved(one, gone, other, come, pairs):
        return False
    rest = Counter(_doing(other[come]))
    rest.subtract(_doing(one[gone]))
    beside = sum(abs(many) for (_, deed), many in rest.items() if deed != Deed.MOVES)
    return beside <= numbers.BESIDE_ACCESS * int(marked.sum())


def _alike(one: Table, other: Table) -> tuple[Ids, Ids]:
    """Rows of both functions that are a common order of instructions of the same shape."""
    found = SequenceMatcher(None, one["shape"].tolist(), other["shape"].tolist(), autojunk=False)
    blocks = [block for block in found.get_matching_blocks() if block.size]
    if not blocks:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    first, second = (
        np.concatenate([np.arange(start, start + block.size) for start, block in zip(starts, blocks, strict=True)])
        for starts in zip(*((block.a, block.b) for block in blocks), strict=True)
    )
    return first.astype(np.int64), second.astype(np.int64)


def _jump_alike(one: Table, other: Table, pairs: tuple[Ids, Ids]) -> bool:
    """Whether jumps of both lead to the same place, but for what was added there."""
    first, second = pairs
    mine, theirs = one[first], other[second]
    inside = (mine["jumps"] == 1) & (mine["target_is"] == Holding.INSIDE)
    at, place = (
        np.searchsorted(rows["offset"], some["target"][inside]) for rows, some in ((one, mine), (other, theirs))
    )
    next_ = np.searchsorted(first, at)
    bounds = np.concatenate([[-1], second, [len(other)]])
    return bool(((bounds[next_] < place) & (place <= bounds[next_ + 1])).all())


def _only_moved(one: Table, gone: Ids, other: Table, come: Ids, pairs: tuple[Ids, Ids]) -> bool:
    """Whether all that calls, uses memory or divides is there as before, and runs as often.

    Compilers put it elsewhere, around what was added, in the straight stretch of code that it is in.
    """
    before, after = _stretches(one), _stretches(other)
    now = {int(before[a]): int(after[b]) for a, b in zip(*pairs, strict=True)}
    old_does, new_does = one["does"], other["does"]
    old_rows, new_rows = gone[old_does[gone] == Deed.OTHER], come[new_does[come] == Deed.OTHER]
    old_shapes, new_shapes = one["shape"][old_rows].tolist(), other["shape"][new_rows].tolist()
    were = Counter(zip(old_shapes, [now.get(at) for at in before[old_rows].tolist()], strict=True))
    are = Counter(zip(new_shapes, after[new_rows].tolist(), strict=True))
    return were == are


def _stretches(rows: Table) -> Ids:
    """The number of the straight stretch that each instruction is in: no jump, call or target of one parts it."""
    jumps, target_is = rows["jumps"], rows["target_is"]
    leads = target_is != Holding.NUMBER
    targets = rows["target"][(jumps == 1) & (target_is == Holding.INSIDE)]
    begins = np.isin(rows["offset"], targets)
    begins[1:] |= leads[:-1]
    number: Ids = np.cumsum(begins).astype(np.int64)
    return number


def _doing(rows: Table) -> list[tuple[int, int]]:
    return list(zip(rows["shape"].tolist(), rows["does"].tolist(), strict=True))
