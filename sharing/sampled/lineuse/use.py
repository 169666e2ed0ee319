"""One line as a profile saw it: who touched which of its bytes, how, when beside whom, at what cost.

Owns plain values only.  Built by ``lines`` from placed samples, or by hand in tests.  Addresses are
places in a space (``sharing.model.attribution``); byte ranges are [start, end) offsets in the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from sharing.model.attribution import Basis, Region
from sharing.model.image import AccessKind
from sharing.sampled.interval import Share, wilson


class Provenance(IntEnum):
    """How an access is known, weakest first."""

    CODE = 0  # a function that was sampled on the thread contains it
    WITNESS = 1  # in the same straight run of code as a sampled instruction
    SAMPLE = 2  # the sample is its own


class Concurrency(StrEnum):
    """Whether two threads use a line at the same time."""

    CONCURRENT = "concurrent"
    PHASED = "phased"
    TIME_SLICED = "on one processor"  # they had to take turns: what they do to each other elsewhere is not known
    UNKNOWN = "unknown"

    @property
    def apart(self) -> bool:
        """In this run they did not disturb each other."""
        return self in (Concurrency.PHASED, Concurrency.TIME_SLICED)


@dataclass(frozen=True, slots=True)
class Overlap:
    """The test of one pair of threads on one line.

    ``share`` of their samples fall while the other one is using the line; ``alternations`` of ``expected``;
    ``resolution_ns`` is how far apart uses must be to count as separate.
    """

    concurrency: Concurrency
    samples: tuple[int, int]
    share: Share
    alternations: int = 0
    expected: float = 0.0
    resolution_ns: int = 0


UNTESTED = Overlap(Concurrency.UNKNOWN, (0, 0), Share(0.0, 0.0, 1.0))
NEVER_TOGETHER = Overlap(Concurrency.PHASED, (0, 0), Share(0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True)
class Touch:
    """What one function does on one thread to one range of bytes, summed.

    ``cost`` is in samples of the event that stands for time (a part of one where samples differ in weight).
    """

    thread: int  # index of LineUse.threads
    start: int
    end: int
    kind: AccessKind
    function: str
    provenance: Provenance
    samples: int = 0  # of a witness: those it was seen beside
    cost: float = 0.0
    awaited: float = 0.0  # of that, what is a share of time at instructions that need what was loaded here
    hitm: int = 0
    atomic: bool = False
    lock_call: bool = False
    waits: bool = False
    uses: bool = False  # an update whose result is used
    spin_waits: bool = False  # in a loop that only waits for the value
    walks: bool = False  # by code that goes over elements: where it was sampled is where it waited

    @property
    def writes(self) -> bool:
        return self.kind in (AccessKind.STORE, AccessKind.RMW)

    @property
    def reads(self) -> bool:
        return self.kind in (AccessKind.LOAD, AccessKind.RMW)


@dataclass(frozen=True, slots=True)
class Site:
    """One instruction that was seen at bytes [start, end) of a line: ``ip`` is its link-time address in ``module``."""

    module: str
    ip: int
    function: str
    start: int
    end: int
    kind: AccessKind
    samples: int
    lock_call: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """Accesses whose operand crosses the end of the line: ``place`` is its first byte."""

    place: int
    size: int
    atomic: bool
    samples: int
    cost: float
    functions: tuple[str, ...]
    threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ThreadName:
    """A thread of one profile; ``comm`` is what it called itself, "" unknown."""

    pid: int
    tid: int
    comm: str = ""

    @property
    def text(self) -> str:
        return f"{self.name}/{self.tid}"

    @property
    def name(self) -> str:
        return self.comm or "thread"


@dataclass(frozen=True, slots=True)
class LineUse:
    """One line of one space (of several profiles, where it is static storage).

    ``link`` is the link-time address of its first byte in ``module``, -1 where it is no static storage.  ``footprint``
    is how many lines the instructions that touch this one touch, those that do most of it.  ``in_turn`` are threads of
    which no two were sampled at the same time, anywhere: each came after the one before.  ``owner`` is the thread whose
    stack it is on.  ``late`` is time at other memory that may be the wait for plain stores to the line, by thread and
    function.
    """

    address: int
    size: int
    region: Region
    touches: tuple[Touch, ...]
    threads: tuple[ThreadName, ...]
    link: int = -1
    module: str = ""
    target: bool = False  # ``module`` is the binary that is judged
    space: str = ""  # name of a shared object, "" private memory
    samples: int = 0
    cost: float = 0.0
    hitm: int = 0
    remote: int = 0
    cpus: int = 0  # distinct ones, 0 unknown
    bases: Mapping[Basis, int] = field(default_factory=dict)
    overlaps: Mapping[tuple[int, int], Overlap] = field(default_factory=dict)  # by thread indexes, ascending
    splits: tuple[Split, ...] = ()
    footprint: int = 1
    moments: tuple[tuple[int, int, int], ...] = ()  # of a line with few samples: (thread, time, processor) of each
    in_turn: frozenset[int] = frozenset()
    sites: tuple[Site, ...] = ()  # most samples first
    owner: ThreadName | None = None
    late: Mapping[tuple[int, str], float] = field(default_factory=dict)

    def overlap(self, a: int, b: int) -> Overlap:
        tested = self.overlaps.get((min(a, b), max(a, b)), UNTESTED)
        if tested.concurrency is Concurrency.UNKNOWN and a in self.in_turn and b in self.in_turn:
            return NEVER_TOGETHER
        return tested

    def waited(self, thread: int, writers: Iterable[int]) -> Concurrency:
        """How a thread that waits for a value meets those who write it."""
        met = [self.overlap(thread, other).concurrency for other in writers if other != thread]
        return Concurrency.CONCURRENT if Concurrency.CONCURRENT in met else Concurrency.UNKNOWN

    @property
    def basis(self) -> Basis:
        """What most of its samples rest on."""
        return max(self.bases, key=lambda b: (self.bases[b], b), default=Basis.NONE)


@dataclass(frozen=True, slots=True)
class Totals:
    """Samples of all profiles.  ``timed`` are those of the events that stand for time, ``measure`` says which."""

    samples: int = 0
    attributed: int = 0
    timed: float = 0.0
    timed_unplaced: float = 0.0  # of those that may have touched memory
    measure: str = ""
    profiles: int = 0

    def share(self, cost: float) -> Share:
        return wilson(cost, self.timed)

    def score(self, cost: float) -> float:
        """Millionths of the program's time: the score of a finding."""
        return cost / self.timed * 1e6 if self.timed else 0.0

    def cost(self, score: float) -> float:
        """The timed samples behind a score."""
        return score * self.timed / 1e6


@dataclass(frozen=True, slots=True)
class SampledRun:
    """Every line that is worth a look, costliest first, and what it is a part of."""

    lines: tuple[LineUse, ...]
    totals: Totals
    counts: Mapping[str, int] = field(default_factory=dict)
