"""The call graph as flat arrays: who calls whom, how often, and from which threads.

Owns static execution frequency (in the spirit of Wu and Larus, MICRO-27, 1994, with loop depth for branch
probabilities), thread roots and which functions each root reaches.  Frequencies are estimates for ranking
and are never presented as measured.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.knowledge.runtimes import starts_threads
from sharing.model.image import AccessKind, ArgKind, FunctionFlag, Image, ImageKind, SiteFlag, Table
from sharing.model.plural import count
from sharing.static import foreign, numbers, perthread
from sharing.static.callbacks import callback_calls
from sharing.static.callees import function_at, handed_over
from sharing.static.coldness import coldness
from sharing.static.executions import in_loop, times
from sharing.static.phases import OrderedCalls, Phases, find_phases, program_point
from sharing.static.starts import Root, created

ROUNDS = 12
TRIM_ROUNDS = 40
MAX_ROOTS = 62  # one bit each in a 64-bit mask; later roots share the last bit

Floats = npt.NDArray[np.float64]
Masks = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Per function: estimated executions, bit mask of the roots that reach it, whether it is cold, when it runs."""

    frequency: Floats
    mask: Masks
    cold: npt.NDArray[np.bool_]
    phases: Phases
    roots: tuple[Root, ...]
    many_mask: int
    threaded: bool
    how: str  # how concurrency was established, in words
    caller_list: npt.NDArray[np.int64]  # callers by callee
    caller_start: npt.NDArray[np.int64]
    entered: npt.NDArray[np.bool_]  # may be called from where no direct call shows it
    by_thread: perthread.Threads | None = None  # what each root runs how often, where roots are functions
    apart: tuple[int, ...] = ()  # masks of roots that never meet those of another one: processes
    unknown: str = ""  # why threads may run that were not seen to start, "" where all is known or assumed

    def callers(self, function: int) -> list[int]:
        """Rows of the functions that call this one directly, each once."""
        rows = self.caller_list[self.caller_start[function] : self.caller_start[function + 1]]
        return sorted(set(rows.tolist()))

    def concurrent(self, a: int, b: int) -> bool:
        """Can code with root mask ``a`` run at the same time as code with mask ``b``?"""
        if self.apart:
            return any(self._meet(a & group, b & group) for group in self.apart)
        return self._meet(a, b)

    def _meet(self, a: int, b: int) -> bool:
        if not a or not b:
            return False
        if a & b & self.many_mask:
            return True
        return a != b or a.bit_count() > 1

    def root_names(self, mask: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.name for i, r in enumerate(self.roots) if mask >> i & 1))


def build(image: Image, knowledge: Knowledge, *, assume_threads: bool = False) -> CallGraph:
    """Frequencies and thread reach of every function.

    ``assume_threads``: where no start of a thread is seen, functions that may be entered run on several.

    1. edges from direct calls; 2. roots from thread creation, main, exports; 3. reach by breadth-first marking;
    4. functions run once: called from one place outside loops, by functions run once; 5. frequencies by
    iterating f = base + sum over call sites.
    """
    n = len(image.functions)
    edges = _edges(image, np.concatenate([image.calls, callback_calls(image, knowledge)]))
    taken = (image.functions["flags"] & FunctionFlag.ADDRESS_TAKEN) != 0
    exported = (image.functions["flags"] & FunctionFlag.EXPORTED) != 0
    init = (image.functions["flags"] & FunctionFlag.INIT) != 0
    factor = coldness(image, knowledge)
    found = _roots(image, knowledge, exported, taken, assume_threads=assume_threads)
    roots, base, threaded = found.roots, found.base, found.threaded
    entries = tuple(roots[: MAX_ROOTS + 1])
    root_rows = [r.function for r in roots if r.function >= 0]
    dispatched = taken & ~init
    dispatched[root_rows] = False
    entered = dispatched | base
    if image.kind in _LIBRARIES:
        entered |= exported
    entered[root_rows] = True
    once = _once(edges, n, roots, entered)
    # Other files call what they see of a library from wherever it calls them.
    pointed = dispatched | (base & exported)
    mask = _reach_of_roots(image, edges, entries, base, pointed, threaded)
    main_bit = np.uint64(sum(1 << i for i, r in enumerate(entries) if r.name == "main"))
    by_main = once & (mask == main_bit)
    ordered = OrderedCalls(edges.caller, edges.callee, edges.where)
    phases = find_phases(image, knowledge, ordered, by_main, entered, init)
    # Again without the calls that no second thread can overlap: shared helpers are not main's for being called once.
    parallel = edges.keep(~phases.sequential(edges.caller, edges.where), n)
    mask = _reach_of_roots(image, parallel, entries, base, pointed, threaded)
    mask[phases.alone] = 0
    again = dispatched | (base & exported & ~_setters(image)) if image.kind is ImageKind.SHARED else dispatched
    frequency = _frequencies(edges, n, roots, base, again, once, factor)
    frequency[phases.alone] = 0.0
    if main_bit and np.count_nonzero(mask & ~main_bit) >= numbers.BIG_PROGRAM:
        frequency[(mask == main_bit) & ~once] *= numbers.SET_UP
    many = sum(1 << i for i, r in enumerate(entries[:MAX_ROOTS]) if r.many)
    by_thread = _by_thread(image, parallel, entries[:MAX_ROOTS], dispatched, base, factor) if threaded else None
    order = np.argsort(edges.callee, kind="stable")
    start = np.searchsorted(edges.callee[order], np.arange(n + 1))
    return CallGraph(
        frequency,
        mask,
        (factor < 1.0) | phases.alone,
        phases,
        entries,
        many,
        threaded,
        found.how,
        edges.caller[order],
        start,
        entered,
        by_thread,
        unknown=found.unknown,
    )


def _setters(image: Image) -> npt.NDArray[np.bool_]:
    """Functions that store something and do nothing else: how callers of a library choose what it does, once."""
    n = len(image.functions)
    sites = image.sites[image.sites["function"] >= 0]
    plain = (sites["kind"] == AccessKind.STORE) & ((sites["flags"] & SiteFlag.ATOMIC) == 0)
    plain &= ~in_loop(sites["loop_depth"])
    more = np.bincount(sites["function"][~plain], minlength=n) > 0
    more |= np.bincount(image.calls["function"][image.calls["function"] >= 0], minlength=n) > 0
    setters: npt.NDArray[np.bool_] = (np.bincount(sites["function"], minlength=n) > 0) & ~more
    return setters


def _by_thread(
    image: Image,
    edges: _Edges,
    roots: tuple[Root, ...],
    dispatched: npt.NDArray[np.bool_],
    base: npt.NDArray[np.bool_],
    factor: Floats,
) -> perthread.Threads | None:
    """What each root runs how often; None in a kernel, whose work is not that of all its functions alike."""
    if image.kind in (ImageKind.KERNEL, ImageKind.MODULE):
        return None
    n = len(image.functions)
    times = edges.once * factor[edges.callee]
    cyclic = _between_cycles(edges, n)
    around = cyclic[edges.caller] & cyclic[edges.callee]
    # With the share that each call keeps, no cycle grows.
    flow = np.where(around, np.minimum(times, numbers.RECURSION / numbers.CALL_SHARE), times)
    calls = perthread.Calls(edges.callee, times, flow, in_loop(edges.depth), edges.start)
    pointers = image.calls[(image.calls["callee"] == 0) & (image.calls["function"] >= 0)]
    often = perthread.times(pointers["loop_depth"], pointers["rarity"])
    inside = in_loop(pointers["loop_depth"])
    straight = np.bincount(pointers["function"], often * ~inside, n).astype(np.float64)
    made = perthread.Work(straight, np.bincount(pointers["function"], often * inside, n).astype(np.float64))
    entries = [root.function for root in roots]
    handed = handed_over(image)
    called = base & (factor >= 1.0)  # a library's: to set up and to tear down is not what it is called for
    entered = called if called.any() else base
    found = perthread.threads(calls, entries, dispatched, handed, made, perthread.work_of(image), entered)
    sleeping = foreign.sleepers(image, found.once)
    some, rest, long = (perthread.mask_of(roots) for roots in (sleeping.some, sleeping.rest, sleeping.long))
    return dataclasses.replace(found, unsure=found.unsure | some, resting=rest, seldom=long)


_MAINS = ("main", "main.main")  # the latter is Go's
_LIBRARIES = (ImageKind.SHARED, ImageKind.RELOCATABLE, ImageKind.KERNEL, ImageKind.MODULE)


@dataclass(frozen=True, slots=True)
class _Edges:
    caller: npt.NDArray[np.int64]
    callee: npt.NDArray[np.int64]
    depth: npt.NDArray[np.int64]
    factor: Floats  # calls in one run of the caller
    once: Floats  # the same by the estimate for one thread, see ``perthread``
    where: npt.NDArray[np.uint64]  # see phases.program_point
    start: npt.NDArray[np.int64]  # CSR by caller

    def keep(self, rows: npt.NDArray[np.bool_], n: int) -> _Edges:
        """The edges of these rows, of a graph of ``n`` functions."""
        start = np.searchsorted(self.caller[rows], np.arange(n + 1))
        return _Edges(
            self.caller[rows],
            self.callee[rows],
            self.depth[rows],
            self.factor[rows],
            self.once[rows],
            self.where[rows],
            start,
        )


def _edges(image: Image, calls: Table) -> _Edges:
    callee = function_at(image, calls["callee"])
    keep = (callee >= 0) & (calls["function"] >= 0)
    caller = calls["function"][keep].astype(np.int64)
    callee = callee[keep]
    depth = calls["loop_depth"][keep].astype(np.int64)
    depth[depth >= numbers.IMPLAUSIBLE_LOOPS] = 0
    factor = times(calls["loop_depth"][keep], calls["rarity"][keep])
    once = perthread.times(calls["loop_depth"][keep], calls["rarity"][keep])
    where = program_point(image, calls[keep])
    order = np.argsort(caller, kind="stable")
    start = np.searchsorted(caller[order], np.arange(len(image.functions) + 1))
    return _Edges(caller[order], callee[order], depth[order], factor[order], once[order], where[order], start)


def of_call(image: Image, ips: npt.NDArray[Any], field: str) -> npt.NDArray[Any]:
    """One field of the calls at these addresses, 0 where no call is recorded."""
    calls = image.calls
    if not len(calls):
        return np.zeros(len(ips), np.uint16)
    row = np.minimum(np.searchsorted(calls["ip"], ips), len(calls) - 1)
    return np.where(calls["ip"][row] == ips, calls[field][row], 0)


def _reach_of_roots(
    image: Image,
    edges: _Edges,
    roots: tuple[Root, ...],
    base: npt.NDArray[np.bool_],
    dispatched: npt.NDArray[np.bool_],
    threaded: bool,
) -> Masks:
    """Per function the roots that reach it; what is called through pointers, by the roots that do such calls."""
    n = len(image.functions)
    mask = np.zeros(n, np.uint64)
    for i, root in enumerate(roots):
        seeds = np.array([root.function]) if root.function >= 0 else np.flatnonzero(base)
        mask[_reach(edges, seeds, n)] |= np.uint64(1 << min(i, MAX_ROOTS))
    if threaded and dispatched.any():
        indirect = image.calls["function"][(image.calls["callee"] == 0) & (image.calls["function"] >= 0)]
        callers = mask[indirect] if len(indirect) else mask
        reached = _reach(edges, np.flatnonzero(dispatched), n)
        mask[reached] |= np.bitwise_or.reduce(callers) if len(callers) else np.uint64(0)
    return mask


def _reach(edges: _Edges, seeds: npt.NDArray[Any], n: int) -> npt.NDArray[np.bool_]:
    seen = np.zeros(n, bool)
    front = np.unique(seeds[seeds >= 0])
    seen[front] = True
    while len(front):
        counts = edges.start[front + 1] - edges.start[front]
        total = int(counts.sum())
        if not total:
            break
        offsets = np.repeat(edges.start[front] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        targets = edges.callee[offsets + np.arange(total)]
        front = np.unique(targets[~seen[targets]])
        seen[front] = True
    return seen


@dataclass(frozen=True, slots=True)
class _Starts:
    """How threads start: ``base`` are functions that may be entered at any time; the rest as of ``CallGraph``."""

    roots: list[Root]
    base: npt.NDArray[np.bool_]
    how: str
    threaded: bool
    unknown: str = ""


def _roots(
    image: Image,
    knowledge: Knowledge,
    exported: npt.NDArray[np.bool_],
    taken: npt.NDArray[np.bool_],
    *,
    assume_threads: bool,
) -> _Starts:
    n = len(image.functions)
    base = np.zeros(n, bool)
    code = (image.functions["flags"] & (FunctionFlag.INIT | FunctionFlag.STUB)) == 0
    if image.kind in _LIBRARIES:
        base = code & (exported | taken)
        if image.kind in (ImageKind.KERNEL, ImageKind.MODULE) or not base.any():
            base = code
        what = {ImageKind.KERNEL: "kernel entry points", ImageKind.MODULE: "module entry points"}
        name = what.get(image.kind, "exported functions")
        pseudo, how = Root(name, -1, True), f"any of the {name} may run on several threads at once"
        # Callers decide how often a library starts its threads.
        made = created(image, knowledge, set())[0] if image.kind is ImageKind.SHARED else []
        own = [dataclasses.replace(root, many=True) for root in made]
        base[[r.function for r in own if not exported[r.function]]] = False
        if own:
            how += f"; {len(own)} thread entries of the library's own"
        return _Starts([pseudo, *own], base, how, True)
    roots: list[Root] = []
    for address in image.entry_points:
        row = int(function_at(image, np.array([address], np.uint64))[0])
        if row >= 0:
            roots.append(Root("main", row, False))
    main = [i for i, nm in enumerate(image.functions["name"].tolist()) if nm >= 0 and image.names[nm] in _MAINS]
    roots += [Root("main", row, False) for row in main]
    roots += _main_argument(image)
    made, creators = created(image, knowledge, {r.function for r in roots})
    roots_seen: dict[int, Root] = {}
    for root in roots + made:
        old = roots_seen.get(root.function)
        roots_seen[root.function] = (
            root if old is None else Root(root.name, root.function, root.many or old.many or old.name != "main")
        )
    merged = list(roots_seen.values())
    thread_names = [r for r in merged if r.name != "main"]
    if thread_names:
        many = sum(r.many for r in thread_names)
        how = (
            f"{count(len(thread_names), 'thread entry', 'thread entries')} found, {many} of them started more than once"
        )
        return _Starts(_one_main(merged), base, how, True)
    unknown = starts_threads(image, creators)
    if not unknown and not assume_threads:
        return _Starts(_one_main(merged), base, "nothing in this image starts a thread", False)
    if not creators and not assume_threads:
        how = f"thread structure unknown: {unknown}, and no start of a thread is seen; nothing is judged"
        return _Starts(_one_main(merged), base, f"{how} without --assume-threads", False, unknown)
    base = code & (taken | exported if assume_threads else taken)
    if not base.any():
        base = code
    pseudo = Root("functions called through pointers", -1, True)
    if assume_threads:
        pseudo = Root("functions called through pointers or from outside", -1, True)
        how = f"assumed: {pseudo.name} may run on several threads at once"
        return _Starts([*_one_main(merged), pseudo], base, how, True)
    how = f"thread structure unknown: {unknown}, its entry is not visible; address-taken functions may run on any"
    return _Starts([*_one_main(merged), pseudo], base, f"{how} thread", True, unknown)


def _one_main(roots: list[Root]) -> list[Root]:
    """_start, main and its argument are one thread: keep the one that reaches most, the others follow it."""
    mains = [r for r in roots if r.name == "main"]
    rest = [r for r in roots if r.name != "main"]
    return mains[-1:] + rest


def _main_argument(image: Image) -> list[Root]:
    """main of a stripped program: the first argument that start-up code passes to __libc_start_main."""
    starters = [a for a, name in image.callee_names.items() if name in ("__libc_start_main", "__libc_start_call_main")]
    args = image.args
    chosen = (args["arg"] == 0) & (args["kind"] == ArgKind.ADDRESS)
    rows = function_at(image, args["value"][chosen & np.isin(args["callee"], starters)].astype(np.uint64))
    return [Root("main", int(row), False) for row in rows[rows >= 0][:1]]


def _once(edges: _Edges, n: int, roots: list[Root], entered: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Functions that a program runs at most once: main, and what it calls from one place outside loops."""
    once = np.zeros(n, bool)
    callers = np.bincount(edges.callee, minlength=n)
    repeated = np.bincount(edges.callee[in_loop(edges.depth)], minlength=n) > 0
    front = np.array([r.function for r in roots if r.function >= 0 and not r.many], np.int64)
    allowed = (callers == 1) & ~repeated & ~entered
    while len(front):
        once[front] = True
        step = np.isin(edges.caller, front)
        targets = np.unique(edges.callee[step])
        front = targets[allowed[targets] & ~once[targets]]
    return once


def _frequencies(
    edges: _Edges,
    n: int,
    roots: list[Root],
    base_set: npt.NDArray[np.bool_],
    again: npt.NDArray[np.bool_],
    once: npt.NDArray[np.bool_],
    factor: Floats,
) -> Floats:
    base = np.zeros(n)
    base[base_set] = 1.0  # may be entered; what is called through pointers, or by others, is entered again and again
    base[again] = numbers.DISPATCHED
    for root in roots:
        if root.function >= 0:
            base[root.function] = max(base[root.function], numbers.MANY_THREADS if root.many else 1.0)
    recursive = _between_cycles(edges, n)
    inner = recursive[edges.caller] & recursive[edges.callee]
    flat, cyclic = edges.keep(~inner, n), edges.keep(inner, n)
    damped = numbers.RECURSION * np.minimum(cyclic.factor, 1.0)
    frequency = base.copy()
    for _ in range(ROUNDS):
        flow = np.bincount(flat.callee, weights=frequency[flat.caller] * flat.factor, minlength=n)
        # Along cycles the busiest caller counts, not the sum: a sum would grow to the limit and rank nothing.
        around = np.zeros(n)
        np.maximum.at(around, cyclic.callee, frequency[cyclic.caller] * damped)
        fresh = np.minimum(base + flow + around, numbers.MAX_FREQUENCY) * factor  # what cold code calls is cold with it
        if np.allclose(fresh, frequency, rtol=1e-3):
            break
        frequency = fresh
    frequency[once] = np.minimum(frequency[once], 1.0)
    return frequency


def _between_cycles(edges: _Edges, n: int) -> npt.NDArray[np.bool_]:
    """Functions on a call cycle or on a path between two: what is left when leaves and roots are taken off in turn."""
    left = np.ones(n, bool)
    live = np.ones(len(edges.caller), bool)
    for _ in range(TRIM_ROUNDS):
        into = np.bincount(edges.callee[live], minlength=n) > 0
        out = np.bincount(edges.caller[live], minlength=n) > 0
        fresh = left & into & out
        if (fresh == left).all():
            break
        left = fresh
        live &= left[edges.caller] & left[edges.callee]
    return left
