"""Which functions that both builds have differ in their instructions, of all of them.

Owns the choice of what is decoded: equal bytes are not, and what a compiler's start-up files bring is not compared:
which of them a program gets depends on how it is linked.  Comparing one function is ``code``'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.explain.bodychanges import Bodies, sorted_out
from sharing.explain.causes.base import Builds
from sharing.explain.code import CodeChange, chunks, compare_code, differing, offsets_of, read_code
from sharing.explain.identity import Ids, Objects
from sharing.explain.moves import Calls, Moves, forms_of, moved_numbers
from sharing.model.arch import machine_named
from sharing.model.image import FunctionFlag, Image

# What crt1.o, crti.o and crtbegin.o define, in glibc, musl and gcc.
START_UP = frozenset({
    "_start", "_start_c", "_init", "_fini", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux",
    "__do_global_ctors_aux", "frame_dummy", "_dl_relocate_static_pie", "__libc_csu_init", "__libc_csu_fini",
    "call_weak_fn", "__do_init", "__do_fini",
})  # fmt: skip


def of_the_program(objects: Objects) -> npt.NDArray[np.bool_]:
    """Functions that are no stubs and no start-up code."""
    stub = (objects.image.functions["flags"] & FunctionFlag.STUB) != 0
    known = [number for number, word in enumerate(objects.words) if word in START_UP]
    own: npt.NDArray[np.bool_] = ~stub & ~np.isin(objects.name, known)
    return own


def compare_bodies(builds: Builds) -> Bodies:
    """All functions of equal size, instruction by instruction."""
    matching = builds.functions
    old, new = matching.old, matching.new
    rows = matching.pairs["old"].astype(np.int64), matching.pairs["new"].astype(np.int64)
    own = of_the_program(old)[rows[0]] & of_the_program(new)[rows[1]]
    chosen = np.flatnonzero(own & (old.size[rows[0]] == new.size[rows[1]]) & (new.size[rows[1]] > 0))
    machine = machine_named(new.image.arch.name)
    forms = forms_of(machine)
    out: dict[int, Moves | None] = {}
    notes: list[str] = []
    for part in _chunks(chosen, new.size[rows[1]], builds):
        sides = [
            read_code(activity.image, traits, side[part].tolist())
            for activity, traits, side in (
                (builds.old, builds.old_traits, rows[0]),
                (builds.new, builds.new_traits, rows[1]),
            )
        ]
        notes += [note for _, said in sides for note in said if note not in notes]
        out |= {
            pair: moved_numbers(one, other, forms, _calls(builds.new.image, int(rows[1][pair])))
            for pair, one, other in zip(part.tolist(), sides[0][0], sides[1][0], strict=True)
            if compare_code(one, other) is CodeChange.CHANGED
        }
    found = sorted_out(out)
    return replace(found, notes=(*notes, *found.notes))


def _calls(image: Image, function: int) -> Calls:
    record = image.functions[function]
    first, last = np.searchsorted(image.calls["ip"], [record["address"], record["address"] + record["size"]]).tolist()
    calls = image.calls[first:last]
    return Calls((calls["ip"] - record["address"]).astype(np.int64), calls["rarity"] >= shared.SELDOM)


def _chunks(pairs: Ids, size: npt.NDArray[np.uint64], builds: Builds) -> Iterator[Ids]:
    """The pairs whose bytes differ, so many at a time; those of more than MOST_BYTES are left out."""
    rows = builds.functions.pairs
    old, new = builds.old_traits.code, builds.new_traits.code
    there = [
        offsets_of(activity.image, file, rows[side][pairs].astype(np.int64))
        for activity, file, side in ((builds.old, old, "old"), (builds.new, new, "new"))
    ]
    held = (there[0] >= 0) & (there[1] >= 0)
    pairs, one, other = pairs[held], there[0][held], there[1][held]
    pairs = pairs[differing(old, one, new, other, size[pairs].astype(np.int64))]
    return chunks(pairs, size[pairs])
