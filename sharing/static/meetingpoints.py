"""What threads wait for each other at: barriers and latches, and words that one thread changes and others wait for.

Owns which objects these are, and where code arrives at them and waits.  A barrier or a latch is known by the functions
that are called for it.  Of C++20 compilers put most of a latch, a semaphore or a flag into the caller: what is left is
a call that waits for a word (``std::__atomic_wait_address``, bits/atomic_wait.h of libstdc++), and instructions that
change it.  Where that function has no name, ``latchcode`` knows it by its code.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import distinct_in, rows_having
from sharing.knowledge import Knowledge
from sharing.model.arrays import distinct, picked
from sharing.model.image import ArgKind, Image, SiteFlag, Table
from sharing.model.vocabulary import BarrierRow
from sharing.static.callees import names_of_callees
from sharing.static.executions import in_loop
from sharing.static.latchcode import WAIT, latch_waits
from sharing.static.ownbarriers import own_barriers
from sharing.static.promises import results
from sharing.static.semaphores import barriers_of, begins_with
from sharing.static.starts import Root
from sharing.static.waitwrappers import callers_of_waits
from sharing.static.wordchanges import by_one, changes, is_zero, outer, writes

_LATCH = "St5latch4wait"  # in the linkage name of a template that is handed what std::latch::wait asks
MAX_BARRIER_BYTES = 64  # of std::barrier with a small function at its end (libstdc++: 32)
Bools = npt.NDArray[np.bool_]
Masks = npt.NDArray[np.uint64]
Threads = tuple[Sequence[Root], Masks]  # roots, and which of them reach each function
_OLD_VALUE = 1  # argument: what the word has while there is something to wait for


class MeetingPoint(msgspec.Struct, frozen=True):
    """Rows of calls, or of accesses to a word, that arrive, and of calls that wait.

    ``of_region``: no object is named, it is that of all threads that run the calling function.  ``unnamed``: barriers
    that one function passes of which nobody knows where they are, in a record of its threads as a rule.  ``behind``: of
    a word that one thread sets, ranges of code that others run only then.
    """

    arrivals: Table
    waits: Table
    of_region: bool = False
    unnamed: bool = False
    behind: Table | None = None

    @property
    def both(self) -> bool:
        """Whether each call arrives and waits."""
        return self.arrivals is self.waits

    def within(self, function: int) -> MeetingPoint:
        """What one function does there."""
        arrivals, waits = (picked(rows, rows["function"] == function) for rows in (self.arrivals, self.waits))
        behind = None if self.behind is None else picked(self.behind, self.behind["function"] == function)
        return MeetingPoint(arrivals, waits, self.of_region, self.unnamed, behind)

    @property
    def functions(self) -> list[int]:
        """Rows of all functions that arrive or wait."""
        tables = (self.arrivals, self.waits, *(() if self.behind is None else (self.behind,)))
        found: list[int] = distinct(np.concatenate([rows["function"] for rows in tables])).tolist()
        return found

    @property
    def depths(self) -> Table:
        """How deep in loops each is."""
        return np.concatenate([self.arrivals["loop_depth"], self.waits["loop_depth"]])


def meeting_points(
    image: Image, knowledge: Knowledge, roots: Sequence[Root], once: Bools, mask: Masks
) -> list[MeetingPoint]:
    """Those in static storage, those of parallel regions, and by function those that are elsewhere.

    Where a program makes one barrier alone, all are that one, wherever it is.  ``once``: functions that run at most
    once; ``mask``: by function the roots that reach it.
    """
    callees = distinct_in(image.calls, "callee")
    names = names_of_callees(image, callees)
    known = barriers_of(image, knowledge)
    latches = latch_waits(image) - known.keys()
    known = known | dict.fromkeys(latches, WAIT)
    by_address = dict(zip(callees.tolist(), names, strict=True))
    at = rows_having(image.calls, "callee", list(known))
    at = at[image.calls["function"][at] >= 0]
    by_object: dict[tuple[bool, int], list[int]] = defaultdict(list)
    elsewhere: dict[int, list[int]] = defaultdict(list)
    for number, call in zip(at.tolist(), image.calls[at].tolist(), strict=True):
        argument = known[call[1]].argument
        if known[call[1]].result:
            continue
        if argument < 0:
            by_object[True, call[2]].append(number)
            continue
        given = _given(image, call[0], argument, ArgKind.ADDRESS)
        for address in given:
            by_object[False, address].append(number)
        if not given and known[call[1]].arrives and known[call[1]].waits:
            elsewhere[call[2]].append(number)
    found = []
    for apart in _by_maker(image, known, elsewhere, by_object, once):
        calls = image.calls[apart]
        found.append(MeetingPoint(calls, calls, unnamed=True))
    _join_words(image, known, by_object)
    written: Table | None = None
    for (of_region, address), numbers in by_object.items():
        calls = image.calls[numbers]
        rows = [known[callee] for callee in calls["callee"].tolist()]
        arrives, waits = np.array([row.arrives for row in rows]), np.array([row.waits for row in rows])
        # Who finds a word changed need not call; no thread of a region may leave out its barriers (OpenMP 5.2, 15.3.1).
        calls["rarity"][[row.word or of_region for row in rows]] = 0
        arrivals = calls[arrives]
        if any(row.word for row in rows) and not arrives.any():
            latch = all(one in latches or _LATCH in by_address[one] for one in calls["callee"].tolist())
            written = writes(image) if written is None else written
            changed = changes(image, written, address)
            if not latch and not _is_gate(image, (roots, mask), address, changed, calls):
                continue
            arrivals = changed[0]
        counts = any(row.begins_with or row.counts for row in rows)
        if counts and not _is_opened_once(image, (roots, mask), address, arrivals, rows):
            continue
        both = arrives.all() and waits.all()
        found.append(MeetingPoint(arrivals, arrivals if both else calls[waits], of_region))
    found += (
        MeetingPoint(one.calls, one.calls, unnamed=not one.named)
        for one in own_barriers(image, knowledge, callees, names, once)
    )
    kept = results(image, knowledge, roots, [at for at, row in known.items() if row.result], by_address)
    if kept is not None and by_one(roots, mask, kept[0]):
        found.append(MeetingPoint(*kept))
    return [outer for one in found for outer in _outside(image, one, roots)]


def _outside(image: Image, one: MeetingPoint, roots: Sequence[Root]) -> Iterator[MeetingPoint]:
    """With calls of functions that do nothing but wait there, or nothing behind their arrival."""
    begins = np.zeros(len(image.functions) + 1, bool)
    begins[[root.function for root in roots]] = True
    if one.of_region:
        yield one
        return
    if not one.both:
        waits = callers_of_waits(image, one.waits, begins, least=1)
        yield msgspec.structs.replace(one, arrivals=outer(image, roots, one.arrivals), waits=waits)
        return
    calls = callers_of_waits(image, one.waits, begins)
    caller = calls["function"]
    parts = [calls] if not one.unnamed else [calls[caller == row] for row in distinct(caller)]
    for rows in parts:
        yield msgspec.structs.replace(one, arrivals=rows, waits=rows)


def _by_maker(
    image: Image,
    known: dict[int, BarrierRow],
    elsewhere: dict[int, list[int]],
    by_object: dict[tuple[bool, int], list[int]],
    once: Bools,
) -> Iterator[list[int]]:
    """Calls at barriers of which nobody knows where they are, by function.

    Those at a kind of which the program makes one, go to ``by_object``.
    """
    for numbers in elsewhere.values():
        rows = {known[int(callee)] for callee in image.calls["callee"][numbers]}
        makers = {name for row in rows for name in row.made_by}
        made = rows_having(image.calls, "callee", [at for at, n in image.callee_names.items() if n in makers])
        calls = image.calls[made]
        if len(calls) == len(rows) == 1 and not in_loop(calls["loop_depth"])[0] and once[calls["function"][0]]:
            given = _given(image, int(calls["ip"][0]), 0, ArgKind.ADDRESS)
            by_object[False, given[0] if given else 0] += numbers
        else:
            yield numbers


def _join_words(image: Image, known: dict[int, BarrierRow], by_object: dict[tuple[bool, int], list[int]]) -> None:
    """Takes waits for a word of an object at which others arrive by name for waits at that object."""
    callees = image.calls["callee"]
    words = [key for key, calls in by_object.items() if all(known[int(one)].word for one in callees[calls])]
    others = sorted(address for of_region, address in by_object if not of_region and (of_region, address) not in words)
    for key in words:
        before = bisect.bisect_right(others, key[1])
        if before and key[1] - others[before - 1] < MAX_BARRIER_BYTES:
            by_object[False, others[before - 1]] += by_object.pop(key)


def _is_opened_once(image: Image, threads: Threads, address: int, arrivals: Table, rows: Sequence[BarrierRow]) -> bool:
    """Whether nobody passes a semaphore before one thread, the only one that releases it, has done so."""
    numbers = begins_with(image, list(rows), [address]).get(address, [])
    begins = bool(numbers) and not any(numbers)
    return begins and by_one(*threads, arrivals)


def _given(image: Image, ip: int, argument: int, kind: ArgKind) -> list[int]:
    """What a call hands over as one argument, where that is known."""
    first, last = (np.searchsorted(image.args["ip"], np.uint64(ip), side) for side in ("left", "right"))
    given = image.args[first:last]
    chosen = (given["arg"] == argument) & (given["kind"] == kind) & (given["source"] == 0)
    found: list[int] = given["value"][chosen].tolist()
    return found


def _is_gate(image: Image, threads: Threads, address: int, changed: tuple[Table, Table], calls: Table) -> bool:
    """Whether nobody passes before one thread has opened it: it is zero at first, and one thread alone changes it.

    A semaphore that begins with a number, or that several threads release, lets some pass.
    """
    arrivals, made = changed
    zero = is_zero(image, address) and not np.any(made["flags"] & SiteFlag.CLEARS == 0)
    asks_for_zero = all(_given(image, ip, _OLD_VALUE, ArgKind.CONSTANT) in ([0], []) for ip in calls["ip"].tolist())
    return zero and asks_for_zero and by_one(*threads, arrivals)
