"""What code does to one word of static storage, and who does it.

Owns the look-up of changes by the word, whether one thread alone makes them, and whether the word is zero before the
program's own code runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, having
from sharing.basics.kept import Kept
from sharing.basics.ways import points
from sharing.model.arrays import among, distinct, picked, stacked
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image, SiteFlag, Table
from sharing.model.wordfunctions import OfWord, of_word
from sharing.static import numbers
from sharing.static.callees import calls_of, names_of_callees
from sharing.static.starts import Root

Masks = npt.NDArray[np.uint64]
_stores: Kept[Table] = Kept()  # several passes ask for these

SEVERAL = 255  # in the place of a depth of loops: a call that makes several, outside of loops
_PLACE = ["ip", "function", "order", "loop_depth", "rarity"]
_ZEROS = ".bss"  # how sections of what is zero are called in source, where none has bytes


def writes(image: Image, *, by_calls: bool = False) -> Table:
    """Instructions that write, by what they write; ``by_calls``: and calls of what does."""
    sites = image.sites
    written = among(sites["kind"], (AccessKind.STORE, AccessKind.RMW))
    if not by_calls:
        written &= sites["flags"] & SiteFlag.VIA_CALL == 0
    rows = picked(sites, written & (sites["function"] >= 0))
    if by_calls:
        rows = stacked([rows, _stored_by_calls(image)])
    sorted_rows: Table = picked(rows, np.argsort(rows["target"], kind="stable"))
    return sorted_rows


def calls_that_store(image: Image) -> Table:
    """Calls of functions that do nothing but store a word, as compilers leave them without optimisation."""

    def found() -> Table:
        callees = distinct_in(image.calls, "callee")
        does = [of_word(name) == OfWord.STORES for name in names_of_callees(image, callees)]
        calls: Table = picked(
            image.calls, having(image.calls, "callee", callees[does]) & (image.calls["function"] >= 0)
        )
        return calls

    return _stores.of(image.calls, (image.functions, image.names, image.callee_names), found)


def _stored_by_calls(image: Image) -> Table:
    """The same as accesses to the words."""
    calls = calls_that_store(image)
    args = picked(image.args, (image.args["kind"] == ArgKind.ADDRESS) | (image.args["kind"] == ArgKind.CONSTANT))
    args = args[among(args["ip"], calls["ip"])]
    words = {ip: value for ip, number, kind, value in _told(args) if number == 0 and kind == ArgKind.ADDRESS}
    zeros = {ip for ip, number, kind, value in _told(args) if number == 1 and kind == ArgKind.CONSTANT and not value}
    calls = calls[among(calls["ip"], np.array(list(words), np.uint64))]
    found = np.zeros(len(calls), image.sites.dtype)
    for name in ("ip", "function", "order", "loop_depth", "rarity"):
        own = calls[name]
        found[name] = own
    found["target"] = [words[ip] for ip in calls["ip"].tolist()]
    found["kind"] = AccessKind.STORE
    found["flags"] = [SiteFlag.VIA_CALL | (SiteFlag.CLEARS if ip in zeros else 0) for ip in calls["ip"].tolist()]
    return found


def _told(args: Table) -> list[tuple[int, int, int, int]]:
    """(call, number, kind, value) of arguments."""
    told: list[tuple[int, int, int, int]] = args[["ip", "arg", "kind", "value"]].tolist()
    return told


def changes(image: Image, writes: Table, address: int) -> tuple[Table, Table]:
    """What changes a word, and what makes it before the program begins."""
    first, last = (np.searchsorted(writes["target"], np.uint64(address), side) for side in ("left", "right"))
    rows = writes[first:last]
    begins = image.functions["flags"][rows["function"]] & FunctionFlag.INIT != 0
    return rows[~begins], rows[begins]


def by_one(roots: Sequence[Root], mask: Masks, changed: Table) -> bool:
    """Whether one thread makes all of these; ``mask``: by function the roots that reach it."""
    of = distinct(mask[changed["function"]]).tolist()
    number = int(of[0]).bit_length() - 1 if of else -1
    return len(of) == 1 and number >= 0 and of[0] == 1 << number and not roots[number].many


def is_zero(image: Image, address: int) -> bool:
    """Whether a byte of static storage is zero before the program's own code runs."""
    around = [section for section in image.sections if section.address <= address < section.end]
    return any(one.file_offset is None and (not image.origins or one.name.startswith(_ZEROS)) for one in around)


def outer(image: Image, roots: Sequence[Root], arrivals: Table) -> Table:
    """These changes, in the place of those that functions end with, the calls of these functions."""
    begins = {root.function for root in roots}
    found = arrivals[_PLACE]
    for _ in range(numbers.LOCK_WRAPPERS):
        last = [one for one in distinct(found["function"]).tolist() if one not in begins and _ends(image, found, one)]
        if not last:
            break
        kept = [found[~among(found["function"], last)]]
        for function in last:
            own = picked(found, found["function"] == function)
            calls = image.calls[calls_of(image, int(image.functions["address"][function]))]
            rows = picked(calls, calls["function"] >= 0)[_PLACE].astype(found.dtype)
            if len(own) > 1 or own["loop_depth"].any():
                rows["loop_depth"][rows["loop_depth"] == 0] = SEVERAL
            kept.append(rows)
        found = np.concatenate(kept)
    return found


def _ends(image: Image, arrivals: Table, function: int) -> bool:
    """Whether a function that is called by its name alone does nothing in static storage behind its change."""
    if image.functions["flags"][function] & FunctionFlag.ADDRESS_TAKEN:
        return False
    changed = picked(arrivals, arrivals["function"] == function)
    at = points(image, changed)
    for rows in (image.sites, image.params, image.behind.elsewhere):
        here = picked(rows, (rows["function"] == function) & (rows["kind"] != AccessKind.ADDRESS))
        here = here[~among(here["ip"], changed["ip"])]
        if points(image, here).behind(at).any():
            return False
    own = picked(image.calls, image.calls["function"] == function)
    called = own[points(image, own).behind(at).any(axis=1)]
    starts = image.functions["address"]
    return not among(called["callee"], starts[image.functions["flags"] & FunctionFlag.STUB == 0]).any()
