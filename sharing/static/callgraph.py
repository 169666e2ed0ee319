"""The call graph: from which threads each function is reached, how often it runs, and who calls it.

Owns the order in which roots, phases and frequencies are found.  Frequencies are estimates for ranking (``frequency``)
and are never presented as measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.arrays import distinct, picked, stacked
from sharing.model.image import AccessKind, FunctionFlag, Image, ImageKind, SiteFlag, Table
from sharing.static import numbers, perthread
from sharing.static.callbacks import callback_calls
from sharing.static.coldness import coldness, left_over, without_names
from sharing.static.edges import Edges, edges_of
from sharing.static.everyround import on_every_round, whole_work
from sharing.static.executions import in_loop
from sharing.static.frequency import in_program, in_threads, run_once
from sharing.static.librarycode import library_code
from sharing.static.ownruns import with_own_runs
from sharing.static.phases import OrderedCalls, Phases, find_phases, program_point
from sharing.static.pointercalls import KeptFunctions
from sharing.static.preludes import Preludes, find_preludes
from sharing.static.reach import MAX_ROOTS, pointed, reach
from sharing.static.roots import LIBRARIES, LookElsewhere, ThreadStructure, flagged, thread_structure
from sharing.static.starts import Root
from sharing.static.stretches import Stretches, find_stretches
from sharing.static.waves import find_waves

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Per function: estimated executions, bit mask of the roots that reach it, whether it is cold, when it runs."""

    frequency: Floats
    mask: Masks
    cold: Bools
    phases: Phases
    roots: tuple[Root, ...]
    meets: tuple[int, ...]  # by root the mask of those that may run at the same time: itself where there are several
    threaded: bool
    how: str  # how concurrency was established, in words
    caller_list: Ints  # callers by callee
    caller_where: npt.NDArray[np.uint64]  # where they call it, see phases.program_point
    caller_start: Ints
    entered: Bools  # may be called from where no direct call shows it
    by_thread: perthread.Threads | None = None  # what each root runs how often, where roots are functions
    stretches: Stretches | None = None  # None: of counted threads
    unknown: str = ""  # why threads may run that were not seen to start, "" where all is known or assumed
    by_pointers: Bools | None = None  # of these, those that are through pointers of this image alone
    rest: Floats | None = None  # by function the share of its weight that makes something busy; None: all of it
    preludes: Preludes = field(default_factory=Preludes)  # what threads do before they wait for all others
    _met: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def callers(self, function: int) -> list[int]:
        """Rows of the functions that call this one directly, each once."""
        rows = self.caller_list[self.caller_start[function] : self.caller_start[function + 1]]
        return sorted(set(rows.tolist()))

    def calls_of(self, function: int) -> tuple[Ints, npt.NDArray[np.uint64]]:
        """Who calls it, and where in the caller: a row each call."""
        rows = self.rows_of_calls(function)
        return self.caller_list[rows], self.caller_where[rows]

    def rows_of_calls(self, function: int) -> slice:
        """Its calls in the lists of callers."""
        return slice(self.caller_start[function], self.caller_start[function + 1])

    def concurrent(self, a: int, b: int) -> bool:
        """Can code with root mask ``a`` run at the same time as code with mask ``b``?"""
        met = self._met.get(a)
        if met is None:
            met = 0
            for i, others in enumerate(self.meets):
                met |= others if a >> i & 1 else 0
            self._met[a] = met
        return bool(met & b)

    def mask_of(self, image: Image, rows: Table) -> Masks:
        """Per row of sites the roots that come there."""
        mask: Masks = self.mask[rows["function"]]
        return mask if self.stretches is None else self.stretches.refined(image, rows, mask)

    def root_names(self, mask: int) -> tuple[str, ...]:
        return tuple(dict.fromkeys(r.name for i, r in enumerate(self.roots) if mask >> i & 1))


def kinds_apart(calls: CallGraph) -> Callable[[int, int], bool]:
    """``concurrent`` of threads with different entries alone."""
    others = tuple(mask & ~(1 << i) for i, mask in enumerate(calls.meets))
    return replace(calls, meets=others).concurrent


def build(
    image: Image,
    knowledge: Knowledge,
    *,
    assume_threads: bool = False,
    look_elsewhere: LookElsewhere | None = None,
    presumed: Set[str] = frozenset(),
) -> CallGraph:
    """Frequencies and thread reach of every function; what is assumed and presumed as of ``thread_structure``.

    1. edges from calls, callbacks and pointers; 2. roots from thread creation, main, exports; 3. reach of the roots;
    4. phases, by what main runs once; 5. reach again, without what no second thread can overlap; 6. frequencies.
    """
    kept = KeptFunctions(image, library_code(image, knowledge))
    edges = edges_of(image, stacked([image.calls, callback_calls(image, knowledge), kept.resolved]))
    threads = thread_structure(
        image, knowledge, assume_threads=assume_threads, look_elsewhere=look_elsewhere, presumed=presumed
    )
    own = whole_work(image, edges, threads.roots)
    factor = _by_names(image, knowledge, edges, threads.roots, own)
    ways = _ways_in(image, threads)
    met = pointed(image, kept, ways.pointed) if threads.threaded else None
    entries, once = _with_bits(threads.roots), run_once(edges, threads.roots, ways.entered)
    mask = reach(image, edges, threads, met)
    main_bit = np.uint64(sum(1 << i for i, root in enumerate(entries) if root.name == "main"))
    ordered = OrderedCalls(edges.caller, edges.callee, edges.where)
    by_main = once & (mask == main_bit)
    phases = find_phases(image, knowledge, ordered, by_main, ways.entered, flagged(image, FunctionFlag.INIT))
    parallel = edges.keep(~phases.sequential(edges.caller, edges.where))
    parallel, threads = with_own_runs(image, parallel, threads, by_main)
    entries, once = _with_bits(threads.roots), run_once(edges, threads.roots, ways.entered)
    mask = reach(image, parallel, threads, met)
    waves = find_waves(image, knowledge, (roots := entries[:MAX_ROOTS]), once & (phases.first > 0))
    stretches = find_stretches(image, knowledge, entries, parallel, (mask, waves, once, phases), MAX_ROOTS)
    if stretches.parted:
        mask = reach(image, parallel, threads, met, stretches)
        main_bit |= np.uint64(sum(1 << i for i, root in enumerate(stretches.roots) if root.name == "main"))
    mask[phases.alone] = 0
    frequency = np.where(phases.alone, 0.0, in_program(edges, threads, ways.again, once, factor))
    frequency[_sets_up(mask, main_bit) & ~once] *= numbers.SET_UP
    by_thread, preludes = None, Preludes()
    if threads.threaded:
        kept = kept.while_threads_run(lambda rows: phases.sequential(rows["function"], program_point(image, rows)))
        by_thread = in_threads(image, knowledge, parallel, kept, roots, (ways.dispatched, threads.base), factor)
    if by_thread is not None:
        preludes = find_preludes(image, knowledge, stretches.meetings, roots, parallel, by_thread.once, ways.entered)
        by_thread = by_thread.of_parts(stretches.source, stretches.parted) if stretches.parted else by_thread
    caller_list, caller_where, caller_start = edges.callers_by_callee()
    return CallGraph(
        frequency,
        mask,
        (factor < 1.0) | phases.alone,
        phases,
        stretches.roots,
        stretches.meets,
        threads.threaded,
        threads.how,
        caller_list,
        caller_where,
        caller_start,
        ways.entered,
        by_thread,
        stretches,
        threads.unknown,
        ways.by_pointers,
        left_over(image, threads.roots, own),
        preludes.of_parts(stretches.source),
    )


def _by_names(image: Image, knowledge: Knowledge, edges: Edges, roots: Sequence[Root], own: Ints) -> Floats:
    """By function how much less often it runs by its name or place; ``own`` is all that a thread does."""
    started = [root.function for root in roots if root.function >= 0 and root.name != "main"]
    begun = distinct(np.append(own, np.array(started, np.int64))).tolist()
    return without_names(coldness(image, knowledge), image, knowledge, on_every_round(image, edges, own), begun)


def _sets_up(mask: Masks, main_bit: np.uint64) -> Bools:
    """Functions that main alone runs where others run most of the program."""
    if not main_bit or np.count_nonzero(mask & ~main_bit) < numbers.BIG_PROGRAM:
        return np.zeros(len(mask), bool)
    found: Bools = (mask != 0) & (mask & ~main_bit == 0)
    return found


def _with_bits(roots: Sequence[Root]) -> tuple[Root, ...]:
    """The root of each bit: those that share the last one are one, of which there are several."""
    own, others = roots[:MAX_ROOTS], roots[MAX_ROOTS:]
    if len(others) > 1:
        return (*own, Root("other threads", others[0].function, True))
    return (*own, *others)


class _WaysIn(msgspec.Struct, frozen=True):
    """Functions that may be entered from where no direct call shows it: any such way is ``entered``."""

    dispatched: Bools  # through pointers
    pointed: Bools  # so, or by other files: from wherever these call what they see of a library
    again: Bools  # the same again and again, and not once to choose what a library does
    entered: Bools
    by_pointers: Bools  # ``dispatched``, and in no other way


def _ways_in(image: Image, threads: ThreadStructure) -> _WaysIn:
    exported = flagged(image, FunctionFlag.EXPORTED)
    rows = [root.function for root in threads.roots if root.function >= 0]
    dispatched = flagged(image, FunctionFlag.ADDRESS_TAKEN) & ~flagged(image, FunctionFlag.INIT)
    dispatched[rows] = False
    entered = dispatched | threads.base
    if image.kind in LIBRARIES:
        entered |= exported
    entered[rows] = True
    by_pointers = dispatched & ~threads.base & ~(exported & (image.kind in LIBRARIES))
    again = dispatched
    if image.kind is ImageKind.SHARED:
        again = dispatched | (threads.base & exported & ~_setters(image))
    return _WaysIn(dispatched, dispatched | (threads.base & exported), again, entered, by_pointers)


def _setters(image: Image) -> Bools:
    """Functions that store something and do nothing else: how callers of a library choose what it does, once."""
    n = len(image.functions)
    sites = picked(image.sites, image.sites["function"] >= 0)
    plain = (sites["kind"] == AccessKind.STORE) & ((sites["flags"] & SiteFlag.ATOMIC) == 0)
    plain &= ~in_loop(sites["loop_depth"])
    more = np.bincount(sites["function"][~plain], minlength=n) > 0
    more |= np.bincount(image.calls["function"][image.calls["function"] >= 0], minlength=n) > 0
    setters: Bools = (np.bincount(sites["function"], minlength=n) > 0) & ~more
    return setters
