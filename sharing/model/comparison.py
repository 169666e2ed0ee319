"""What a comparison of two builds says: changes, shifts with their account, line mates, and causes in order.

Owns the result document of ``explain``; reporters render it and know nothing else.  msgspec structs, so that a saved
comparison can be read back.  Addresses are hex strings of SVMAs, sizes and shifts bytes.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from sharing.model.finding import Confidence, Coverage, Finding, Target
from sharing.model.instructionreader import InstructionReader, not_decoded

EXPLAIN_SCHEMA = "linemate-explain-1"
# From these strengths on a cause is called so; docs/explain.md counts how often it is right.
LIKELY_FROM, POSSIBLE_FROM = 0.8, 0.3
SAMPLES_OLD, SAMPLES_NEW = "samples_old", "samples_new"  # in coverage: of the last event that was compared


class CauseKind(StrEnum):
    """What a difference in speed may come from."""

    LAYOUT = "layout"
    DEPENDENCY = "dependency"
    TOOLCHAIN = "toolchain"
    CODE = "code"
    CONTENTION = "contention"  # more of the same: threads wait for each other, wherever data lie
    NONE = "none"  # nothing in the two files differs in a way that could explain it


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    RESIZED = "resized"
    REALIGNED = "re-aligned"
    RENAMED = "renamed"
    MOVED = "moved to another section"
    REORDERED = "reordered"


class Share(StrEnum):
    """What contributes to a shift."""

    ADDED = "added"
    REMOVED = "removed"
    RESIZED = "resized"
    REALIGNED = "realigned"
    ARRIVED = "moved here"  # from another section, or another place of the section
    LEFT = "moved away"
    ALIGNMENT = "alignment padding"
    UNCOVERED = "bytes that no symbol covers"
    UNNAMED = "literals and tables without a symbol"  # such bytes of a constant section
    SECTION = "section"  # a section in front grew or shrank
    OTHERS = "others"


class SampledKind(StrEnum):
    """What samples were counted of."""

    VARIABLE = "variable"
    MEMBER = "member"
    LINE = "line"


class SymbolChange(msgspec.Struct, frozen=True):
    """One variable that is not as it was.  Addresses and sections are "" and sizes 0 on the side that lacks it."""

    kind: ChangeKind
    name: str
    old_address: str = ""
    new_address: str = ""
    old_size: int = 0
    new_size: int = 0
    old_section: str = ""
    new_section: str = ""
    source: str = ""
    detail: str = ""


class SectionMove(msgspec.Struct, frozen=True):
    """How many variables went from one section to another: all of them, also those that no list has room for."""

    old_section: str
    new_section: str
    variables: int


class Contribution(msgspec.Struct, frozen=True):
    """A signed number of bytes of a shift, and what they come from.  ``name`` is "" for padding.

    ``inferred``: nothing says how large the symbol is, so the bytes are those up to the next symbol.  ``symbols`` is
    how many they are of: several of those that are not named one by one, 0 of what is no symbol's.
    """

    share: Share
    name: str
    bytes: int
    source: str = ""
    inferred: bool = False
    symbols: int = 0


class ShiftRun(msgspec.Struct, frozen=True):
    """Neighbouring variables that all moved by ``shift``.  ``jump`` is the shift less the one in front of the run.

    The contributions add up to ``jump`` exactly.  ``in_order`` is False for variables that were moved on their own.
    """

    section: str
    shift: int
    jump: int
    variables: int
    first: str
    last: str
    start: str
    end: str
    in_order: bool
    contributions: tuple[Contribution, ...] = ()


class Moved(msgspec.Struct, frozen=True):
    """A variable of both builds.  ``old`` and ``new`` are addresses; ``shift`` is signed, as hex: "0xe0", "-0x10"."""

    name: str
    old: str
    new: str
    shift: str


class LineMates(msgspec.Struct, frozen=True):
    """Two variables with bytes in use on one line of ``line_size`` bytes in one of the builds.

    ``first_bytes`` and ``second_bytes`` are [start, end) offsets within that line.  ``weight`` ranks: how often the
    less busy of the two is touched, where one of them is written.  ``hot`` says that both are among the program's
    busiest.  ``finding`` is the rule that objects to them, with its ``severity``, "" none.  ``functions`` are some of
    those that touch the two, ``users`` how many do in all, 0 where that is not known.  ``stayed``: they share a line in
    both builds, and one of the builds alone has something to object to.
    """

    first: str
    second: str
    line: str
    line_size: int
    first_bytes: tuple[int, int]
    second_bytes: tuple[int, int]
    weight: float = 0.0
    hot: bool = False
    certain: bool = True
    first_role: str = ""
    second_role: str = ""
    functions: tuple[str, ...] = ()
    finding: str = ""
    severity: str = ""
    users: int = 0
    stayed: bool = False


class Straddle(msgspec.Struct, frozen=True):
    """A variable, or the part of one that is in use, that crosses the end of a line in one of the builds only.

    ``severity`` is what a rule says of an atomic or a lock that does so, "" where none objects.
    """

    name: str
    address: str
    size: int
    gained: bool
    weight: float = 0.0
    atomic: bool = False
    severity: str = ""


class Cause(msgspec.Struct, frozen=True):
    """One possible reason, with what supports it.

    ``confidence`` is the layer that speaks, ``strength`` in 0..1 how well it would explain a difference: causes are
    sorted by it.  ``improves``: the difference removes a problem rather than adding one.  ``confirm`` and ``refute``
    are steps, a command each; the last one says what to expect.  ``follows``: the kind of the cause that made this one,
    which stands in front of it; ``by_itself`` is the strength that a cause would have without what follows from it.
    """

    kind: CauseKind
    confidence: Confidence
    strength: float
    summary: str
    symbols: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    new_line_mates: tuple[LineMates, ...] = ()
    lost_line_mates: tuple[LineMates, ...] = ()
    evidence: tuple[str, ...] = ()
    improves: bool = False
    confirm: tuple[str, ...] = ()
    refute: tuple[str, ...] = ()
    follows: CauseKind | None = None
    by_itself: float | None = None


class Sensitivity(msgspec.Struct, frozen=True):
    """A busy pair and the insertions in front of it: at how many of the ``possible`` places it is on one line.

    Edits elsewhere move the pair by multiples of ``step`` bytes.  ``now``: it is on one line as built; ``next_shift``
    is the smallest move, in bytes, that changes that, 0 where none does.  ``guessed``: an object of the pair, or
    between the two, lies at a multiple of more than that; if it has to, such a move is none.
    """

    first: str
    second: str
    together: int
    possible: int
    step: int
    now: bool
    next_shift: int
    weight: float
    hot: bool
    guessed: bool = False


class ShareChange(msgspec.Struct, frozen=True):
    """One function of two profiles.  Shares are of all samples of the event.

    ``ratio`` is of the shares, with its 95 % interval; None is without bound.
    ``adjusted`` is the chance of such a difference with equal shares, corrected for all functions compared.  ``kind``
    is "lock" or "reference count" by its name, else "".
    """

    event: str
    function: str
    kind: str
    old_samples: int
    new_samples: int
    old_share: float
    new_share: float
    ratio: float | None
    low: float | None
    high: float | None
    adjusted: float


class SampledChange(msgspec.Struct, frozen=True):
    """A variable, a member, or all that is on a line, whose share of samples changed.

    ``line`` is where it has most samples: in the new build, or in the old one where only that has any; "" for variables
    on several.  Shares are of all samples of the event; the other fields are those of ``ShareChange``.
    """

    event: str
    kind: SampledKind
    name: str
    line: str
    old_samples: int
    new_samples: int
    old_share: float
    new_share: float
    ratio: float | None
    low: float | None
    high: float | None
    adjusted: float


class MeasuredChange(msgspec.Struct, frozen=True):
    """One metric of two benchmarks under equal ``labels``; none: over all conditions together.

    ``old`` and ``new`` are medians, ``change`` is relative (0.05: 5 % more) with its 95 % interval; ``p``, corrected
    for all that was compared, is None where there are too few values to say.  ``needed`` is how many repetitions a side
    could show a change, where these are too few to show any, however large; else 0.
    """

    metric: str
    labels: dict[str, str]
    old: float
    new: float
    change: float | None
    low: float | None
    high: float | None
    p: float | None
    repetitions: tuple[int, int]
    significant: bool
    needed: int = 0


class RuledOut(msgspec.Struct, frozen=True):
    """A kind of cause that the files exclude, and why."""

    kind: CauseKind
    why: str


class MatchSummary(msgspec.Struct, frozen=True):
    """How many objects of either build have a partner.  ``how`` counts pairs by what they were recognised by."""

    old: int
    new: int
    matched: int
    how: dict[str, int]


class Comparison(msgspec.Struct, frozen=True):
    """The result document.  ``targets`` are the old and the new file; ``causes`` are best first.

    ``coverage`` counts what the lists were cut from, with notes.  ``findings`` are what the rules say of line mates
    that only the new build has.  ``profile`` (functions), ``places`` (variables) and ``measurements`` hold what was
    sampled and measured, the clearest change first.  ``incomplete``: a part of an input failed; the notes say which.
    ``not_ruled_out`` are kinds of cause that nothing speaks for and that too little was recognised to exclude.
    ``loss`` is what measurements show to be worse by more than chance, in words; empty where nothing is.
    ``loss_seen`` is what is worse in measurements too few to exclude chance; ``runs_needed`` of each build would
    exclude it.  ``by_level``: that a loss grows with the number of threads, and what this speaks for;
    ``load`` is the level at which it is largest.  ``given`` are options of the call that commands to go on repeat.
    ``section_moves`` counts those of all changes that went from one section to another, the most first.
    ``processes``: a shell's words for the old and the new build while they run; empty where not both are servers.
    """

    schema: str
    command: str
    targets: tuple[Target, Target]
    coverage: Coverage
    findings: tuple[Finding, ...]
    variables: MatchSummary
    functions: MatchSummary
    causes: tuple[Cause, ...]
    ruled_out: tuple[RuledOut, ...]
    changes: tuple[SymbolChange, ...]
    runs: tuple[ShiftRun, ...]
    straddles: tuple[Straddle, ...]
    profile: tuple[ShareChange, ...] = ()
    places: tuple[SampledChange, ...] = ()
    measurements: tuple[MeasuredChange, ...] = ()
    sensitivity: tuple[Sensitivity, ...] = ()
    incomplete: bool = False
    not_ruled_out: tuple[RuledOut, ...] = ()
    processes: tuple[str, ...] = ()
    loss: str = ""
    section_moves: tuple[SectionMove, ...] = ()
    loss_seen: str = ""
    runs_needed: int = 0
    by_level: str = ""
    load: str = ""
    given: tuple[str, ...] = ()


class SegmentTrait(msgspec.Struct, frozen=True):
    """One loadable segment: ``flags`` as readelf prints them ("RW"), ``align`` in bytes."""

    flags: str
    address: int
    size: int
    align: int


class FileTraits(msgspec.Struct, frozen=True):
    """What a file says of how it was made, beyond its ``Image``.  Input of a comparison; a reader of files fills it.

    ``comments`` are the strings of .comment, ``versions`` needed symbol versions as "libc.so.6:GLIBC_2.34", ``code``
    the bytes of the file by offset, empty when they are not at hand, ``instructions`` what reads functions of them.
    ``notes`` name what could not be read.  ``linker`` is its name and version, as far as the file tells; ``modes`` say
    how it linked: {"position": "PIE", "relro": "full", ...}.
    """

    comments: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    segments: tuple[SegmentTrait, ...] = ()
    interpreter: str = ""
    code: memoryview = memoryview(b"")
    instructions: InstructionReader = not_decoded
    notes: tuple[str, ...] = ()
    linker: str = ""
    modes: dict[str, str] = {}
