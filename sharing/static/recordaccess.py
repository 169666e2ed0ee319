"""What functions do to objects of a record that pointers lead them to: arguments, and static pointers by their type.

Owns these accesses and lock calls as if all were to one object at address zero.  Objects in static storage have
addresses of their own; which record an argument points to is said by debug information (``Image.pointers``).
"""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import ARG_DTYPE, SITE_DTYPE, WORD_HOLDER, ArgKind, Image, SiteFlag, Table
from sharing.static.callees import function_at
from sharing.static.correlate import all_sites
from sharing.static.flow import INIT, if_seldom, lock_events
from sharing.static.heaprecords import holders, offsets, pointed_record

# Where the object stands while calls are followed that are handed a part of it.  No other address is looked at then.
_PLACE = 1 << 60
MAX_POINTERS = 1 << 14  # static pointers of one image whose type is looked at


class RecordUses(msgspec.Struct, frozen=True):
    """Accesses (SITE_DTYPE) and lock calls (``flow.LOCK_DTYPE``) at offsets into the record.

    ``functions`` is how many are handed a pointer to one, ``pointers`` the addresses of static ones.
    """

    sites: Table
    locks: Table
    functions: int
    pointers: tuple[int, ...]


def through_pointers(image: Image, knowledge: Knowledge, rows: list[int], size: int) -> RecordUses:
    """What is done through pointers to the records at ``rows`` of the types, ``size`` bytes each.

    What a callee does to a part that it is handed is done by the function that knows the record.  A callee that is
    handed the record speaks for itself.
    """
    handed = image.pointers[among(image.pointers["type"], rows)]
    pointers = _static_pointers(image, {image.types[row].name for row in rows})
    keys = _keys(handed["function"], handed["arg"])
    params, passed = image.params, picked(image.args, image.args["kind"] == ArgKind.PARAM)
    params = picked(params, _inside(params["offset"], size) & among(_keys(params["function"], params["arg"]), keys))
    sites = np.zeros(len(params), SITE_DTYPE)
    for column in ("ip", "function", "size", "kind", "flags", "loop_depth", "order"):
        sites[column] = params[column]
    sites["rarity"] = if_seldom(params["rarity"])
    sites["stride"] = params["stride"]
    sites["target"] = params["offset"].astype(np.uint64)
    behind, held = image.behind.sites, image.behind.args
    behind = behind[_led_to(behind["target"], pointers, size)].copy()
    behind["target"] = offsets(behind["target"])
    sites = np.concatenate([sites, behind])
    sites["target"] += np.uint64(_PLACE)
    parts = picked(
        passed, _inside(passed["value"], size) & among(_keys(passed["function"], passed["source"]), keys)
    ).copy()
    held = held[_led_to(held["value"].astype(np.uint64), pointers, size)].copy()
    held["value"] = offsets(held["value"].astype(np.uint64)).astype(np.int64)
    parts = np.concatenate([parts, held]) if len(held) else parts.astype(ARG_DTYPE)
    parts["kind"], parts["source"] = ArgKind.ADDRESS, 0
    parts["value"] += _PLACE
    args = np.concatenate([passed, parts])
    placed = dataclasses.replace(image, sites=sites, args=args[np.argsort(args["ip"], kind="stable")], given=())
    locks = lock_events(placed, knowledge)
    found = all_sites(placed, knowledge)
    callee = function_at(image, parts["callee"])
    told = parts["ip"][(callee >= 0) & among(_keys(callee, parts["arg"]), keys)]
    found = picked(found, (found["flags"] & SiteFlag.VIA_CALL == 0) | ~among(found["ip"], told))
    return RecordUses(
        _at_zero(found, "target", size),
        _at_zero(picked(locks, locks["effect"] != INIT), "address", size),
        len(distinct(handed["function"])),
        pointers,
    )


def _static_pointers(image: Image, names: set[str]) -> tuple[int, ...]:
    """Addresses of static pointers behind which something is done, whose type leads to a record of these names."""
    both = np.concatenate([image.behind.sites["target"], image.behind.args["value"].astype(np.uint64)])
    found = distinct(holders(both))
    found = found[found < np.uint64(WORD_HOLDER)][:MAX_POINTERS].tolist()
    return tuple(at for at in found if image.variable_at(at) >= 0 and pointed_record(image, at)[1] in names)


def _led_to(targets: Table, pointers: tuple[int, ...], size: int) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = offsets(targets) < np.uint64(size)
    return inside & among(holders(targets), np.array(pointers, np.uint64))


def _inside(at: Table, size: int) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = (at >= 0) & (at < size)
    return inside


def _keys(function: Table, arg: Table) -> npt.NDArray[np.int64]:
    keys: npt.NDArray[np.int64] = function.astype(np.int64) * 256 + arg
    return keys


def _at_zero(table: Table, column: str, size: int) -> Table:
    table = table[_inside((table[column] - np.uint64(_PLACE)).astype(np.int64), size)].copy()
    table[column] -= np.uint64(_PLACE)
    return table
