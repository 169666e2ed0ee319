"""Accesses meet lines: every site is attributed to a variable, and busy lines get a profile.

Owns the weighting of sites, the choice of lines worth a closer look, and the thresholds that say what is hot
in this program.  Does not decide what is wrong with a line (``sharing.rules``).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked, stacked
from sharing.model.image import ALLOCATED, SITE_DTYPE, AccessKind, ArgKind, Image, SectionKind, SiteFlag, Table
from sharing.model.profile import Access, FrequentUse, Heat
from sharing.static import flow, numbers, perthread
from sharing.static.callgraph import CallGraph
from sharing.static.executions import in_loop, times
from sharing.static.onceinlife import latched, once_in_life
from sharing.static.phases import program_point
from sharing.static.sections import within
from sharing.static.wideaccesses import by_member

Floats = npt.NDArray[np.float64]


class Accesses(msgspec.Struct, frozen=True):
    """Every judged access, one row each, ordered by target; see SITE_DTYPE.

    ``lock`` is the row of the lock table for lock and unlock calls (whose target is the lock), else -1.
    """

    sites: Table
    weight: Floats
    mask: npt.NDArray[np.uint64]
    lock: npt.NDArray[np.int64]
    variable: npt.NDArray[np.int64]
    cold: npt.NDArray[np.bool_]
    once: Floats | None = None  # in one run of its function, where a second thread may overlap it; see ``perthread``
    rest: Floats | None = None  # the share of ``weight`` that makes something busy; None: all of it
    lasting: Floats | None = None  # the share of ``weight`` that goes on while threads live; None: all of it

    def take(self, rows: npt.NDArray[Any]) -> Accesses:
        return Accesses(
            self.sites[rows],
            self.weight[rows],
            self.mask[rows],
            self.lock[rows],
            self.variable[rows],
            self.cold[rows],
            self.once[rows] if self.once is not None else None,
            self.rest[rows] if self.rest is not None else None,
            self.lasting[rows] if self.lasting is not None else None,
        )


class Thresholds(msgspec.Struct, frozen=True):
    """Scores from which an actor of this program is hot; see ``score``.

    ``write`` is for what is locked, written atomically or under a lock, ``plain`` for what is written otherwise.
    ``hot_weight``: from this weight on, however many functions there are, where weights are no estimates.
    """

    write: float
    read: float
    plain: float
    hot_weight: float | None = None

    def of_writes(self, table: Slots) -> Floats:
        """The limit of each slot's writes."""
        limit: Floats = np.where(table.synchronised, self.write, self.plain)
        return limit

    def heats(
        self, writes: list[Access], reads: list[Access], often: FrequentUse | None, *, guarded: bool = False
    ) -> tuple[Heat, Heat, bool]:
        """(of writes, of reads, is one of them more than its rank in the program says).

        What is written under a lock (``guarded``) is shared by intent, as what is atomic.  What a thread surely does
        often in its own loop is hot, whatever else the program does more often still.
        """
        synchronised = guarded or any(a.locks or a.atomic for a in writes)
        by_rank = self._heat_of(writes, self.write if synchronised else self.plain), self._heat_of(reads, self.read)
        write, read = by_rank
        if often and self.hot_weight is None:
            write = Heat.HOT if writes and often.surely_written else write
            read = Heat.HOT if reads and often.surely_read else read
        return write, read, (write, read) != by_rank

    def _heat_of(self, accesses: list[Access], limit: float) -> Heat:
        busy = [(a.weight * a.rest, a.function) for a in accesses]
        warm = {function for weight, function in busy if weight >= 1.0}
        return self.heat(sum(weight for weight, _ in busy), len(warm), limit)

    def heat(self, weight: float, functions: int, limit: float) -> Heat:
        """By one of these limits."""
        if weight < numbers.WARM_WEIGHT:
            return Heat.COLD
        if self.hot_weight is not None:
            return Heat.HOT if weight >= self.hot_weight else Heat.WARM
        return Heat.HOT if score(weight, functions) >= limit else Heat.WARM


def score(weight: float, functions: int) -> float:
    """Estimated executions on a log scale, raised by the number of functions: many users outlive one deep loop."""
    return float(_scores(weight, functions))


def _scores(weight: Any, functions: Any) -> Any:
    return np.log10(1.0 + weight) + numbers.FUNCTION_SCORE * np.log2(1.0 + functions)


def warm_element() -> float:
    """The weight of an element of an array that is warm as a whole."""
    return numbers.WARM_WEIGHT * numbers.INDEXED_WEIGHT


def all_sites(image: Image, knowledge: Knowledge, least: int = 0) -> Table:
    """Direct accesses, those made through passed addresses, and those of library functions known by name.

    ``least``: of what begins there and behind it alone.
    """
    direct, given = image.sites, image
    if least:
        args, first = image.args, np.uint64(least)
        direct = picked(direct, direct["target"] >= first)
        other, value = args["kind"] != ArgKind.ADDRESS, args["value"].astype(np.uint64)
        given = dataclasses.replace(image, args=picked(args, other | (value >= first)))
    parts = [
        direct,
        flow.through_arguments(given),
        flow.through_starts(image, knowledge),
        flow.by_name(given, knowledge),
    ]
    return stacked([p for p in parts if len(p)] or [np.empty(0, SITE_DTYPE)])


def collect_accesses(image: Image, graph: CallGraph, sites: Table, events: Table) -> Accesses:
    """Weigh and attribute.  Only accesses to writable sections are kept."""
    lock_sites = _lock_sites(events)
    own_row, takes = events["row"].astype(np.int64), events["effect"] != flow.INIT
    lock_row = np.concatenate([np.full(len(sites), -1, np.int64), own_row[takes]])
    rows = stacked([sites, lock_sites])
    writable = [section for section in image.sections if section.kind is SectionKind.WRITABLE]
    keep = (rows["kind"] != AccessKind.ADDRESS) & within(rows["target"], writable) & (rows["function"] >= 0)
    rows, lock_row = picked(rows, keep), lock_row[keep]
    rows, of_row = by_member(image, rows, image.variables_at(rows["target"]))
    lock_row = lock_row[of_row]
    order = np.argsort(rows["target"], kind="stable")
    rows, lock_row = picked(rows, order), lock_row[order]
    function = rows["function"]
    weight = graph.frequency[function] * times(rows["loop_depth"], rows["rarity"])
    part = np.where(graph.phases.sequential(function, program_point(image, rows)), 0.0, 1.0)
    part = np.where((rows["flags"] & SiteFlag.VIA_CALL) != 0, part * numbers.VIA_CALL_WEIGHT, part)
    variable = image.variables_at(rows["target"])
    part *= _share_of_line(image, rows, variable)
    several = np.where(_one_of_several(image, rows, variable), numbers.INDEXED_WEIGHT, 1.0)
    rest = graph.rest[function] if graph.rest is not None else None
    once = None
    if graph.by_thread is not None:
        part_of_run = part * np.maximum(several, _on_one_line(image, rows, variable))
        once = perthread.times(rows["loop_depth"], rows["rarity"]) * part_of_run * (1.0 if rest is None else rest)
    mask, cold = graph.mask_of(image, rows), graph.cold[function]
    before = graph.preludes.alone(image, rows, mask)
    seldom = before | (once_in_life(image, graph, rows, mask) & (lock_row < 0))
    aside = seldom | cold | (part == 0.0) | (rows["rarity"] >= shared.SELDOM)
    seldom |= (sets := latched(image, graph, rows, mask, aside))
    if once is not None:
        once = np.where(sets | before, 0.0, once)
    lasting = np.where(seldom, 2.0 ** (-shared.SELDOM / shared.RARITY_STEPS), 1.0) if seldom.any() else None
    return Accesses(rows, weight * part * several, mask, lock_row, variable, cold, once, rest, lasting)


def _one_of_several(image: Image, rows: Table, variable: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Accesses of which an index decides where they are; reading any part of a table within one line reads the line."""
    indexed: npt.NDArray[np.bool_] = (rows["flags"] & SiteFlag.INDEXED) != 0
    if not len(image.variables):
        return indexed
    small = (variable >= 0) & (image.variables["size"][np.maximum(variable, 0)] <= image.arch.line_size)
    several: npt.NDArray[np.bool_] = indexed & ~(small & (rows["kind"] == AccessKind.LOAD))
    return several


def _on_one_line(image: Image, rows: Table, variable: npt.NDArray[np.int64]) -> Floats:
    """Of accesses at an index, the share that is surely on one line as one thread sees it; 0 where nothing tells.

    A thread's own element is the same each time.  Of what is changed atomically at any index of static storage, each
    line has its part: in a small table that is most of it.
    """
    share = np.zeros(len(rows))
    share[(rows["flags"] & SiteFlag.OWN) != 0] = 1.0
    allocated = [section.index for section in image.sections if section.name == ALLOCATED]
    atomic = SiteFlag.INDEXED | SiteFlag.ATOMIC
    at = np.flatnonzero((variable >= 0) & ((rows["flags"] & (atomic | SiteFlag.OWN)) == atomic))
    at = at[~among(image.variables["section"][variable[at]], allocated)]
    size = image.variables["size"][variable[at]].astype(np.float64)
    share[at] = 1.0 / possible_lines(image, rows[at], variable[at], size)
    return share


def _share_of_line(image: Image, rows: Table, variable: npt.NDArray[np.int64]) -> Floats:
    """Of accesses to an element of a table, which may be on several lines, how many are on one; else 1.

    Of a few lines only reads, which harm no other element of it: what is written there, is by threads that may meet
    on any line.  A loop may walk through all of it, and comes to each line each time.  Elements that are each thread's
    own and what is changed atomically lie together as a rule.
    """
    share = np.ones(len(rows))
    if not len(image.variables):
        return share
    chosen = (rows["flags"] & (SiteFlag.INDEXED | SiteFlag.OWN | SiteFlag.ATOMIC)) == SiteFlag.INDEXED
    at = np.flatnonzero(chosen & (variable >= 0))
    rows, variable = rows[at], variable[at]
    size = image.variables["size"][variable].astype(np.float64)
    lines = possible_lines(image, rows, variable, size)
    large = lines * image.arch.line_size > numbers.TABLE_BYTES
    share[at[large]] = 1.0 / lines[large]
    small = ~large & (size > image.arch.line_size) & (rows["kind"] == AccessKind.LOAD) & ~in_loop(rows["loop_depth"])
    extent = _extents(image, rows["target"][small], variable[small])
    share[at[small]] = 1.0 / possible_lines(image, rows[small], variable[small], extent)
    return share


def possible_lines(image: Image, rows: Table, variable: npt.NDArray[np.int64], extent: Floats) -> Floats:
    """On how many lines what is at an unknown index of an array of ``extent`` bytes may be; 1 at least.

    On any of the array where elements are smaller than a line.  The same part of elements that are at least a line
    apart is on one line of each, and what else they consist of is none of the places where it may be.  What reaches
    any place in such an element may be on each line of it.
    """
    line_size = image.arch.line_size
    lines: Floats = np.maximum(extent / line_size, 1.0)
    of = image.variables[variable]
    size = of["size"].astype(np.float64)
    start, target, stride = of["address"], rows["target"], rows["stride"]
    behind = size - (target - start).astype(np.float64)  # of the variable, from the first of them on
    stride = np.maximum(stride, 1).astype(np.float64)
    elements = np.minimum(np.floor(size / stride), np.ceil(behind / stride))
    apart = (stride >= line_size) & ~among(rows["ip"], image.within_rows)
    found: Floats = np.where(apart, np.clip(elements, 1.0, lines), lines)
    return found


def _extents(image: Image, targets: npt.NDArray[np.uint64], variable: npt.NDArray[np.int64]) -> Floats:
    """Bytes of the arrays that begin at these addresses or hold them, as declared; 0 unknown."""
    of: dict[int, int] = {}
    for target, row in zip(targets.tolist(), variable.tolist(), strict=True):
        if target not in of:
            owner = image.variables[row]
            leaf = image.types.leaf(int(owner["type"]), target - int(owner["address"]))
            of[target] = leaf.stride * leaf.count if leaf is not None and leaf.stride > 0 else 0
    return np.array([of[target] for target in targets.tolist()], np.float64)


def _lock_sites(events: Table) -> Table:
    events = picked(events, events["effect"] != flow.INIT)
    sites = np.zeros(len(events), SITE_DTYPE)
    for name in ("ip", "function", "loop_depth", "rarity", "order"):
        sites[name] = events[name]
    sites["target"] = events["address"]
    sites["size"] = 4
    sites["kind"] = AccessKind.RMW
    stride = events["stride"]
    sites["flags"] = np.where(stride > 0, SiteFlag.ATOMIC | SiteFlag.INDEXED, SiteFlag.ATOMIC)
    sites["stride"] = stride
    return sites


class Slots(msgspec.Struct, frozen=True):
    """Accesses summed by first byte: the coarse view from which lines are chosen and thresholds taken."""

    address: npt.NDArray[np.uint64]
    write: Floats
    read: Floats
    synchronised: npt.NDArray[np.bool_]  # locked or written atomically: data that is shared by intent
    functions: npt.NDArray[np.int64]


def slots(accesses: Accesses) -> Slots:
    """Sum weights by first byte; accesses that no two threads can make carry no weight."""
    target = accesses.sites["target"]
    address, inverse = np.unique(target, return_inverse=True)
    kind = accesses.sites["kind"]
    shared = accesses.mask != 0
    writes = ((kind == AccessKind.STORE) | (kind == AccessKind.RMW)) & shared
    reads = (kind == AccessKind.LOAD) & shared
    n = len(address)
    write: Floats = np.bincount(inverse, weights=accesses.weight * writes, minlength=n).astype(np.float64)
    read: Floats = np.bincount(inverse, weights=accesses.weight * reads, minlength=n).astype(np.float64)
    atomic = writes & ((accesses.sites["flags"] & SiteFlag.ATOMIC) != 0)
    synchronised = np.bincount(inverse, weights=atomic, minlength=n) > 0
    warm = accesses.weight >= 1.0
    pairs = distinct(inverse[warm].astype(np.int64) << 32 | accesses.sites["function"][warm])
    functions = np.bincount(pairs >> 32, minlength=n)
    return Slots(address, write, read, synchronised, functions)


def thresholds(table: Slots, image: Image) -> Thresholds:
    """The score of the HOT_RANK-th busiest slot (or of the HOT_SHARE quantile), by writing and by reading.

    What is locked or written atomically is ranked among its like: that is what a program shares by intent.  Plain data
    is often one thread's: it has to be as busy as that, and among the busiest of all that is written.  A program with
    few locks would else have any number of hot variables.  Records on the heap are not in that rank: one stands for all
    objects of its type, and its weight is that of all of them.  What each thread was handed for itself alone is among
    no reads: nobody else looks at it.
    """

    def limit(weight: Floats, among: npt.NDArray[np.bool_]) -> float:
        busy = (weight >= numbers.WARM_WEIGHT) & among
        scores = np.sort(_scores(weight[busy], table.functions[busy]))[::-1]
        rank = max(numbers.HOT_RANK, int(len(scores) * numbers.HOT_SHARE))
        floor = float(np.log10(1.0 + weight[busy].max()) - numbers.HOT_DECADES) if len(scores) else 0.0
        return max(float(scores[rank]) if len(scores) > rank else 0.0, floor)

    static, others = np.ones(len(table.write), bool), np.ones(len(table.write), bool)
    for section in image.sections:
        if section.name == ALLOCATED:
            outside = (table.address < section.address) | (table.address >= section.end)
            static &= outside
            if image.identities.get(section.address) in image.of_threads:
                others &= outside
    write, plain = limit(table.write, table.synchronised), limit(table.write, static)
    return Thresholds(write, limit(table.read, others), max(write, plain))


def busy_lines(table: Slots, line_size: int, shift: int = 0) -> npt.NDArray[np.uint64]:
    """Addresses of the lines where one slot is written often and another is touched often, best first.

    With ``shift``, of the lines as they fall when everything starts that many bytes later: their first byte in
    unshifted addresses.
    """
    line = (table.address + np.uint64(shift)) // np.uint64(line_size)
    if not len(line):
        return np.empty(0, np.uint64)
    total = table.write + table.read
    order = np.lexsort((-table.write, line))
    first = np.flatnonzero(np.r_[True, line[order][1:] != line[order][:-1]])
    lines = line[order][first]
    top_slot = order[first]
    top_write = table.write[top_slot]
    rest = total.copy()
    rest[top_slot] = 0.0
    group = np.searchsorted(lines, line)
    second = np.zeros(len(lines))
    np.maximum.at(second, group, rest)
    value = np.minimum(top_write, second)
    chosen = np.flatnonzero((value >= numbers.LINE_WEIGHT) & (top_write >= numbers.LINE_WEIGHT))
    chosen = chosen[np.lexsort((lines[chosen], -value[chosen]))][: numbers.MAX_LINES]
    result: npt.NDArray[np.uint64] = lines[chosen] * np.uint64(line_size) - np.uint64(shift)
    return result


def lines_of_interest(accesses: Accesses, table: Slots, line_size: int, shift: int = 0) -> list[int]:
    """Busy lines, lines with a straddling atomic or lock, and lines where an indexed array of few elements starts."""
    busy = busy_lines(table, line_size, shift).tolist()
    sites = accesses.sites
    size, by = np.uint64(line_size), np.uint64(shift)
    target = sites["target"] + by
    written = (sites["kind"] == AccessKind.STORE) | (sites["kind"] == AccessKind.RMW)
    weighty = (accesses.weight >= numbers.WARM_WEIGHT) & (accesses.mask != 0)
    own = sites["size"]
    extent = np.where(accesses.lock >= 0, numbers.LOCK_EXTENT, np.minimum(own, line_size)).astype(np.uint64)
    split = ((sites["flags"] & SiteFlag.ATOMIC) != 0) & (target % size + extent > size)
    split &= weighty | (accesses.lock < 0)
    array = ((sites["flags"] & SiteFlag.INDEXED) != 0) & written & (accesses.mask != 0)
    array &= (accesses.weight >= warm_element()) | in_loop(sites["loop_depth"])  # of a thread's life it may be
    array &= (sites["stride"] > 0) & (sites["stride"] < line_size)
    extra: list[int] = []
    for chosen in (split, array):
        rows = np.flatnonzero(chosen)
        rows = rows[np.argsort(-accesses.weight[rows], kind="stable")][: numbers.MAX_EXTRA_LINES]
        extra += (target[rows] // size * size - by).tolist()
    lines: list[int] = list(dict.fromkeys(busy + extra))
    return lines


def hottest_lines(table: Slots, limits: Thresholds, line_size: int) -> list[int]:
    """Lines with a slot that is written as often as anything hot, busiest first: alone there or not."""
    scores = _scores(table.write, table.functions)
    chosen = np.flatnonzero((scores >= limits.of_writes(table)) & (table.write >= numbers.WARM_WEIGHT))
    chosen = chosen[np.argsort(-scores[chosen], kind="stable")]
    lines: npt.NDArray[np.uint64] = table.address[chosen] // np.uint64(line_size) * np.uint64(line_size)
    return list(dict.fromkeys(lines.tolist()))[: numbers.MAX_HOTTEST]
