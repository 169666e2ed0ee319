"""How often each root makes the accesses of a thing, and of which of these it is sure.

Owns reading ``perthread``'s estimate at accesses: what a thread's own loop does each time around, what it does so in
what it calls, and what it does only once in a round in which it waits.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.costs import busy_rate
from sharing.model.image import AccessKind, Table
from sharing.model.profile import FrequentUse
from sharing.static import numbers
from sharing.static.executions import each_time, in_loop, longer, mostly, times
from sharing.static.perthread import Threads, mask_of, sure_rate

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class InRounds(msgspec.Struct, frozen=True):
    """In which rounds of their loops threads make accesses.

    ``rarity``: in a round of the outermost loop, where that is known: what comes before a thread's loop, checks of what
    it was handed, says nothing of what each round does.  ``waiting``: those that are made once in a round that waits
    for another thread; ``seldom`` by root those that it makes once in a round that others seldom begin, ``awake`` by
    root that sleeps in some rounds those that it makes in none of these.
    """

    rarity: npt.NDArray[np.uint8] | None = None
    waiting: Bools | None = None
    seldom: dict[int, Bools] = {}
    awake: dict[int, Bools] = {}


class Uses:
    """How often threads make the accesses of a table, which is asked for many parts of it."""

    def __init__(
        self,
        threads: Threads,
        sites: Table,
        once: Floats,
        mask: npt.NDArray[np.uint64],
        rounds: InRounds | None = None,
    ) -> None:
        """``once``: how often one run of its function makes each access; ``mask``: the roots that come there."""
        rounds = rounds or InRounds()
        self._threads = threads
        self._once = once
        self._long = once * longer(sites["loop_depth"]) if threads.long_rates is not None else None
        self._mask = mask
        self._function = np.ascontiguousarray(sites["function"])
        self._looped = in_loop(sites["loop_depth"])
        rarity = sites["rarity"] if rounds.rarity is None else rounds.rarity
        self._rule, self._mostly = each_time(rarity), mostly(rarity)
        self._branch = rarity >= numbers.EVERY_ROUND
        self._chance = times(np.zeros(len(rarity)), rarity)
        self._order = sites["order"]
        self._waiting = rounds.waiting if rounds.waiting is not None and rounds.waiting.any() else None
        self._seldom, self._awake = rounds.seldom, rounds.awake
        self._far_counts = threads.callers | sum(1 << root for root in rounds.awake)
        self._writes = (sites["kind"] == AccessKind.STORE) | (sites["kind"] == AccessKind.RMW)
        most = threads.rates.max(axis=0, initial=0.0)[self._function] * once
        self._lives = threads.once | threads.handed
        self._parted = np.array([row for row in range(len(threads.rates)) if threads.parted >> row & 1], np.int64)
        steady = np.logical_or.reduce(self._lives, axis=0)[self._function] & self._looped
        self._most: list[float] = np.where(steady, most * max(numbers.STEADY, 1.0), most).tolist()

    def each(self, at: Ints) -> Floats:
        """Uses per million instructions (rows: roots) of these accesses."""
        return self._each(at, self._threads.once[:, self._function[at]], self._threads.rates, self._once)

    def _each(self, at: Ints, once: Bools, rates: Floats, of_run: Floats) -> Floats:
        """``once``: by root whether it runs the functions of these accesses once, at these ``rates`` of their runs."""
        function, looped = self._function[at], self._looped[at]
        result: Floats = rates[:, function] * of_run[at]
        if len(self._parted):  # these roots come only to some of what the function does
            result[self._parted] *= self._mask[at] >> self._parted[:, None].astype(np.uint64) & np.uint64(1)
        if looped.all():
            return np.where(self._lives[:, function], result * numbers.STEADY, result)
        result = np.where(once, result * looped, result)
        return np.where(self._lives[:, function] & looped, result * numbers.STEADY, result)

    def often(self, rows: list[int]) -> FrequentUse:
        """Roots that write, and that use, what these accesses are to, as often as costs a program something.

        Sure is only what a thread's own loop does as a rule each time around, itself or in what it calls.  Of what is
        further away and estimated to be that often, counts say so of a tenth.  A thread that sleeps in its loop does
        nothing far too often: its share of its own instructions is not one of the time.
        """
        busy, surely, maybe = busy_rate(), sure_rate(), busy_rate() / numbers.SURE_FACTOR
        # Most is used far too seldom by any root.
        if sum(map(self._most.__getitem__, rows)) < min(maybe, busy, surely) / 2:
            return FrequentUse()
        threads, at = self._threads, np.array(rows)
        kinds, function, looped = self._writes[at], self._function[at], self._looped[at]
        once = threads.once[:, function]
        by_access = self._each(at, once, threads.rates, self._once)
        perhaps_writes, perhaps_uses = by_access[:, kinds].sum(axis=1), by_access.sum(axis=1)
        writes, uses = perhaps_writes, perhaps_uses
        rarer = [(root, chosen) for root, seldom in self._seldom.items() if (chosen := seldom[at]).any()]
        if rarer:
            for root, chosen in rarer:
                by_access[root, chosen] = 0.0
            writes, uses = by_access[:, kinds].sum(axis=1), by_access.sum(axis=1)
        held, far_writes, far_uses = by_access, writes, uses
        if threads.long_rates is not None and self._long is not None:
            longest = self._each(at, once, threads.long_rates, self._long)
            held = np.minimum(by_access, longest * numbers.SURE_FACTOR)
        far = self._while_awake(held, at)
        if far is not by_access:
            far_writes, far_uses = far[:, kinds].sum(axis=1), far.sum(axis=1)
        inside = (once & looped) | threads.near[:, function]
        own = held * (inside & self._rule[at])
        own_writes, own_uses = own[:, kinds].sum(axis=1), own.sum(axis=1)
        paced_writes = paced_uses = 0
        if self._waiting is not None and self._waiting[at].any():
            free = own * ~self._waiting[at]
            paced_writes = mask_of((own_writes >= surely) & (free[:, kinds].sum(axis=1) < surely))
            paced_uses = mask_of((own_uses >= surely) & (free.sum(axis=1) < surely))
        surely_writing = mask_of(own_writes >= surely)
        chosen_writes = self._chosen(at[kinds], own[:, kinds]) & surely_writing if surely_writing else 0
        if perhaps := mask_of(writes >= busy) & ~surely_writing:
            chosen_writes |= self._chosen_alone(at[kinds], by_access[:, kinds], inside[:, kinds]) & perhaps
        at_all = ~threads.seldom
        often = at_all & ~threads.resting
        sure = often & ~threads.unsure
        far_too = sure | (often & self._far_counts)
        return FrequentUse(
            mask_of(writes >= busy) & often,
            mask_of(uses >= busy) & often,
            surely_writing & sure,
            mask_of(own_uses >= surely) & sure,
            mask_of(perhaps_writes >= maybe) & at_all,
            mask_of(perhaps_uses >= maybe) & at_all,
            mask_of(far_writes >= surely) & far_too,
            mask_of(far_uses >= surely) & far_too,
            paced_writes,
            paced_uses,
            chosen_writes & often,
        )

    def _while_awake(self, held: Floats, at: Ints) -> Floats:
        """``held`` without what threads do in rounds in which they sleep; the same where there is none."""
        far = held
        for root, awake in self._awake.items():
            if not awake[at].all():
                far = far.copy() if far is held else far
                far[root, ~awake[at]] = 0.0
        return far

    def _chosen_alone(self, at: Ints, made: Floats, inside: Bools) -> int:
        """As ``_chosen`` of those ``inside`` these loops, of roots that make the others not often."""
        return self._chosen(at, made * inside) & mask_of((made * ~inside).sum(axis=1) < busy_rate())

    def _chosen(self, at: Ints, own: Floats) -> int:
        """Roots whose own loops make these accesses only on a way that a round as likely does not take.

        Ways that part may all lead to one: they count together, by the blocks where accesses are.  What is behind the
        early return of a small function is behind a branch where compilers make it a part of its caller.
        """
        threads, function = self._threads, self._function[at]
        behind = threads.small[function] & self._branch[at]
        steady = self._mostly[at] & (
            (threads.once[:, function] & self._looped[at]) | (~behind & (threads.share[:, function] > 1 / 2))
        )
        chosen = 0
        for root in np.flatnonzero((own > 0).any(axis=1)).tolist():
            made = own[root] > 0
            if (steady[root] & made).any():
                continue
            blocks: dict[tuple[int, int], float] = {}
            for row, branch in zip(at[made].tolist(), behind[made].tolist(), strict=True):
                most = 1 / 2 if branch and not threads.once[root, self._function[row]] else 1.0
                blocks[int(self._function[row]), int(self._order[row])] = min(float(self._chance[row]), most)
            functions = dict.fromkeys((one for one, _ in blocks), 0.0)
            for (one, _), chance in blocks.items():
                functions[one] += chance
            taken = sum(
                total if threads.once[root, one] else min(total, 1.0) * float(threads.share[root, one])
                for one, total in functions.items()
            )
            chosen |= (taken <= 1 / 2) << root
        return chosen
