"""What the code of one image does to its variables: bytes in use, how busy they are, and what a rule says of a line.

Owns what a comparison asks of one image.  The passes (``sharing.judge.passes``), their weights and the rules are the
judgement's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics.naming import Demangle
from sharing.explain import numbers
from sharing.judge.passes import run_passes, without_tls
from sharing.judge.severitylimit import limited
from sharing.knowledge import Knowledge
from sharing.model.image import AccessKind, Image, SiteFlag
from sharing.model.profile import Actor
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Context, Draft, Span
from sharing.static import correlate
from sharing.static.profiles import Profiler
from sharing.static.staticarguments import static_arguments, through_arguments

# Bytes that are accessed by one first byte: ``offset`` and ``extent`` within the variable at ``row``.
SLOT_DTYPE = np.dtype(
    [
        ("row", "<i8"),
        ("offset", "<i8"),
        ("extent", "<i8"),
        ("write", "<f8"),  # weight, see correlate
        ("read", "<f8"),
        ("atomic", "?"),  # locked, or written atomically
    ]
)


@dataclass(frozen=True, slots=True)
class Activity:
    """One image with its recovered objects, its slots by (row, offset), and profiles on demand.

    ``profiler`` is None where nothing is known of accesses: of another architecture, of a listing.
    """

    image: Image
    slots: npt.NDArray[Any]
    profiler: Profiler | None
    context: Context | None
    threaded: bool
    lines: tuple[int, ...] = ()  # that an audit judges
    of_statics: frozenset[int] = frozenset()  # instructions whose pointer is seen to lead to static storage alone

    @property
    def known(self) -> bool:
        return self.profiler is not None

    def actor_at(self, row: int, offset: int) -> Actor | None:
        """The actor that a byte of a variable belongs to, the busiest where several do."""
        if self.profiler is None:
            return None
        at = int(self.image.variables["address"][row]) + offset
        found = [a for a in self.profiler.actors(row) if a.span[0] <= at < a.span[1]]
        return max(found, key=lambda a: a.weight, default=None)

    @property
    def line_size(self) -> int:
        """Of the lines that ``drafts`` judges, 0 where it judges none."""
        return self.context.line_size if self.context is not None else 0

    def drafts(self, line: int, *, bounded: bool = True) -> list[Draft]:
        """What the rules of single lines say of a line, worst first; not ``bounded`` by what threads are seen to do."""
        if self.profiler is None or self.context is None or not self.threaded:
            return []
        profile = self.profiler.profile(line, self.context.line_size)
        found = [d for rule in LINE_RULES if rule.span is Span.LINE for d in rule.check(profile, self.context)]
        said = limited(found, self.context) if bounded else found
        return sorted(said, key=lambda d: (-d.severity.rank, -d.score))


def observe(image: Image, knowledge: Knowledge, line_size: int, pair_size: int, demangle: Demangle) -> Activity:
    """The passes of the judgement on one image."""
    if not image.arch.decodes or not len(image.sites):
        return Activity(without_tls(image), np.zeros(0, SLOT_DTYPE), None, None, False)
    passes = run_passes(image, knowledge, demangle)
    image, accesses = passes.image, passes.accesses
    if not len(accesses.sites):
        return Activity(image, np.zeros(0, SLOT_DTYPE), None, None, False)
    profiled = passes.profiled()
    context = profiled.context(line_size, pair_size)
    lines = () if image.phases else tuple(correlate.lines_of_interest(accesses, profiled.table, line_size))
    slots = _slots(image, accesses, knowledge)
    of_statics = through_arguments(image, static_arguments(image, knowledge))
    return Activity(image, slots, profiled.profiler, context, passes.calls.threaded, lines, of_statics)


def _slots(image: Image, accesses: correlate.Accesses, knowledge: Knowledge) -> npt.NDArray[Any]:
    """Accesses summed by variable and first byte; those that no two threads can make carry no weight."""
    chosen = np.flatnonzero(accesses.variable >= 0)
    picked = accesses.take(chosen)
    row = picked.variable
    target, start = picked.sites["target"], image.variables["address"][row]
    offset = (target - start).view(np.int64)
    extent = np.clip(picked.sites["size"].astype(np.int64), 1, numbers.SLOT_BYTES)
    for lock in np.unique(picked.lock[picked.lock >= 0]).tolist():
        abi = knowledge.lock_abi(lock, image)
        if abi is not None:
            extent[picked.lock == lock] = max(end for _, end in abi.hot)
    keys, inverse = np.unique(np.stack([row, offset]), axis=1, return_inverse=True)
    inverse = inverse.reshape(-1)
    shared = picked.mask != 0
    kind = picked.sites["kind"]
    writes = ((kind == AccessKind.STORE) | (kind == AccessKind.RMW)) & shared
    reads = (kind == AccessKind.LOAD) & shared
    n = keys.shape[1]
    out = np.zeros(n, SLOT_DTYPE)
    out["row"], out["offset"] = keys
    out["write"] = np.bincount(inverse, weights=picked.weight * writes, minlength=n)
    out["read"] = np.bincount(inverse, weights=picked.weight * reads, minlength=n)
    np.maximum.at(out["extent"], inverse, extent)
    atomic = writes & ((picked.sites["flags"] & SiteFlag.ATOMIC) != 0)
    out["atomic"] = np.bincount(inverse, weights=atomic, minlength=n) > 0
    return out
