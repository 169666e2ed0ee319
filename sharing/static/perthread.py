"""How often each kind of thread uses what, for each million instructions of its work.

Owns the estimate by thread.  ``callgraph`` has one frequency for each function, whoever runs it, and says who may.
Here the question is which of all the functions that a thread may run are its work.  What a thread's entry calls, and
what that calls in loops, is; what stands at the end of a long chain of calls is so more seldom, and what is only called
through pointers that anybody may have stored hardly ever.  Runs of functions therefore fall with each call
(``CALL_SHARE``) and start over small behind a pointer (``POINTER_SHARE``).  They are set against the instructions of
all that the thread runs: the result has the unit of exact counts (``sharing.counted``), and often means here what it
means there.

Three of the numbers were chosen among those that fit counted programs about equally well; what each program gives when
the others choose stands in docs/estimate.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.costs import PER_MILLION, busy_rate
from sharing.model.arrays import distinct, picked
from sharing.model.image import FunctionFlag, Image
from sharing.static import executions, foreign, numbers
from sharing.static.backoffs import AwakeRounds
from sharing.static.executions import in_loop
from sharing.static.pointercalls import PointerTargets
from sharing.static.waitingrounds import WaitingRounds

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST = 1e9


def sure_rate() -> float:
    """Uses per million instructions from which something is used often even where the estimate is too high."""
    return numbers.SURE_FACTOR * busy_rate()


def times(loop_depth: npt.NDArray[Any], rarity: npt.NDArray[Any]) -> Floats:
    """Executions of a place in one run of its function, by this estimate's iterations of a loop."""
    return executions.times(loop_depth, rarity, numbers.THREAD_LOOP)


class Work(msgspec.Struct, frozen=True):
    """What each function does in one run (instructions, calls through pointers), outside of loops and in loops."""

    straight: Floats
    looped: Floats

    def of(self, runs: Floats, once: Bools) -> float:
        """All of it in so many runs; of ``once``, which a thread runs once, the loops are its life."""
        return _total(runs, self.straight + self.looped * np.where(once, numbers.STEADY, 1.0))


def _total(runs: Floats, each: Floats) -> float:
    """So many runs of what each takes.  Not as a product of matrices: BLAS wakes threads for it, which only wait."""
    return float((runs * each).sum())


def work_of(image: Image, iterations: float | None = None) -> Work:
    """Each function's length, its parts executed as often as the accesses and calls in them are.

    Of code that was not optimized what it has when it is: how often threads meet is asked of what is put to work.
    ``iterations`` of a loop; without them those of the estimate for a thread.
    """
    loop = numbers.THREAD_LOOP if iterations is None else iterations
    n = len(image.functions)
    count, looped = np.zeros(n), np.zeros(n)
    straight = np.zeros(n)
    own, by_call = foreign.instructions(image)
    for table in (image.sites, image.calls):
        rows = picked(table, table["function"] >= 0)
        often, inside = executions.times(rows["loop_depth"], rows["rarity"], loop), in_loop(rows["loop_depth"])
        straight += np.bincount(rows["function"], often * ~inside, n)
        looped += np.bincount(rows["function"], often * inside, n)
        count += np.bincount(rows["function"], minlength=n)
    unoptimized = image.functions["flags"] & np.uint32(FunctionFlag.UNOPTIMIZED) != 0
    swollen = np.where(unoptimized, numbers.UNOPTIMIZED, 1.0)
    size = np.maximum(image.functions["size"] / (shared.INSTRUCTION_BYTES * swollen), 1.0)
    size = np.where(own > 0, own, size)
    part = size / np.maximum(count, 1.0)
    away = np.flatnonzero((by_call > 0) & (image.calls["function"] >= 0))
    calls = image.calls[away]
    there = executions.times(calls["loop_depth"], calls["rarity"], loop) * by_call[away] * numbers.CALL_SHARE
    inside = in_loop(calls["loop_depth"])
    return Work(
        np.where(count > 0, straight * part, size) + np.bincount(calls["function"], there * ~inside, n),
        looped * part + np.bincount(calls["function"], there * inside, n),
    )


class Calls(msgspec.Struct, frozen=True):
    """Direct calls by caller: ``start`` is their index, ``times`` how often one run of the caller makes each.

    ``flow`` is how many runs of the callee that adds: as often, but around a cycle of calls, which ends.
    """

    callee: Ints
    times: Floats
    flow: Floats
    looped: Bools
    start: Ints

    def of(self, functions: Ints) -> tuple[Ints, Ints]:
        """(rows of the calls that these functions make, how many each makes)"""
        counts = self.start[functions + 1] - self.start[functions]
        first = np.repeat(self.start[functions] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        return first + np.arange(int(counts.sum())), counts


class Threads(msgspec.Struct, frozen=True):
    """What each kind of thread runs (rows: roots, columns: functions).

    ``rates`` are runs per million instructions, ``once`` the functions that a thread runs once: what they do in loops,
    it does while it lives (``STEADY``), and the rest once.  ``near`` are those that these loops call each time around,
    ``share`` of rounds in which they are called, ``small`` those that compilers make a part of their callers,
    ``handed`` those that a thread runs once if the pointer that it calls through leads there: perhaps its life as well.
    Masks of roots: of ``unsure`` no estimate is ever sure, ``callers`` of a library are of these and may do something
    far too often all the same, ``resting`` do nothing often but maybe, ``seldom`` nothing; ``parted`` are stretches of
    threads.  ``long_rates`` are ``rates`` where loops go round more often, which what is sure has to bear
    (``longrounds``).  ``waiting`` are rounds of their loops in which they wait for each other, ``woken`` by root such
    rounds that others seldom begin, ``awake`` by root of those that sleep in some rounds the others, which alone count.
    """

    rates: Floats
    once: Bools
    near: Bools
    share: Floats
    handed: Bools
    small: Bools
    unsure: int = 0
    callers: int = 0
    resting: int = 0
    seldom: int = 0
    parted: int = 0
    waiting: WaitingRounds | None = None
    woken: dict[int, WaitingRounds] = {}
    awake: dict[int, AwakeRounds] = {}
    long_rates: Floats | None = None

    def of_parts(self, source: Sequence[int], parted: int) -> Threads:
        """The same with a row for each stretch of a thread: ``source`` is the root that it is of."""
        moved = {name: getattr(self, name) for name in ("unsure", "callers", "resting", "seldom")}
        masks = {name: mask_of(np.array([mask >> at & 1 for at in source], bool)) for name, mask in moved.items()}
        rows = np.array(source)
        parts = (self.rates[rows], self.once[rows], self.near[rows], self.share[rows], self.handed[rows])
        made = Threads(*parts, self.small)
        woken = {row: self.woken[of] for row, of in enumerate(source) if of in self.woken}
        long_rates = self.long_rates[rows] if self.long_rates is not None else None
        awake = {row: self.awake[of] for row, of in enumerate(source) if of in self.awake}
        return msgspec.structs.replace(
            made, **masks, parted=parted, waiting=self.waiting, woken=woken, awake=awake, long_rates=long_rates
        )


class PointerCalls(msgspec.Struct, frozen=True):
    """Calls through pointers: how many each run of a function has ``made``, and the ``targets`` of those of functions.

    They may end at all ``dispatched`` functions alike; ``tasks`` of these may be what a loop is there to run, and
    ``handed`` are those that are handed over.
    """

    made: Floats
    targets: Callable[[Bools], PointerTargets]
    dispatched: Bools
    tasks: Bools
    handed: Bools


def spread(calls: Calls, base: Floats, once: Bools | None = None) -> Floats:
    """Runs of every function, where those of ``base`` are run so often: what is called, and what that calls, ..."""
    total = base.copy()
    active = np.flatnonzero(base)
    runs = base[active]
    floor = numbers.FAINT * float(base.max(initial=0.0))
    for _ in range(numbers.CALLS_FOLLOWED):
        at, counts = calls.of(active)
        if not len(at):
            break
        flow = np.repeat(runs, counts) * calls.flow[at] * numbers.CALL_SHARE
        if once is not None:
            flow = np.where(np.repeat(once[active], counts) & calls.looped[at], flow * numbers.STEADY, flow)
        fresh = np.minimum(np.bincount(calls.callee[at], flow, len(base)), MOST)
        active = np.flatnonzero(fresh > floor)
        runs = fresh[active]
        total[active] = np.minimum(total[active] + runs, MOST)
    return total


def once_of(calls: Calls, entries: Ints, begins: Bools) -> Bools:
    """The entries and what they call outside of loops, and so on; without what one of them calls in a loop.

    ``begins``: rows of ``calls`` that a few checks may keep a thread from, which end it: of a thread that they end
    nobody asks how often it does what is behind them.  What such a loop leads to further on runs often as well, also
    where it is called once more in the end: the slow path of a lock, which the loop takes.
    """
    n = len(calls.start) - 1
    once = np.zeros(n, bool)
    repeated = np.zeros(n, bool)
    front = entries
    while len(front):
        once[front] = True
        at, _ = calls.of(front)
        repeated[calls.callee[at[calls.looped[at]]]] = True
        front = distinct(calls.callee[at[~calls.looped[at] & begins[at]]])
        front = front[~once[front]]
    front = np.flatnonzero(repeated)
    while len(front):
        at, _ = calls.of(front)
        front = distinct(calls.callee[at])
        front = front[~repeated[front]]
        repeated[front] = True
    once &= ~repeated
    once[entries] = True
    return once


def threads(
    calls: Calls,
    entries: Sequence[tuple[int, bool]],
    pointers: PointerCalls,
    work: Work,
    entered: Bools,
    callers_share: float = 1.0,
) -> Threads:
    """Runs of every function per million instructions of each entry's thread.

    ``entries`` are (function, is it a task): one that is run again and again, whose loops are nobody's life.

    Where a thread's loop calls through a pointer, it calls those functions one after another that are kept at the
    place of the pointer or, where nothing tells, that are handed over, if they are few; so does what the loop calls
    each time around, where the place tells or in a loop of its own. What it calls so outside of loops, as a method
    of the object that it was handed, it runs once. An entry of -1 is a thread of somebody else, who calls all of
    ``entered`` alike: nothing tells what the callers of a library do more often. Of their instructions
    ``callers_share`` are the library's.
    """
    dispatched, n = pointers.dispatched, len(pointers.dispatched)
    rates, share = np.zeros((2, len(entries), n))
    once, near, handed = np.zeros((3, len(entries), n), bool)
    each, begins, inlined = _made(calls, work)
    none_once = np.zeros(n, bool)
    anywhere, again = np.zeros(n), 0.0
    if dispatched.any():
        anywhere = spread(calls, dispatched / np.count_nonzero(dispatched))
        again = _total(anywhere, pointers.made)
    tasks = pointers.tasks
    few = tasks if np.count_nonzero(tasks) <= numbers.FEW_TARGETS else pointers.handed & tasks
    for row, (entry, is_task) in enumerate(entries):
        if entry >= 0 and not is_task:
            once[row] = once_of(calls, np.array([entry]), begins)
        if entry >= 0:
            near[row] = _near(calls, each, inlined, once[row])
    made_by = pointers.targets(np.logical_or.reduce(once, axis=0) | np.logical_or.reduce(near, axis=0))
    targets = (*made_by.targets, np.flatnonzero(few))  # the last is of the calls of which nothing is known
    for row, (entry, _) in enumerate(entries):
        base = np.zeros(n)
        if entry >= 0:
            base[entry] = 1.0
            share[row] = _share(calls, inlined, once[row], near[row])
        elif entered.any():
            base[entered] = 1.0 / np.count_nonzero(entered)
        else:
            continue
        runs = spread(calls, base, once[row])
        through = numbers.POINTER_SHARE * _total(runs, pointers.made)
        runs += through / (1.0 - min(numbers.POINTER_SHARE * again, numbers.AGAIN_MOST)) * anywhere
        often = (runs * once[row])[made_by.function] * made_by.times
        taken = numbers.STEADY * spread(calls, _tasks(made_by, targets, often * made_by.looped, n))
        # What helpers of the loop call so, where that is known, and what they go round loops of their own to call: a
        # pool's worker has a function that runs one task, or all that there are.
        helped = (runs * near[row])[made_by.function] * made_by.times * ((made_by.group >= 0) | made_by.looped)
        taken += spread(calls, _tasks(made_by, targets, helped, n))
        begun = _tasks(made_by, targets, often * ~made_by.looped, n)
        handed[row] = once_of(calls, np.flatnonzero(begun), begins) & ~once[row] & (taken == 0)
        lives = spread(calls, begun, handed[row])
        total = work.of(runs, once[row])
        rates[row] = runs * (PER_MILLION / max(total, 1.0))
        # Apart: what the loop itself does is as sure as without them.
        total += work.of(taken, none_once) + work.of(lives, handed[row])
        rates[row] += (taken + lives) * (PER_MILLION / max(total, 1.0))
        rates[row] *= callers_share if entry < 0 else 1.0
    callers = mask_of(np.array([entry < 0 for entry, _ in entries], bool))
    small = work.straight <= numbers.INLINED
    return Threads(rates, once, near, share, handed, small, unsure=callers, callers=callers)


def _tasks(made_by: PointerTargets, targets: Sequence[Ints], often: Floats, n: int) -> Floats:
    """Runs of each function that calls through pointers, made so ``often`` each, add where their targets are few."""
    tasks = np.zeros(n)
    kinds = np.stack([made_by.group, made_by.handed], axis=1)[often > 0]
    for number, handed in np.unique(kinds, axis=0).tolist():
        called = made_by.called(number, targets, handed)
        if len(called) > 0 and len(targets[number]) <= numbers.FEW_TARGETS:
            mine = (made_by.group == number) & (made_by.handed == handed)
            tasks[called] += float(often[mine].sum()) / len(called)
    return tasks


def _made(calls: Calls, work: Work) -> tuple[Bools, Bools, Bools]:
    """Rows of ``calls``: made each time around by a loop, behind a few checks at most, and made as a rule of small
    functions."""
    as_a_rule, at_least = times(np.zeros(2), np.array([numbers.EACH_TIME, numbers.LIFE_BEGINS])).tolist()
    each = calls.looped & (calls.times >= numbers.THREAD_LOOP * as_a_rule)
    inlined = (calls.times >= as_a_rule) & (work.straight <= numbers.INLINED)[calls.callee]
    return each, calls.times >= at_least, inlined


def _share(calls: Calls, inlined: Bools, once: Bools, near: Bools) -> Floats:
    """In which share of the rounds of these functions' loops each one ``near`` is called, from all places together.

    ``inlined`` are the rows of ``calls`` by which these are called by each other.
    """
    n = len(once)
    made, _ = calls.of(np.flatnonzero(once))
    made = made[calls.looped[made]]
    direct = np.bincount(calls.callee[made], calls.times[made], n) / numbers.THREAD_LOOP
    within, counts = calls.of(np.flatnonzero(near))
    caller = np.repeat(np.flatnonzero(near), counts)[inlined[within]]
    within = within[inlined[within]]
    share = np.minimum(direct, 1.0)
    for _ in range(numbers.ONCE_WRAPPERS):
        further = np.bincount(calls.callee[within], share[caller] * calls.times[within], n)
        share = np.minimum(direct + further, 1.0)
    return np.where(near, share, 0.0)


def near_without(calls: Calls, work: Work, once: Bools, left_out: Bools) -> Bools:
    """What loops of the functions that are run ``once`` call each time around, but for the calls that are left out."""
    each, _, inlined = _made(calls, work)
    return _near(calls, each & ~left_out, inlined, once)


def _near(calls: Calls, each: Bools, inlined: Bools, once: Bools) -> Bools:
    """What the loops of these functions call each time around, and what a compiler makes a part of that.

    ``each`` and ``inlined`` are rows of ``calls``: those made each time around, and those made as a rule of small
    functions, which optimised code has no more.  Source and unoptimised code should say the same.
    """
    near = np.zeros(len(once), bool)
    made, _ = calls.of(np.flatnonzero(once))
    front = distinct(calls.callee[made[each[made]]])
    while len(front):
        near[front] = True
        made, _ = calls.of(front)
        callee = distinct(calls.callee[made[inlined[made]]])
        front = callee[~near[callee]]
    return near


def mask_of(chosen: Bools) -> int:
    """The roots that are chosen (rows of ``Threads``) as one number, a bit each."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")
