"""One line as the rules see it: actors (variables or members) with who touches which bytes, how and how often.

Owns plain values only.  Built by ``sharing.static.correlate`` from an image, or by hand in tests: rules need no ELF.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from typing import NamedTuple

import msgspec

from sharing.model.ways import Point

Range = tuple[int, int]  # [start, end) addresses
# Kinds taken to wait or to wake, not on each pass: they hold nothing, and their cost is the sleep, not the line.
COMPANIONS = frozenset({"condition variable", "once flag", "barrier", "wait queue"})


class Role(StrEnum):
    LOCK = "lock"
    ATOMIC = "atomic"
    COUNTER = "counter"
    LIST_HEAD = "list head"
    WRITTEN = "written data"
    READ_MOSTLY = "read-mostly data"
    CONSTANT = "data never written here"
    UNKNOWN = "not accessed by name"


class Heat(IntEnum):
    """Rank of an actor in its own program.  HOT: among the busiest; WARM: in repeated code; COLD: neither."""

    COLD = 0
    WARM = 1
    HOT = 2


class Spot(NamedTuple):
    """An access in its function."""

    at: Point
    weight: float


class Access(msgspec.Struct, frozen=True):
    """What one function does to one actor: summed over its sites.

    ``weight`` is estimated executions (static) or samples; ``mask`` the thread roots that reach the function.
    """

    function: str
    weight: float
    mask: int
    writes: bool
    reads: bool
    atomic: bool
    locks: bool
    loop_depth: int = 0
    sites: int = 1
    cold: bool = False
    stride: int = 0  # bytes between elements when it touches an unknown one of several
    source: str = ""  # file:line:column of the busiest of its sites
    under: tuple[str, ...] = ()  # locks held there
    walks: bool = False  # the elements are taken in turn or at random, by whichever thread
    own: bool = False  # the element is the running thread's, by its index or the pointer that leads there
    told: bool = False  # ... which it was given when it started: one of another kind may have been given the same
    bits: bool = False  # changes a bit of the element that it chooses by number
    spots: tuple[Spot, ...] = ()  # the busiest of its sites; none are known where it is not said
    rest: float = 1.0  # the share of ``weight`` that makes the actor busy
    operands: tuple[Range, ...] = ()  # of atomic sites, by address; of elements the first; none where it is not known


class FrequentUse(msgspec.Struct, frozen=True):
    """Which roots write something, and use it, often by what each of them is seen to do: masks.

    ``far_writes`` and ``far_uses`` are those that do so far more often than would matter, ``sure_writes`` and
    ``sure_uses`` those whose own loop alone does, ``maybe_writes`` and ``maybe_uses`` those that do so often enough if
    the estimate is as wrong as estimates are.  ``paced_writes`` and ``paced_uses`` are those of ``sure_writes`` and
    ``sure_uses`` that do so once in a round in which they wait for another thread; ``chosen_writes`` those of
    ``writes`` whose own loop alone does so, on a way of which nothing says that a round takes it more often than
    another.
    """

    writes: int = 0
    uses: int = 0
    sure_writes: int = 0
    sure_uses: int = 0
    maybe_writes: int = 0
    maybe_uses: int = 0
    far_writes: int = 0
    far_uses: int = 0
    paced_writes: int = 0
    paced_uses: int = 0
    chosen_writes: int = 0

    def unwritten(self) -> FrequentUse:
        """The same of something that nobody writes any more."""
        return msgspec.structs.replace(self, writes=0, sure_writes=0, maybe_writes=0, far_writes=0)

    def unchosen(self) -> FrequentUse:
        """The same of a lock by those alone who do not take it on such a way only."""
        names = ("writes", "uses", "sure_writes", "sure_uses")
        masks = {name: getattr(self, name) & ~self.chosen_writes for name in names}
        return msgspec.structs.replace(self, **masks)

    def doubtful(self) -> FrequentUse:
        """The same of something that is used far less often than the code around it."""
        return FrequentUse(maybe_writes=self.maybe_writes, maybe_uses=self.maybe_uses)

    @property
    def surely_written(self) -> bool:
        """Does the own loop of a thread write it each time around?"""
        return bool(self.sure_writes)

    @property
    def surely_read(self) -> bool:
        """Does the own loop of a thread that does not write it read it each time around?"""
        return bool(self.sure_uses & ~self.sure_writes)

    @property
    def by_several(self) -> bool:
        """Do two kinds of threads use it often enough, if the estimate is as wrong as estimates are?"""
        return bool(self.maybe_uses & (self.maybe_uses - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Actor:
    """A run of bytes that is one thing to the program.

    ``span`` covers the whole object or member, ``hot`` the bytes that are touched while the program runs (of a
    lock, by its ABI).  ``owner`` is the variable it belongs to; equal owners are members of one variable.
    """

    name: str
    owner: str
    owner_span: Range
    span: Range
    hot: tuple[Range, ...]
    role: Role
    read_hot: tuple[Range, ...] = ()  # bytes of a lock that its operations only read
    kind: str = ""  # "mutex", "spinlock", ... of a lock
    type_name: str = ""
    owner_type: str = ""
    source: str = ""
    language: str = ""
    alignment: int = 0  # declared alignment of the owner in bytes, 0 when none is declared
    section: str = ""
    unit: int = -1
    accesses: tuple[Access, ...] = ()
    write_heat: Heat = Heat.COLD
    read_heat: Heat = Heat.COLD
    guards: frozenset[str] = frozenset()  # locks that most of its use is under
    write_guards: frozenset[str] = frozenset()  # the same for its writes alone: readers may be optimistic
    striped: bool = False  # those are locks in arrays, of which code chooses one
    is_volatile: bool = False
    sized: bool = True  # False where the extent is inferred
    room: int = 0  # bytes from the owner's begin to the next thing that code refers to: it is no larger
    stride: int = 0
    count: int = 1
    identity: str = ""  # see Participant.identity
    file: str = ""  # of its declaration, as sharing.basics.sourcepath shortens it
    callers: frozenset[str] = frozenset()  # functions with data of their own here, whose helpers make the accesses
    late_callers: frozenset[str] = frozenset()  # those to which each helper returns a while after it made them
    helpers: tuple[tuple[str, frozenset[str]], ...] = ()  # each helper, and all that calls it
    often: FrequentUse | None = None  # None: not estimated by root
    raised: bool = False  # hot in a loop of its own thread only, not among the busiest of the program
    of_library: bool = False  # the standard library's own data, which no user of it can move
    support: tuple[tuple[str, int, int], ...] = ()  # guards with (accesses under it, accesses in all), from source
    # Of ``accesses``, made once: rules ask for them for every pair.
    writers: tuple[Access, ...] = field(init=False)
    readers: tuple[Access, ...] = field(init=False)
    lockers: tuple[Access, ...] = field(init=False)
    write_weight: float = field(init=False)
    weight: float = field(init=False)
    functions: frozenset[str] = field(init=False)
    by_function: dict[str, tuple[Access, ...]] = field(init=False)  # those that are not cold
    _masks: tuple[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "writers", tuple(a for a in self.accesses if a.writes or a.locks))
        put(self, "readers", tuple(a for a in self.accesses if a.reads and not a.locks))
        put(self, "lockers", tuple(a for a in self.accesses if a.locks))
        put(self, "write_weight", sum(a.weight for a in self.writers))
        put(self, "weight", sum(a.weight for a in self.accesses))
        by_function: dict[str, list[Access]] = {}
        for access in self.accesses:
            if not access.cold:
                by_function.setdefault(access.function, []).append(access)
        put(self, "by_function", {function: tuple(rows) for function, rows in by_function.items()})
        put(self, "functions", frozenset(by_function))
        put(self, "_masks", (_roots(self.accesses), _roots(self.writers)))

    def placed(self, **places: object) -> Actor:
        """The same actor at other addresses: ``places`` are fields, but for ``accesses``, of which more is made."""
        actor = object.__new__(Actor)
        for name in _FIELDS:
            object.__setattr__(actor, name, places[name] if name in places else getattr(self, name))
        return actor

    @property
    def array(self) -> str:
        """The array that it is an element of, by name; "" of none."""
        return self.name.partition("[")[0] if self.count > 1 else ""

    @property
    def heat(self) -> Heat:
        """By which findings are graded: its rank in the program, and what a thread's own loop surely does."""
        return max(self.write_heat, self.read_heat)

    @property
    def told_heat(self) -> Heat:
        """What is told of it: what two kinds of threads are estimated to use often is hot whatever its rank.

        Counts confirm that of more of what is used most, without more of what is not used (docs/accuracy.md).  It
        grades no finding: that two threads meet there takes more than an estimate of each.
        """
        return Heat.HOT if self.often is not None and self.often.by_several else self.heat

    @property
    def is_lock(self) -> bool:
        return self.role is Role.LOCK

    @property
    def synchronised(self) -> bool:
        """Used as data of several threads is: a lock, atomics, volatile, or under a lock.

        Who loads it atomically expects another thread to store, be that store a plain one.
        """
        return (
            self.is_lock
            or self.role is Role.ATOMIC
            or self.is_volatile
            or bool(self.guards or self.write_guards)
            or any(a.atomic and a.mask and not a.cold for a in self.accesses)
        )

    def mask(self, *, writers: bool = False) -> int:
        """Union of the roots of its accesses (of the writing ones only)."""
        return self._masks[writers]

    def hot_on(self, start: int, end: int) -> tuple[Range, ...]:
        """Hot bytes within [start, end)."""
        return _clip(self.hot, start, end)

    def touched_on(self, start: int, end: int) -> tuple[Range, ...]:
        """Hot and read bytes within [start, end)."""
        return _clip(tuple(sorted(self.hot + self.read_hot)), start, end)


_FIELDS = tuple(one.name for one in fields(Actor))


def _roots(accesses: tuple[Access, ...]) -> int:
    out = 0
    for a in accesses:
        if a.weight > 0:
            out |= a.mask
    return out


def _clip(ranges: tuple[Range, ...], start: int, end: int) -> tuple[Range, ...]:
    return tuple((max(a, start), min(b, end)) for a, b in ranges if a < end and b > start)


class Neighbour(msgspec.Struct, frozen=True):
    """An object on the line, hot or not, for the picture."""

    name: str
    span: Range


class LineProfile(msgspec.Struct, frozen=True):
    """One line: actors with hot bytes on it, and every object that lies on it."""

    address: int
    size: int
    actors: tuple[Actor, ...]
    neighbours: tuple[Neighbour, ...] = msgspec.field(default=())
    place: str = ""  # in words, where the address is only one of several that are possible

    @property
    def label(self) -> str:
        """The line in a sentence: "line 0x4040", "a line of .bss of cache.c"."""
        return self.place or f"line {self.address:#x}"

    @property
    def end(self) -> int:
        return self.address + self.size
