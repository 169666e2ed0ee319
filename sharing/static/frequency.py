"""How often each function runs, estimated in two ways: in the whole program, and in each kind of thread.

Owns the first (in the spirit of Wu and Larus, MICRO-27, 1994, with loop depth for branch probabilities) and what the
second, ``perthread``'s, is made of.  Estimates are for ranking and never presented as measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.knowledge import Knowledge
from sharing.model.arrays import distinct
from sharing.model.image import Image, ImageKind
from sharing.static import foreign, numbers, perthread
from sharing.static.backoffs import AwakeRounds, awake_rounds
from sharing.static.callees import handed_over
from sharing.static.edges import Edges
from sharing.static.executions import in_loop, times
from sharing.static.longrounds import longer_calls, operations
from sharing.static.objectcode import of_objects_alone
from sharing.static.pointercalls import KeptFunctions, pointer_targets
from sharing.static.roots import ThreadStructure
from sharing.static.starts import Root
from sharing.static.waitingrounds import WaitingRounds, calls_that_wait, waiting_loops, with_called
from sharing.static.wokenthreads import Ways, woken_seldom

ROUNDS = 12

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def run_once(edges: Edges, roots: Sequence[Root], entered: Bools) -> Bools:
    """Functions that a program runs at most once: main, and what it calls from one place outside loops."""
    once = np.zeros(edges.functions, bool)
    callers = np.bincount(edges.callee, minlength=edges.functions)
    repeated = np.bincount(edges.callee[in_loop(edges.depth)], minlength=edges.functions) > 0
    front = np.array([root.function for root in roots if root.function >= 0 and not root.many], np.int64)
    allowed = (callers == 1) & ~repeated & ~entered
    while len(front):
        once[front] = True
        targets = distinct(edges.called(front)[0])
        front = targets[allowed[targets] & ~once[targets]]
    return once


def in_program(edges: Edges, threads: ThreadStructure, again: Bools, once: Bools, factor: Floats) -> Floats:
    """Runs of each function: iterates f = base + sum over its call sites.

    ``again``: functions that are called through pointers, or by others, again and again; ``factor``: see ``coldness``.
    """
    base = _entered_runs(threads, again)
    cycles = edges.between_cycles()
    around = cycles[edges.caller] & cycles[edges.callee]
    flat, cyclic = edges.keep(~around), edges.keep(around)
    damped = numbers.RECURSION * np.minimum(cyclic.factor, 1.0)
    frequency = base.copy()
    for _ in range(ROUNDS):
        flow = np.bincount(flat.callee, weights=frequency[flat.caller] * flat.factor, minlength=len(base))
        # Along cycles the busiest caller counts, not the sum: a sum would grow to the limit and rank nothing.
        busiest = np.zeros(len(base))
        np.maximum.at(busiest, cyclic.callee, frequency[cyclic.caller] * damped)
        # What cold code calls is cold with it.
        fresh = np.minimum(base + flow + busiest, numbers.MAX_FREQUENCY) * factor
        if np.allclose(fresh, frequency, rtol=1e-3):
            break
        frequency = fresh
    frequency[once] = np.minimum(frequency[once], 1.0)
    return frequency


def _entered_runs(threads: ThreadStructure, again: Bools) -> Floats:
    """Runs of each function that no direct call makes."""
    base = threads.base.astype(np.float64)
    base[again] = numbers.DISPATCHED
    for root in threads.roots:
        if root.function >= 0:
            runs = numbers.MANY_THREADS if root.many else 1.0
            base[root.function] = max(base[root.function], numbers.DISPATCHED if root.is_task else runs)
    return base


def in_threads(
    image: Image,
    knowledge: Knowledge,
    edges: Edges,
    kept: KeptFunctions,
    roots: Sequence[Root],
    ways_in: tuple[Bools, Bools],
    factor: Floats,
) -> perthread.Threads | None:
    """What each root runs how often; None in a kernel, whose work is not that of all its functions alike.

    ``ways_in``: functions that are called through pointers, and those that other files call.
    """
    dispatched, base = ways_in
    if image.kind in (ImageKind.KERNEL, ImageKind.MODULE):
        return None
    called = base & (factor >= 1.0)  # a library's: to set up and to tear down is not what it is called for
    calls, work = _calls(edges, factor), perthread.work_of(image)
    estimate = partial(
        perthread.threads,
        entries=[(root.function, root.is_task) for root in roots],
        entered=called if called.any() else base,
        # Of source whoever checks it knows that threads are busy there.
        callers_share=numbers.CALLERS_SHARE if image.kind is ImageKind.SHARED and image.origins is None else 1.0,
    )
    found = estimate(calls, pointers=_calls_through_pointers(image, kept, dispatched, numbers.THREAD_LOOP), work=work)
    if image.origins is not None:
        longest = estimate(
            _calls(longer_calls(edges), factor),
            pointers=_calls_through_pointers(image, kept, dispatched, shared.LOOP_FACTOR),
            work=_long_work(image),
        )
        found = msgspec.structs.replace(found, long_rates=longest.rates)
    sleeping = foreign.sleepers(image, found.once)
    some, rest, long = (perthread.mask_of(rows) for rows in (sleeping.some, sleeping.rest, sleeping.long))
    near_without = partial(perthread.near_without, calls, work)
    waiting = _waiting(image, knowledge, edges, found, near_without)
    awake = _awake(image, edges, roots, found, sleeping, near_without)
    ways = Ways(edges, roots, dispatched, base, factor)
    woken = woken_seldom(image, knowledge, ways, found, sleeping.rest | sleeping.long)
    return msgspec.structs.replace(
        found, unsure=found.unsure | some, resting=rest, seldom=long, waiting=waiting, woken=woken, awake=awake
    )


def _awake(
    image: Image,
    edges: Edges,
    roots: Sequence[Root],
    threads: perthread.Threads,
    sleeping: foreign.Sleepers,
    near_without: Callable[[Bools, Bools], Bools],
) -> dict[int, AwakeRounds]:
    """By root of several threads that sleep in some rounds only, those in which they do not."""
    wanted = sleeping.some & ~sleeping.rest & ~sleeping.long & np.array([root.many for root in roots], bool)
    made = edges.made(image, np.arange(len(edges.caller))) if wanted.any() else None
    return {
        root: awake_rounds(image, threads.once[root], threads.near[root], sleeping.calls, made, near_without)
        for root in np.flatnonzero(wanted).tolist()
        if made is not None
    }


def _waiting(
    image: Image,
    knowledge: Knowledge,
    edges: Edges,
    threads: perthread.Threads,
    near_without: Callable[[Bools, Bools], Bools],
) -> WaitingRounds | None:
    """The rounds in which threads wait for each other.  ``near_without``: as ``perthread``'s, of these calls."""
    waits = calls_that_wait(image, knowledge)
    once, near = (np.logical_or.reduce(rows, axis=0) for rows in (threads.once, threads.near))
    found = waiting_loops(image, waits, once)
    if not found.loops and not near[image.calls["function"][waits.direct]].any():
        return None
    made = edges.made(image, np.arange(len(edges.caller)))
    return with_called(image, waits, found, near, near_without(once, found.among(image, made)))


def _calls(edges: Edges, factor: Floats) -> perthread.Calls:
    made = edges.once * factor[edges.callee]
    cycles = edges.between_cycles()
    around = cycles[edges.caller] & cycles[edges.callee]
    # With the share that each call keeps, no cycle grows.
    flow = np.where(around, np.minimum(made, numbers.RECURSION / numbers.CALL_SHARE), made)
    return perthread.Calls(edges.callee, made, flow, in_loop(edges.depth), edges.start)


def _long_work(image: Image) -> perthread.Work:
    """What functions do where their loops go round more often, by all that they do there."""
    work = perthread.work_of(image, shared.LOOP_FACTOR)
    return msgspec.structs.replace(work, looped=np.maximum(work.looped, operations(image)))


def _calls_through_pointers(
    image: Image, kept: KeptFunctions, dispatched: Bools, iterations: float
) -> perthread.PointerCalls:
    """``iterations`` of a loop."""
    rows, _ = kept.unresolved()
    often = times(rows["loop_depth"], rows["rarity"], iterations)
    made = np.bincount(rows["function"], often, len(image.functions)).astype(np.float64)
    targets = partial(pointer_targets, kept, iterations=iterations)
    tasks = dispatched.copy()
    rows = np.flatnonzero(dispatched)
    tasks[rows[of_objects_alone(image, rows)]] = False
    return perthread.PointerCalls(made, targets, dispatched, tasks, handed_over(image))
