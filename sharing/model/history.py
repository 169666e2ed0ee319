"""What a history says: revisions, series, steps with their size, and the changes of layout that came with them.

Owns the result document of ``history``; reporters render it and know nothing else.  msgspec structs, so that a saved
history can be read back.  Changes are relative: -0.05 is 5 % less.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

HISTORY_SCHEMA = "linemate-history-1"


class RevisionState(StrEnum):
    BUILT = "built"
    FAILED = "failed"  # its build, or the reading of what it built
    UNMEASURED = "not measured"  # built, and its benchmark gave no figure
    LISTED = "listed"  # in a table
    UNTRIED = "not tried"  # a bisection needs few


class Basis(StrEnum):
    """What a test counts as one independent observation."""

    REVISIONS = "revisions"
    REPETITIONS = "repetitions"  # too few revisions: says that builds differ, not that a level lasts
    CONDITIONS = "conditions"  # neither: the same conditions before and after
    NORMAL = "normal noise"  # a few results once each: a step against the spread, which is taken to be normal
    NONE = "none"  # nothing could be tested


class Revision(msgspec.Struct, frozen=True):
    """``id`` is the full name, ``name`` a short one.  ``why`` says what failed, ``log`` is where its words are."""

    id: str
    name: str
    state: RevisionState
    subject: str = ""
    why: str = ""
    log: str = ""
    author: str = ""

    @property
    def left_out(self) -> bool:
        return self.state in (RevisionState.FAILED, RevisionState.UNMEASURED)


class Points(msgspec.Struct, frozen=True):
    """One condition along the revisions: its labels, and the repetitions at each (empty where not measured)."""

    labels: tuple[tuple[str, str], ...]
    values: tuple[tuple[float, ...], ...]


class Change(msgspec.Struct, frozen=True):
    """A relative change with its interval; ``level`` is the interval's, less than 0.95 where the values are few."""

    change: float
    low: float
    high: float
    level: float


class ConditionChange(msgspec.Struct, frozen=True):
    """A step as one condition shows it.  ``clear``: its interval holds no change of the other sign."""

    labels: tuple[tuple[str, str], ...]
    before: float
    after: float
    change: Change
    clear: bool


class LayoutChange(msgspec.Struct, frozen=True):
    """Busy pairs that met or parted between two neighbouring builds, with the sentence that says why.

    ``between`` are the indexes of the two revisions, ``gained`` and ``lost`` pairs as "A / B".  ``wide`` are pairs of
    lines that are fetched together.  ``step`` is the index of the step that it came with, -1 none.
    """

    between: tuple[int, int]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    gained_wide: tuple[str, ...]
    lost_wide: tuple[str, ...]
    cause: str
    confidence: str
    improves: bool
    step: int = -1


class Step(msgspec.Struct, frozen=True):
    """Between the measured revisions ``between`` (indexes) the level changes for good.

    ``chance`` is that of a step as clear anywhere in the series by chance.  ``suspects`` are the indexes of revisions
    that may have made it.  ``causes`` are sentences about the two builds, the best first, with their kind in front;
    ``not_ruled_out`` are other kinds that too little of the two was recognised to exclude, and why.  ``places`` are the
    first revisions behind the step that the figures do not exclude at 95 %, none where that was not computed.
    ``slower`` is null where nobody knows whether more of the metric is better.
    """

    between: tuple[int, int]
    suspects: tuple[int, ...]
    chance: float
    slower: bool | None
    change: Change
    conditions: tuple[ConditionChange, ...]
    causes: tuple[str, ...] = ()
    not_ruled_out: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


class Slope(msgspec.Struct, frozen=True):
    """From revision ``start`` to ``end`` the level slides instead of stepping."""

    start: int
    end: int
    change: float


class Outlier(msgspec.Struct, frozen=True):
    """One revision that stands apart from its neighbours: no step."""

    revision: int
    change: float


class Contrast(msgspec.Struct, frozen=True):
    """The same revisions measured with and without a condition."""

    condition: str
    revisions: tuple[int, ...]
    change: Change
    chance: float


class PairPosition(msgspec.Struct, frozen=True):
    """Where a pair is in one build.  Addresses are hex, offsets those within a line of 64 bytes; "" unknown."""

    revision: int
    first: str
    second: str
    first_offset: int
    second_offset: int
    line: bool
    wide: bool


class Pair(msgspec.Struct, frozen=True):
    """A busy pair of named variables that shares a line in some of the builds."""

    first: str
    second: str
    places: tuple[PairPosition, ...]


class Bisection(msgspec.Struct, frozen=True):
    """What a bisection found.  ``suspects`` is one revision, or several where builds between failed.

    ``tested`` are (revision, verdict) in order; ``builds`` is how many were made, 0 where all were in the store.
    """

    question: str
    ends_differ: bool
    tested: tuple[tuple[int, str], ...]
    suspects: tuple[int, ...]
    builds: int
    words: str


class History(msgspec.Struct, frozen=True):
    """The result document.  ``source`` is the table, or the repository and its range.

    ``ends`` is the change from the first to the last measured revision over all conditions, with its ``chance``.
    ``best`` is the clearest split where no step is significant: a suspicion.
    ``less_is_better`` is null where nobody knows.
    """

    schema: str
    command: str
    source: str
    metric: str
    less_is_better: bool | None
    alpha: float
    basis: Basis
    revisions: tuple[Revision, ...]
    series: tuple[Points, ...]
    steps: tuple[Step, ...]
    slopes: tuple[Slope, ...]
    outliers: tuple[Outlier, ...]
    best: Step | None
    ends: Change | None
    ends_chance: float | None
    contrasts: tuple[Contrast, ...]
    pairs: tuple[Pair, ...]
    layout_changes: tuple[LayoutChange, ...]
    bisection: Bisection | None
    notes: tuple[str, ...]
    incomplete: bool = False

    @property
    def slowdown(self) -> bool:
        """A step that made it slower, or a bisection that ended at one."""
        return any(step.slower for step in self.steps)

    @property
    def undecided(self) -> bool:
        """A step of which nobody knows whether it made it slower."""
        return any(step.slower is None for step in self.steps)
