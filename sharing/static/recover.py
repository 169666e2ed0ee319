"""Objects of stripped binaries: what no symbol names, found by the instructions and calls that touch it.

Owns the extents and names of recovered objects.  Names are ``section+0xoffset``; nothing is guessed beyond
bytes that were seen touched or that a known lock type covers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from sharing.knowledge import Knowledge
from sharing.model.arrays import distinct, picked, stacked
from sharing.model.image import VARIABLE_DTYPE, AccessKind, Image, SectionKind, SiteFlag, Table, VariableFlag
from sharing.static.flow import INIT, LOCK

MAX_RECOVERED = 400_000


def recover(
    image: Image, accesses: Table, events: Table, knowledge: Knowledge, sizes: Mapping[int, int] | None = None
) -> Image:
    """The image with objects added for accessed writable bytes that no variable covers.

    ``sizes``: of locks by address, where the vocabulary does not tell.

    1. collect [start, end) of every access and lock outside known variables; 2. merge overlaps, locks first;
    3. a known address that is only passed on opens an object that reaches to its first known neighbour.
    """
    sections = [s for s in image.sections if s.kind is SectionKind.WRITABLE and s.size]
    if not sections:
        return image
    starts, ends, locks = _ranges(image, accesses, events, knowledge, sizes or {})
    keep = image.variables_at(starts) < 0
    starts, ends, locks = starts[keep], ends[keep], locks[keep]
    section_start = np.array([s.address for s in sections], np.uint64)
    section_end = np.array([s.end for s in sections], np.uint64)
    order = np.argsort(section_start)
    section_start, section_end = section_start[order], section_end[order]
    where = np.searchsorted(section_start, starts, "right") - 1
    inside = (where >= 0) & (starts < section_end[np.maximum(where, 0)])
    starts, ends, locks, where = starts[inside], ends[inside], locks[inside], where[inside]
    if not len(starts):
        return image
    ends = np.minimum(ends, section_end[where])
    if len(image.variables):
        following = np.searchsorted(image.variables["address"], starts, "right")
        limit = np.append(image.variables["address"], np.uint64(2**64 - 1))[following]
        ends = np.minimum(ends, limit)
    objects = _merge(starts, ends, locks, where)[:MAX_RECOVERED]
    names = list(image.names)
    rows = np.zeros(len(objects), VARIABLE_DTYPE)
    for field in ("type", "unit", "file", "scope"):
        rows[field] = -1
    by_order = [sections[i] for i in order.tolist()]
    first = len(names)
    columns = (
        np.array([(s, e, 0, w) for s, e, _, w in objects], np.uint64).reshape(-1, 4)
        if objects
        else np.zeros((0, 4), np.uint64)
    )
    rows["address"], rows["size"] = columns[:, 0], columns[:, 1] - columns[:, 0]
    rows["section"] = np.array([s.index for s in by_order])[columns[:, 3].astype(np.int64)]
    rows["name"] = first + np.arange(len(objects))
    rows["flags"] = VariableFlag.RECOVERED | VariableFlag.LOCAL
    stems = [s.name.lstrip(".") for s in by_order]
    for start, _, lock, section in objects:
        kind = f" ({knowledge.locks[lock].kind})" if lock >= 0 else ""
        names.append(f"{stems[section]}+{start - by_order[section].address:#x}{kind}")
    table = stacked([image.variables, rows])
    order = np.lexsort((table["size"], table["address"]))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    aliases = {int(place[row]): other for row, other in image.aliases.items()}
    counts = {**image.counts, "objects_recovered": len(objects)}
    return dataclasses.replace(image, variables=picked(table, order), names=names, aliases=aliases, counts=counts)


def _ranges(
    image: Image, accesses: Table, events: Table, knowledge: Knowledge, sizes: Mapping[int, int]
) -> tuple[Table, Table, Table]:
    """Starts, ends and lock rows (-1 none) of everything touched; an indexed access claims one element."""
    touched = picked(accesses, accesses["kind"] != AccessKind.ADDRESS)
    target, stride = touched["target"], touched["stride"]
    size = np.maximum(touched["size"].astype(np.uint64), 1)
    indexed = (touched["flags"] & SiteFlag.INDEXED) != 0
    starts, ends = [target], [target + np.where(indexed, np.maximum(size, stride), size)]
    locks = [np.full(len(touched), -1, np.int64)]
    wanted = picked(events, (events["effect"] == LOCK) | (events["effect"] == INIT))
    for row in distinct(wanted["row"]).tolist():
        abi = knowledge.lock_abi(row, image)
        addresses = distinct(wanted["address"][wanted["row"] == row])
        starts.append(addresses)
        least = abi.size if abi else 1
        ends.append(addresses + np.array([sizes.get(at, least) for at in addresses.tolist()], np.uint64))
        locks.append(np.full(len(addresses), row, np.int64))
    return np.concatenate(starts), np.concatenate(ends), np.concatenate(locks)


def _merge(starts: Table, ends: Table, locks: Table, where: Table) -> list[tuple[int, int, int, int]]:
    """Overlapping ranges of one section become one object, the lock's row kept where one is a lock."""
    order = np.lexsort((-locks, starts))
    out: list[tuple[int, int, int, int]] = []
    for start, end, lock, section in zip(
        starts[order].tolist(), ends[order].tolist(), locks[order].tolist(), where[order].tolist(), strict=True
    ):
        if out and out[-1][3] == section and start < out[-1][1]:
            old = out[-1]
            # The bytes of a known lock are one object; accesses inside it do not stretch it.
            grown = old[1] if old[2] >= 0 and lock < 0 else max(old[1], end)
            out[-1] = (old[0], grown, max(old[2], lock), section)
        else:
            out.append((start, end, lock, section))
    return out
