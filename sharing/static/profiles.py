"""Profiles of single lines: actors with their bytes, accessors and heat.

Owns the step from the pieces of a variable (``pieces``) to actors, and from actors to a line.  Does not choose the
lines (``correlate``) and does not judge them (``rules``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import msgspec
import numpy as np

from sharing.basics.naming import Demangle, readable_names
from sharing.basics.ways import in_loops
from sharing.knowledge import Knowledge
from sharing.knowledge.purposewords import counts_failures
from sharing.model.arrays import distinct
from sharing.model.image import Image
from sharing.model.profile import Access, Actor, FrequentUse, LineProfile, Neighbour, Range, Role, Spot
from sharing.model.types import Member
from sharing.model.vocabulary import LockKind
from sharing.static import numbers
from sharing.static.accesscolumns import ATOMIC, BITMAP, GIVEN, INDEXED, LOAD, OWN, RMW, STORE, WALKS, AccessColumns
from sharing.static.callees import function_name
from sharing.static.callgraph import CallGraph
from sharing.static.correlate import Accesses, Thresholds
from sharing.static.entrylocks import held_on_entry
from sharing.static.flow import INIT, LockCalls
from sharing.static.givenback import GivenBack
from sharing.static.guards import Guards, HeldThere, held_in_calls, lock_uses
from sharing.static.helpers import Helpers, Place
from sharing.static.origins import AccessOrigins
from sharing.static.owners import Owners
from sharing.static.pieces import Piece, Splitter
from sharing.static.roles import role_of
from sharing.static.shapes import Shapes
from sharing.static.threaduses import InRounds, Uses

MAX_NEIGHBOURS = 64
MAX_SPOTS = 8  # of what one function does to one actor; the others are like them


class _Sum(msgspec.Struct):
    """The accesses that one function makes in one direction, taken together."""

    rows: list[int]
    busiest: int  # row of the access with the largest weight
    weight: float = 0.0
    mask: int = 0
    depth: int = 0
    cold: bool = True
    stride: int = 0
    walks: bool = False
    own: bool = False
    told: bool = False
    bits: bool = False


class Profiler:
    """Builds line profiles of one image; holds the joined tables."""

    def __init__(
        self,
        image: Image,
        graph: CallGraph,
        accesses: Accesses,
        locks: LockCalls,
        knowledge: Knowledge,
        limits: Thresholds,
        demangle: Demangle,
    ) -> None:
        self.image = image
        self.graph = graph
        self.accesses = accesses
        self._knowledge = knowledge
        self._limits = limits
        self.settled: Callable[[Actor], Actor] | None = (
            None  # has the last word on each actor; before the first is made
        )
        functions = distinct(accesses.sites["function"]).tolist()
        raw = {row: function_name(image, row) for row in functions}
        shown = readable_names(list(raw.values()), demangle)
        self._names = {row: shown[name] for row, name in raw.items()}
        shapes = Shapes(image, knowledge)
        self._owners = Owners(image, shapes)
        self._columns = AccessColumns.of(accesses, image)
        self._splitter = Splitter(self._columns, shapes, knowledge, locks.sizes)
        in_calls = held_in_calls(locks, knowledge) if image.origins else {}
        given_back = GivenBack(image, locks, knowledge) if image.origins else None
        gone = given_back.before(accesses.sites) if given_back is not None else None
        entry = held_on_entry(image, graph, given_back)
        self._origins = AccessOrigins(image, accesses.sites, self.name_of, entry, in_calls, gone)
        self._guards = Guards(
            image,
            self._columns,
            self._origins,
            graph,
            lock_uses(image, locks, knowledge, self.name_of),
            self._held(locks),
        )
        self._helpers = Helpers(image)
        sets_up = locks.events["effect"] == INIT
        self._set_up = distinct(locks.events["address"][sets_up])
        threads, once = graph.by_thread, accesses.once
        self._uses: Uses | None = None
        if threads is not None and once is not None:
            rounds = InRounds(
                in_loops(image, accesses.sites),
                threads.waiting.among(image, accesses.sites) if threads.waiting is not None else None,
                {root: woken.among(image, accesses.sites) for root, woken in threads.woken.items()},
                {root: awake.among(image, accesses.sites) for root, awake in threads.awake.items()},
            )
            self._uses = Uses(threads, accesses.sites, once, accesses.mask, rounds)
        self._by_variable = np.argsort(accesses.variable, kind="stable")
        self._first = np.searchsorted(accesses.variable[self._by_variable], np.arange(len(image.variables) + 1))
        self._actors: dict[int, tuple[Actor, ...]] = {}
        self._helped: dict[int, tuple[list[int], frozenset[str] | None]] = {}  # by helper its callers
        self._lines: dict[tuple[int, int], LineProfile] = {}

    def _held(self, locks: LockCalls) -> dict[int, list[HeldThere]]:
        names = {address: self.name_of(address) for address in locks.sizes}
        return {
            function: [HeldThere(begin, end, names[address]) for begin, end, address in held]
            for function, held in locks.held.items()
        }

    def name_of(self, address: int) -> str:
        """Display name of a static address: variable, or variable.member where the type is known."""
        return self._owners.name_of(address)

    def profile(self, address: int, size: int) -> LineProfile:
        """The line [address, address+size): its actors and every object on it."""
        known = self._lines.get((address, size))
        if known is not None:
            return known
        starts = self.image.variables["address"]
        first, stop = np.searchsorted(starts, [np.uint64(address), np.uint64(address + size)]).tolist()
        # The variable that covers the first byte may start long before; of those that end earlier, none counts.
        covering = self.image.variable_at(address)
        actors = [
            actor
            for row in range(first if covering < 0 else min(covering, first), stop)
            for actor in self.actors(row)
            if actor.touched_on(address, address + size)
        ]
        actors.sort(key=lambda a: (a.span, a.name))
        line = LineProfile(address, size, tuple(actors), self._neighbours(address, size))
        self._lines[(address, size)] = line
        return line

    def actors(self, row: int) -> tuple[Actor, ...]:
        """All actors of one variable, from all its accesses; computed once."""
        known = self._actors.get(row)
        if known is None:
            sites = sorted(self._by_variable[self._first[row] : self._first[row + 1]].tolist())
            pieces = self._splitter.pieces(self._owners.owner(row), sites) if sites else []
            known = tuple(a for piece in pieces if (a := self._actor(piece)) is not None)
            if self.settled is not None:
                known = tuple(map(self.settled, known))
            self._actors[row] = known
        return known

    @cached_property
    def _chosen_locks(self) -> dict[str, Range]:
        """Locks in arrays, of which code chooses one each time that it takes any, by name: the bytes of the first."""
        columns = self._columns
        taken = [at for at, lock in enumerate(columns.lock) if lock >= 0]
        by_index = {columns.target[at] for at in taken if columns.stride[at]}
        fixed = {columns.target[at] for at in taken if not columns.stride[at] and not columns.cold[at]}
        rows = {columns.target[at]: columns.lock[at] for at in taken}
        found = {}
        for address in by_index - fixed:
            abi = self._knowledge.lock_abi(rows[address], self.image)
            found[self.name_of(address)] = address, address + (abi.size if abi is not None else 0)
        return found

    def _is_striped(self, begin: int, write_guards: frozenset[str]) -> bool:
        """Whether what begins there is written under locks that are chosen with it, in arrays of their own.

        What lies behind the first of several locks, where the next one would be in an array of nothing else, is in a
        record with it: elements under different locks are as far apart as these records.
        """
        chosen = [self._chosen_locks.get(name) for name in write_guards]
        return bool(chosen) and all(
            lock is not None and not lock[1] <= begin < 2 * lock[1] - lock[0] for lock in chosen
        )

    def _is_set_up(self, span: Range) -> bool:
        """Whether a call that is handed an address in there writes it."""
        first, stop = np.searchsorted(self._set_up, np.array(span, np.uint64)).tolist()
        return bool(first < stop)

    def within(self, start: int, size: int) -> tuple[Actor, ...]:
        """Actors with bytes in [start, start+size)."""
        row = self.image.variable_at(start)
        return tuple(a for a in self.actors(row) if a.span[0] < start + size and start < a.span[1]) if row >= 0 else ()

    def _neighbours(self, address: int, size: int) -> tuple[Neighbour, ...]:
        table = self.image.variables
        stop = int(np.searchsorted(table["address"], np.uint64(address + size), "left"))
        out: list[Neighbour] = []
        for row in range(stop - 1, max(stop - 1 - MAX_NEIGHBOURS, -1), -1):
            start = int(table["address"][row])
            end = start + max(int(table["size"][row]), 1)
            if end > address:
                out.append(Neighbour(self.image.variable_name(row), (start, end)))
            elif start < address:
                break
        return tuple(reversed(out))

    def _actor(self, piece: Piece) -> Actor | None:
        """The piece with who accesses it; None where nobody does."""
        owner, lock, leaf = piece.owner, piece.lock, piece.leaf
        accesses = self._summed(piece.rows, piece.name if lock is not None else "")
        if not accesses:
            return None
        often = self.often(piece.rows)
        if lock is not None:
            role, kind, type_name = *_as_lock(self._knowledge.locks[lock.row].kind), lock.type_name
            hot, read = _moved(lock.hot, piece.span[0]), _moved(lock.read, piece.span[0])
        else:
            role, kind, type_name = role_of(leaf, accesses, self._knowledge, often), "", _leaf_type(leaf)
            hot, read = (piece.span,), ()
            if role is Role.CONSTANT and self._is_set_up(piece.span):
                role = Role.READ_MOSTLY  # a once flag, of which code here reads whether it is done
        of_library = self._knowledge.is_library_data(owner.name, owner.language)
        writes, reads, often = self._counting(piece, role, accesses, often, of_library)
        write_guards = self._guards.of([at for at in piece.rows if self._columns.kind[at] in (STORE, RMW)])
        write_heat, read_heat, raised = self._limits.heats(writes, reads, often, guarded=bool(write_guards))
        part = lock if lock is not None else leaf
        return Actor(
            name=piece.name,
            often=often,
            owner=owner.name,
            owner_span=owner.span,
            span=piece.span,
            hot=hot,
            read_hot=read,
            role=role,
            kind=kind,
            type_name=type_name,
            owner_type=owner.type_name,
            source=owner.source,
            file=owner.file,
            language=owner.language,
            alignment=owner.alignment,
            section=owner.section,
            unit=owner.unit,
            identity=owner.identity,
            support=self._support(piece.rows),
            accesses=accesses,
            callers=(callers := self._callers(piece.rows))[0],
            late_callers=callers[1],
            helpers=callers[2],
            write_heat=write_heat,
            read_heat=read_heat,
            raised=raised,
            of_library=of_library,
            guards=self._guards.of(piece.rows),
            write_guards=write_guards,
            striped=self._is_striped(piece.span[0], write_guards),
            is_volatile=leaf is not None and leaf.is_volatile,
            sized=owner.sized,
            room=owner.room,
            stride=part.stride if part is not None else 0,
            count=part.count if part is not None else 1,
        )

    def _counting(
        self, piece: Piece, role: Role, accesses: tuple[Access, ...], often: FrequentUse | None, of_library: bool
    ) -> tuple[list[Access], list[Access], FrequentUse | None]:
        """The writes and reads that heat is told by, and how often it is used, without what is known to be seldom."""
        writes, reads = _shared(accesses)
        if piece.leaf is not None and self._is_thread_handle(piece.leaf):
            writes, reads = [], [a for a in reads if not a.writes]  # written once a thread, which costs far more
            often = often and FrequentUse()
        if counts_failures(piece.name) and _is_counted(role, accesses) and not self._in_every_round(piece.rows):
            # The branch that it counts on looks as likely as its other arm.
            writes, reads = [], [a for a in reads if not a.writes]
            often = often and often.doubtful()
        if of_library and piece.owner.language == "Rust":
            # Crates make their static data once, and grow it or hook in there; what they count is the program's.
            writes, often = [], often and often.unwritten()
        return writes, reads, often

    def _in_every_round(self, rows: list[int]) -> bool:
        """Does the loop of a thread's entry write it on each of its rounds, whatever its name says of what it counts?

        An outermost one: of an arm that goes back to the loop's begin compilers make a loop within it.  Loops of what
        entries call may be those of an arm as well, that tries again.
        """
        sites, columns = self.accesses.sites, self._columns
        entries = {root.function for root in self.graph.roots}
        return any(
            columns.kind[at] in (STORE, RMW)
            and columns.function[at] in entries
            and columns.depth[at] == 1
            and sites["rarity"][at] < numbers.EVERY_ROUND
            for at in rows
        )

    def _is_thread_handle(self, leaf: Member) -> bool:
        return any(self._knowledge.thread_handles.find(name) >= 0 for name in (*leaf.via, _leaf_type(leaf)))

    def _support(self, rows: list[int]) -> tuple[tuple[str, int, int], ...]:
        columns = self._columns
        return self._origins.support([at for at in rows if columns.lock[at] < 0 and columns.weight[at] > 0])

    def often(self, rows: list[int]) -> FrequentUse | None:
        """Roots that write these bytes, and that use them, as often as costs a program something."""
        return self._uses.often(rows) if self._uses is not None else None

    def _callers(
        self, rows: list[int]
    ) -> tuple[frozenset[str], frozenset[str], tuple[tuple[str, frozenset[str]], ...]]:
        """Functions that call those which make these accesses, helpers, as nothing else enters them; those of them
        of which each helper goes on for a while behind its accesses; and the callers of each helper that are all known.
        """
        columns, places = self._columns, dict[int, list[Place]]()
        for at in rows:
            if not self.graph.entered[columns.function[at]]:
                places.setdefault(columns.function[at], []).append((columns.order[at], columns.ip[at]))
        soon: set[int] = set()
        late: set[int] = set()
        helpers: list[tuple[str, frozenset[str]]] = []
        for helper, at_places in places.items():
            known = self._helped.get(helper)
            callers, every = known if known is not None else self._callers_of(helper)
            (late if self._helpers.goes_on(helper, at_places) else soon).update(callers)
            if every is not None:
                helpers.append((self._names[helper], every))
        return self._shown(soon | late), self._shown(late - soon), tuple(helpers)

    def _callers_of(self, helper: int) -> tuple[list[int], frozenset[str] | None]:
        """Who calls it, and the names of these where it and they all have one."""
        callers = self.graph.callers(helper)
        named = helper in self._names and callers and all(caller in self._names for caller in callers)
        found = self._helped[helper] = callers, self._shown(set(callers)) if named else None
        return found

    def _shown(self, functions: set[int]) -> frozenset[str]:
        return frozenset(self._names[f] for f in functions if f in self._names)

    def _summed(self, rows: list[int], lock: str) -> tuple[Access, ...]:
        """One Access per function and direction, heaviest first; ``lock`` is the actor's name if it is one."""
        columns = self._columns
        sums: dict[tuple[int, bool, bool, bool, bool], _Sum] = {}
        for at in rows:
            kind, flags, locks = columns.kind[at], columns.flags[at], columns.lock[at] >= 0
            writes = kind in (STORE, RMW) and not locks
            reads = kind in (LOAD, RMW) and not locks
            key = (columns.function[at], writes, reads, bool(flags & ATOMIC), locks)
            entry = sums.get(key)
            if entry is None:
                entry = sums[key] = _Sum([], at)
            elif columns.weight[at] > columns.weight[entry.busiest]:
                entry.busiest = at
            entry.mask |= columns.mask[at]
            entry.weight += columns.weight[at]
            entry.depth = max(entry.depth, columns.depth[at])
            entry.rows.append(at)
            entry.cold = entry.cold and columns.cold[at]
            entry.own = entry.own or bool(flags & OWN)
            if flags & INDEXED:
                entry.stride = max(entry.stride, columns.stride[at])
                entry.walks = entry.walks or bool(flags & WALKS)
                entry.told = entry.told or bool(flags & OWN and flags & GIVEN)
                entry.bits = entry.bits or bool(flags & BITMAP)
        out = [
            Access(
                self._names[function],
                one.weight,
                one.mask,
                writes,
                reads,
                atomic,
                locks,
                one.depth,
                len(one.rows),
                one.cold,
                one.stride,
                *self._origins.where(one.busiest, besides=lock),
                walks=one.walks,
                own=one.own,
                told=one.told,
                bits=one.bits,
                spots=self._spots(one.rows),
                rest=columns.rest[one.busiest] if columns.rest is not None else 1.0,
                operands=self._operands(one.rows) if atomic else (),
            )
            for (function, writes, reads, atomic, locks), one in sums.items()
        ]
        out.sort(key=lambda a: (-a.weight, a.function, a.writes))
        return tuple(out)

    def _spots(self, rows: list[int]) -> tuple[Spot, ...]:
        columns = self._columns
        if len(rows) > MAX_SPOTS:
            rows = sorted(rows, key=lambda at: -columns.weight[at])[:MAX_SPOTS]
        return tuple(map(columns.spot, rows))

    def _operands(self, rows: list[int]) -> tuple[Range, ...]:
        """Bytes that the sites name, as far as their number is known."""
        columns = self._columns
        return tuple(
            sorted({(columns.target[at], columns.target[at] + columns.size[at]) for at in rows if columns.size[at]})
        )


def _as_lock(kind: LockKind) -> tuple[Role, str]:
    """The role of a lock of this kind, and its name: a once flag is only read once all is set up."""
    return Role.READ_MOSTLY if kind is LockKind.ONCE else Role.LOCK, str(kind)


def _is_counted(role: Role, accesses: tuple[Access, ...]) -> bool:
    """A counter; one that is volatile, or of code that is not optimised, is read and written one after the other."""
    if role is Role.WRITTEN:
        return {a.function for a in accesses if a.writes} <= {a.function for a in accesses if a.reads}
    return role in (Role.COUNTER, Role.ATOMIC)


def _shared(accesses: tuple[Access, ...]) -> tuple[list[Access], list[Access]]:
    """(writes, reads) that some root reaches; what locks writes."""
    reached = [a for a in accesses if a.mask]
    return [a for a in reached if a.writes or a.locks], [a for a in reached if a.reads and not a.locks]


def _moved(ranges: tuple[Range, ...], start: int) -> tuple[Range, ...]:
    return tuple((start + begin, start + end) for begin, end in ranges)


def _leaf_type(leaf: Member | None) -> str:
    """The innermost name of the leaf's own type; typedefs around it come last in ``via``."""
    if leaf is None:
        return ""
    return leaf.type_name or (leaf.via[-1] if leaf.via else "")
