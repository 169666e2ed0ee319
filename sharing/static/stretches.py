"""Stretches of threads that never overlap: parted by barriers and latches, or by calls that wait for what they start.

Owns who meets whom.  A thread that has returned from a barrier runs at one time with nobody who has not come to it: of
code in a thread's entry the barriers that lie before it tell how far the thread is, and what that code calls is as far.
A stretch has a bit of its own in the masks of roots.  Looked at are barriers in static storage that entries of threads
pass outside of loops and nobody else does.

A round of a loop that passes barriers several times, on whichever arms, has as many stretches: what lies before the
first of them is one with what lies behind the last.  A line that is used in two of them moves once a round, which is
little beside what threads pay that wait for each other twice in it.  A single barrier in a loop parts nothing.
Compilers make several loops of one where its arms differ by thread: of code it is known at which stage of a round each
block is (``Image.blocks``), whatever the loops are.

Threads of one entry that goes one of several ways for life (``lifearms``) have a bit for each way, and all meet.  So
has each section of a parallel region (``sectionarms``), which meets the others and not itself.

What main does before it starts threads of a kind meets none of these (``beforestarts``).

A parallel region that only the main thread enters, by a call that returns when the region has ended, overlaps neither
main's own code nor another such region.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence, Set

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics.columns import rows_having
from sharing.basics.ways import points
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct, picked
from sharing.model.image import Image, Table
from sharing.model.vocabulary import BarrierRow
from sharing.static.barrierrounds import MAX_CALLS, MAX_PARTS, Round, Stages, rounds_of
from sharing.static.beforestarts import STARTED, BeforeStarts, before_starts, lines_of_main
from sharing.static.callees import functions_called
from sharing.static.edges import Edges
from sharing.static.executions import in_loop
from sharing.static.howfar import NO_ROUND, OF_ALL, Arrivals, Waits, loops_around
from sharing.static.lifearms import LifeArms, life_arms
from sharing.static.meetingpoints import MeetingPoint, meeting_points
from sharing.static.phases import Phases, program_point
from sharing.static.readyflags import ready_flags
from sharing.static.sectionarms import section_arms
from sharing.static.semaphores import semaphores_of
from sharing.static.starts import Root
from sharing.static.tokens import Token, tokens
from sharing.static.turns import Turns, turns
from sharing.static.waves import Waves
from sharing.static.waysin import ways_in

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]
# By object: arrivals made before at most, waits passed before at least; of a loop how many barriers of a round, and 0.
Passed = tuple[tuple[int, int], ...]


class _Line(msgspec.Struct, frozen=True):
    """What the entry of a thread passes: for each object the places of the calls that arrive, and that wait, there.

    ``objects`` are numbers; those of ``rounds``, which follow, are below zero.  ``sections`` of the entry, where it has
    any, part its stretches further.  ``function`` may be one that the thread comes to ``through`` others, once.
    """

    root: int
    function: int
    objects: tuple[int, ...]
    arrivals: tuple[Arrivals, ...]
    waits: tuple[Waits, ...]
    rounds: tuple[Round | Stages | Turns | Token | BeforeStarts, ...] = ()
    sections: LifeArms | None = None
    through: tuple[int, ...] = ()

    def passed(self, image: Image, rows: Table) -> list[Passed]:
        """How far a thread is at each of these places of the entry, and last in which section, if in one."""
        places, loops = points(image, rows), loops_around(image, rows)
        columns = []
        for arrivals, waits in zip(self.arrivals, self.waits, strict=True):
            made, done = arrivals.made(places, loops), waits.passed(places, rows["rarity"])
            columns.append(list(zip(made.tolist(), done.tolist(), strict=True)))
        columns += [one.passed(image, rows) for one in self.rounds]
        passed: list[Passed] = list(zip(*columns, strict=True))
        if self.sections is None:
            return passed
        arms = self.sections.at(places)
        return [(*one, (arm, 0)) if arm >= 0 else one for one, arm in zip(passed, arms, strict=True)]

    def without(self, *kinds: type) -> _Line:
        """Less: of what threads set for others the ``kinds``, and with turns the words that they wait for."""
        kept = [at for at, waits in enumerate(self.waits) if waits.behind is None or Turns not in kinds]
        rounds = [at for at, one in enumerate(self.rounds) if not isinstance(one, kinds)]
        objects = (*(self.objects[at] for at in kept), *(self.objects[len(self.waits) + at] for at in rounds))
        return msgspec.structs.replace(
            self,
            objects=objects,
            arrivals=tuple(self.arrivals[at] for at in kept),
            waits=tuple(self.waits[at] for at in kept),
            rounds=tuple(self.rounds[at] for at in rounds),
        )

    def starts(self) -> Iterator[tuple[int, BeforeStarts]]:
        """Whom it starts, by the numbers of these stages."""
        numbered = zip(self.objects[len(self.waits) :], self.rounds, strict=True)
        return ((number, one) for number, one in numbered if isinstance(one, BeforeStarts))

    def once(self, passed: Passed) -> bool:
        """Is it a section, which one thread does?"""
        return len(passed) > len(self.objects)


class _Ways(msgspec.Struct, frozen=True):
    """An entry whose threads go one of several ways: how far they are on it is not looked at.

    ``once``: no two threads go the same one.
    """

    root: int
    function: int
    arms: LifeArms
    once: bool = False
    through: tuple[int, ...] = ()

    def passed(self, image: Image, rows: Table) -> list[Passed]:
        """The way that each of these places of the entry is on, nothing of what may be on several."""
        return [((arm, 0),) if arm >= 0 else () for arm in self.arms.at(points(image, rows))]


class _Parts(msgspec.Struct, frozen=True):
    """An entry with the bit of each of its stretches, or ways of life."""

    line: _Line | _Ways
    bits: dict[Passed, int]
    every: int  # mask of the bits


class Stretches(msgspec.Struct, frozen=True):
    """``roots`` with one for each stretch, ``source`` by root the one that it is of, ``meets`` who may overlap it.

    ``parted`` is the mask of those roots that are stretches; ``meetings`` is where threads wait for each other.
    """

    roots: tuple[Root, ...]
    source: tuple[int, ...]
    meets: tuple[int, ...]
    parted: int = 0
    parts: tuple[_Parts, ...] = ()
    meetings: tuple[MeetingPoint, ...] = ()

    def calls(self, image: Image, edges: Edges) -> Iterator[tuple[int, Ints, int]]:
        """(function of an entry, what it calls in one of its stretches, the bit of that)"""
        for parts in self.parts:
            rows = np.flatnonzero(edges.caller == parts.line.function)
            callees, masks = edges.callee[rows], self._masks(image, parts, edges.made(image, rows))
            for bit in parts.bits.values():
                yield parts.line.function, callees[masks & np.uint64(1 << bit) != 0], bit
                yield self.roots[bit].function, np.zeros(0, np.int64), bit
            for outer, inner in itertools.pairwise((*parts.line.through, parts.line.function)):
                beside = edges.callee[edges.caller == outer]
                for bit in parts.bits.values():
                    yield outer, beside[beside != inner], bit

    def refined(self, image: Image, rows: Table, masks: Masks) -> Masks:
        """Masks of accesses by function, those in entries limited to the stretch that each is in."""
        for parts in self.parts:
            at = np.flatnonzero(rows["function"] == parts.line.function)
            masks[at] = (masks[at] & ~np.uint64(parts.every)) | self._masks(image, parts, rows[at])
        return masks

    def _masks(self, image: Image, parts: _Parts, rows: Table) -> Masks:
        """Of rows of sites or calls of the entry; where one is not known to be, any stretch."""
        tables = image.sites, image.calls, image.behind.elsewhere
        own = [table["ip"][rows_having(table, "function", parts.line.function)] for table in tables]
        known = among(rows["ip"], np.concatenate(own))
        passed = parts.line.passed(image, rows)
        masks = [1 << parts.bits[p] if p in parts.bits else parts.every for p in passed]
        return np.where(known, np.array(masks, np.uint64), np.uint64(parts.every))


def find_stretches(
    image: Image,
    knowledge: Knowledge,
    roots: Sequence[Root],
    edges: Edges,
    known: tuple[Masks, Waves, Bools, Phases],
    most: int,
) -> Stretches:
    """``known``: the roots that reach each function, pairs of roots that never meet (``waves``), functions that run at
    most once, and what runs while there is one thread; ``most`` roots may come out, stretches included.

    1. calls at which threads wait for each other, by object; 2. entries that pass some outside of loops, as nobody else
    does; 3. how far each of their calls and accesses is; 4. who meets whom.
    """
    mask, in_series, once, phases = known
    roots, waves = in_series.in_series(roots), in_series.parted
    made, source = list(roots), list(range(len(roots)))
    passed: list[dict[int, tuple[int, int]]] = [{} for _ in roots]
    regions = _regions(roots, mask)

    def alone(rows: Table) -> Bools:
        return phases.sequential(rows["function"], program_point(image, rows))

    parts: list[_Parts] = []
    sections: set[int] = set()
    meetings = meeting_points(image, knowledge, roots, once, mask)
    begun = {at for at, of in regions.items() if at == of}
    starts = before_starts(image, in_series.places, alone)
    for line in _lines(image, meetings, roots, begun, (edges, mask, alone), semaphores_of(image, knowledge), starts):
        behind = () if line.sections is None else (image.behind.elsewhere,)
        own = [picked(rows, rows["function"] == line.function) for rows in (image.sites, image.calls, *behind)]
        found = list(dict.fromkeys(p for rows in own for p in line.passed(image, rows)))
        for less in ((BeforeStarts,), (Turns, Token)):
            if len(found) <= MAX_PARTS:
                break
            line = line.without(*less)
            found = list(dict.fromkeys(p for rows in own for p in line.passed(image, rows)))
        if not 1 <= len(found) <= MAX_PARTS or len(made) + len(found) - 1 > most:
            continue
        bits = {p: line.root if not at else len(made) + at - 1 for at, p in enumerate(found)}
        parts.append(_Parts(line, bits, sum(1 << bit for bit in bits.values())))
        sections.update(bit for p, bit in bits.items() if line.once(p))
        passed[line.root] = dict(zip(line.objects, found[0], strict=False))
        for p in found[1:]:
            made.append(dataclasses.replace(roots[line.root], is_part=True))
            source.append(line.root)
            passed.append(dict(zip(line.objects, p, strict=False)))
    for ways in _lives(image, roots, edges, {one.line.root for one in parts}):
        found = [((arm, 0),) for arm in range(max(ways.arms.arms) + 1)]
        if not 1 < len(found) <= MAX_PARTS or len(made) + len(found) - 1 > most:
            continue
        bits = {p: ways.root if not at else len(made) + at - 1 for at, p in enumerate(found)}
        parts.append(_Parts(ways, bits, sum(1 << bit for bit in bits.values())))
        sections.update(bits.values() if ways.once else ())
        for _ in found[1:]:
            made.append(dataclasses.replace(roots[ways.root], is_part=True))
            source.append(ways.root)
            passed.append({})
    for number, one in (told for of in parts if isinstance(of.line, _Line) for told in of.line.starts()):
        for at in (at for at, of_root in enumerate(source) if of_root == one.root):
            passed[at][number] = STARTED
    apart = {(a, b) for a in range(len(roots)) for b in range(len(roots)) if _one_after_another(roots, regions, a, b)}
    meets = _meets(made, source, passed, waves | apart, sections)
    parted = sum(p.every for p in parts)
    return Stretches(tuple(made), tuple(source), tuple(meets), parted, tuple(parts), tuple(meetings))


def _meets(
    made: Sequence[Root],
    source: Sequence[int],
    passed: Sequence[dict[int, tuple[int, int]]],
    apart: Set[tuple[int, int]],
    sections: Container[int],
) -> list[int]:
    """By root, stretches included, who may overlap it.  ``apart``: pairs of roots that never do."""
    meets = []
    for at, root in enumerate(made):
        met = 0
        for other in range(len(made)):
            together = root.many if source[at] == source[other] else (source[at], source[other]) not in apart
            together &= at != other or at not in sections
            if together and not _parted(passed[at], passed[other]):
                met |= 1 << other
        meets.append(met)
    return meets


def _lives(image: Image, roots: Sequence[Root], edges: Edges, parted: Container[int]) -> Iterator[_Ways]:
    """Entries that several threads begin in and nothing calls, of which each thread goes one of several ways, or does
    one of several sections at a time."""
    for function, at in _entries(image, roots, edges).items():
        if not roots[at].many or at in parted:
            continue
        sections = section_arms(image, function)
        arms = sections if sections is not None else life_arms(image, function)
        if arms is not None:
            yield _Ways(at, function, arms, once=sections is not None)


def _entries(image: Image, roots: Sequence[Root], edges: Edges) -> dict[int, int]:
    """By function that a root alone runs the root: its entry, or the one function that the entry does nothing but call.

    Without optimisation clang makes two functions of a parallel region, the second for debuggers.
    """
    callee, times = np.unique(edges.callee, return_counts=True)
    calls, once = functions_called(image), set(callee[times == 1].tolist())
    called, found = set(callee.tolist()), dict[int, int]()
    made = np.bincount(image.calls["function"] + 1, minlength=len(image.functions) + 1)
    for at, root in enumerate(roots):
        if root.function < 0 or root.function in called:
            continue
        found[root.function] = at
        if made[root.function + 1] == 1:
            inner = int(calls[image.calls["function"] == root.function][0])
            if inner in once and not (image.sites["function"] == root.function).any():
                found[inner] = found.pop(root.function)
    return found


def _parted(a: dict[int, tuple[int, int]], b: dict[int, tuple[int, int]]) -> bool:
    """Has the one returned from a wait for an arrival that the other one has not made, or are they in two stretches of
    one round?"""
    return any(
        waited > other.get(at, (OF_ALL, 0))[0]
        for one, other in ((a, b), (b, a))
        for at, (_, waited) in one.items()
        if at >= 0
    ) or any(NO_ROUND not in (a[at], b[at]) and a[at] != b[at] for at in a.keys() & b.keys() if at < 0)


def _regions(roots: Sequence[Root], mask: Masks) -> dict[int, int]:
    """Roots that main alone starts, and waits for before it goes on, and what these start and wait for, as a region its
    sections: by root the one that main starts."""
    main = sum(1 << at for at, root in enumerate(roots) if root.name == "main")
    found = {
        at: at
        for at, root in enumerate(roots)
        if root.waited_in and all(int(mask[function]) == main for function in root.waited_in)
    }
    bits = {1 << at: at for at in range(len(roots))}
    fresh = True
    while fresh:
        fresh = False
        for at, root in enumerate(roots):
            around = {found.get(bits.get(int(mask[function]), at), -1) for function in root.waited_in}
            if at not in found and len(around) == 1 and (region := around.pop()) >= 0:
                found[at] = region
                fresh = True
    return found


def _one_after_another(roots: Sequence[Root], regions: dict[int, int], a: int, b: int) -> bool:
    """Two regions, or one and main."""
    if a in regions and b in regions:
        return regions[a] != regions[b]
    return (a in regions and roots[b].name == "main") or (b in regions and roots[a].name == "main")


def _lines(
    image: Image,
    objects: list[MeetingPoint],
    roots: Sequence[Root],
    regions: Container[int],
    calls: tuple[Edges, Masks, Callable[[Table], Bools]],
    semaphores: dict[int, BarrierRow],
    starts: dict[int, list[BeforeStarts]],
) -> Iterator[_Line]:
    """Entries of threads that pass barriers, where all calls at each of these are in such entries, and main's code.

    ``calls``: edges, the roots that reach each function, and what runs while there is one thread; ``semaphores``: by
    address functions that wait at one, or post it; ``starts``: by function the threads that main starts there.
    """
    edges, mask, alone = calls
    entry = _entries(image, roots, edges)
    through = ways_in({row for one in objects for row in one.functions}, entry, image, edges)
    own = {row: root for row, root in entry.items() if root not in {entry[way[0]] for way in through.values()}}
    taken: dict[int, Turns | Token] = dict(tokens(image, roots, own, semaphores)) | dict(
        turns(image, roots, own, alone)
    )
    objects = [*objects, *_flags(image, roots, objects, (edges, mask), (entry, through))]
    entry |= {row: entry[way[0]] for row, way in through.items()}
    passed: dict[int, list[int]] = defaultdict(list)
    again: dict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(objects):
        rows = one.functions
        inside = all(row in entry and (not one.of_region or entry[row] in regions) for row in rows)
        if not inside:
            continue
        looped = in_loop(one.depths).any() and (one.both or in_loop(one.waits["loop_depth"]).any())
        for row in rows if looped else ():
            again[row].append(number)
        for row in rows if not looped and not one.unnamed else ():
            passed[row].append(number)
    kinds: dict[tuple[int, ...], int] = {}
    lines = list(dict.fromkeys((*passed, *again, *taken)))
    for row, way in lines_of_main(starts, lines, entry, image, edges):
        entry[row] = entry[way[0]]
        through |= {row: way} if way != (row,) else {}
        lines += [row] if row not in lines else []
    for row in lines:
        numbers = passed[row]
        rounds: dict[int, Round | Stages | Turns | Token | BeforeStarts]
        rounds = dict(rounds_of(image, row, [(number, objects[number]) for number in again[row]], kinds))
        if row in taken:
            rounds[kinds.setdefault((0, taken[row].word), -1 - len(kinds))] = taken[row]
        rounds |= {kinds.setdefault((1, one.root), -1 - len(kinds)): one for one in starts.get(row, ())}
        if not numbers and not rounds:
            continue
        here = [objects[number].within(row) for number in numbers]
        if sum(len(one.arrivals) + len(one.waits) for one in here) > MAX_CALLS:
            continue
        arrivals = tuple(Arrivals.of(image, one.arrivals) for one in here)
        waits = tuple(Waits.of(image, one.waits, one.behind) for one in here)
        told = tuple(rounds.values())
        sections = section_arms(image, row)
        way = through.get(row, ())
        yield _Line(entry[row], row, (*numbers, *rounds), arrivals, waits, told, sections, way)


def _flags(
    image: Image,
    roots: Sequence[Root],
    objects: list[MeetingPoint],
    known: tuple[Edges, Masks],
    begins: tuple[dict[int, int], dict[int, tuple[int, ...]]],
) -> list[MeetingPoint]:
    """Words that an entry sets and another one waits for; ``begins``: entries, and of functions the ways from these.

    Functions that have such ways are added to the latter.
    """
    (edges, mask), (entry, through) = known, begins
    found = list(ready_flags(image, roots, mask))
    taken = {entry[way[0]] for way in through.values()}
    functions = {row for one in objects for row in one.functions}
    functions |= {row for one in found for row in distinct(one.functions).tolist()}
    ways = ways_in(functions, entry, image, edges) if found else {}
    through |= {row: way for row, way in ways.items() if entry[way[0]] not in taken}
    usable = [row for row, root in entry.items() if root not in taken] + list(through)
    flags = []
    for one in found:
        arrives = among(one.arrivals["function"], usable)
        behind, waits = (rows[among(rows["function"], usable)] for rows in (one.behind, one.waits))
        waits = waits[~in_loop(waits["loop_depth"])]
        if arrives.all() and len(behind) + len(waits):
            flags.append(MeetingPoint(one.arrivals, waits, behind=behind))
    return flags
