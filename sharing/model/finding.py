"""What a run says: findings, their participants, evidence and remedies, and the report around them.

Owns the result document; reporters render it and know nothing else.  msgspec structs, so that a saved
JSON report can be read back and rendered again.
"""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

SCHEMA = "linemate-report-1"
MOVES = "moves"  # verb of a Related that is a variable: since the base it moves the participant
GUARDED = "guarded-pair-meets"  # the rule of a pair that people asked to keep apart; a broken promise is said first
UNDECIDED = "undecided: "  # begins a note of what a verdict leaves open, which has to be read beside it
ADVICE = "what would help: "  # how the evidence begins that says what to do where no edit of the layout helps
ALSO = "also on this line, "  # another pair that meets there, and how bad that is
AT_MOST, LESS = "at most: ", "and not "  # behind a severity, how evidence says why a finding has no more than that
NOT_EXERCISED = "hardly exercised by this load"  # how the evidence of a finding begins whose code a profile did not see
MAX_PARTICIPANTS = 6  # of one finding, in order of blame: more would not be read


class Severity(StrEnum):
    NOTE = "note"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return _SEVERITY_ORDER[self]

    def lowered(self, steps: int) -> Severity:
        """So many steps less, at the least a note."""
        return list(Severity)[max(self.rank - steps, 0)]

    def raised(self) -> Severity:
        """One step more; CRITICAL is never reached by steps."""
        return list(Severity)[min(self.rank + 1, Severity.HIGH.rank)]


class Confidence(StrEnum):
    """How a statement is known; never an estimate of how bad it is."""

    LAYOUT = "layout"
    STATIC = "static"
    COUNTED = "counted"
    DERIVED = "sampled (derived)"
    SAMPLED = "sampled"
    MEASURED = "measured"

    @property
    def rank(self) -> int:
        return _CONFIDENCE_ORDER[self]


_SEVERITY_ORDER = {s: i for i, s in enumerate(Severity)}
_CONFIDENCE_ORDER = {c: i for i, c in enumerate(Confidence)}


class Verdict(StrEnum):
    FALSE_SHARING = "false sharing"
    TRUE_SHARING = "true sharing"
    LOCK_CONTENTION = "lock contention"
    READ_MOSTLY_DISTURBED = "read-mostly disturbed"
    SPLIT_ACCESS = "split access"
    FRAGILE = "fragile"
    LOST_COLOCATION = "lost co-location"
    ADJACENT_PAIR = "adjacent-line pair"
    INCONCLUSIVE = "inconclusive"


# Verdicts that say that threads disturb each other on a line.
OF_SHARING = frozenset({Verdict.FALSE_SHARING, Verdict.READ_MOSTLY_DISTURBED, Verdict.LOCK_CONTENTION})
# The same, or that they do so at the same bytes, which no layout cures.
OF_MEETING = OF_SHARING | {Verdict.TRUE_SHARING}


class LineRef(msgspec.Struct, frozen=True):
    """A line (or pair of lines) by its first byte; ``address`` is a hex string, ``size`` in bytes.

    ``place`` says in words where that is, where the address is only a model's: ".bss of table_cache.cc".
    """

    address: str
    size: int
    place: str = ""


class Participant(msgspec.Struct, frozen=True):
    """One variable or member in a finding.

    ``bytes`` and ``hot`` are [start, end) offsets within the line.  ``role`` says what it is to the line
    ("lock", "counter", "list head", "read-mostly data", ...).  ``source`` is ``file:line`` or "".
    ``readers``, ``writers`` and ``lockers`` name functions, most active first.
    """

    name: str
    address: str
    size: int
    bytes: tuple[tuple[int, int], ...]
    role: str
    source: str
    hot: tuple[tuple[int, int], ...] = ()
    type: str = ""
    member: str = ""  # the part of the variable that takes part, "" for all of it
    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    lockers: tuple[str, ...] = ()
    identity: str = ""  # joins the variable with facts from source (sharing.model.facts), "" unknown

    @property
    def full_name(self) -> str:
        """Variable and member as in source: ``server.lruclock``, ``slots[3].count``, ``bss+0x40``."""
        if not self.member:
            return self.name
        return f"{self.name}{self.member}" if self.member[0] in "[+" else f"{self.name}.{self.member}"

    @property
    def array(self) -> str:
        """The array that it is a part of: ``server.slots`` of ``server.slots[0].hits``."""
        return ".".join((self.name, re.split(r"[\[+]", self.member)[0])).rstrip(".")


class Evidence(msgspec.Struct, frozen=True):
    """One fact that supports the finding; ``kind`` is its layer (layout, static, counted, sampled, measured)."""

    kind: Confidence
    text: str


class Related(msgspec.Struct, frozen=True):
    """One place in source that makes a participant busy: who does what there, ``under`` which locks.

    ``verb`` is "locks", "writes", "reads" or "updates" (reads and writes); ``source`` is file:line:column.
    Of ``MOVES`` the place is a declaration, and ``function`` the variable that was added or changed there.
    """

    name: str
    function: str
    verb: str
    source: str
    under: tuple[str, ...] = ()


class SourceEdit(msgspec.Struct, frozen=True):
    """Replace the bytes [begin, end) of a file, whose content had the hash ``sha256`` when it was analysed.

    ``line`` and ``column`` (from 1) are those of ``begin``, ``end_line`` and ``end_column`` those of ``end``.
    """

    file: str
    begin: int
    end: int
    replacement: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    sha256: str = ""


# The command of a remedy that asks for names; a report of several files has the file's name for FILE.
ASK_SERVERS = "linemate audit FILE --debuginfod"
EXPLAIN_ASKING = "linemate explain --debuginfod"
# What the note of names says where servers were asked: to ask them again is no advice then.
NO_ANSWER = "no server gave any"
NOTHING_THERE = "servers have no debug information"

# What the text of a remedy says where a linked file does not tell whether code that is built apart sees the variable.
IN_A_HEADER = "one in a header is ABI"
# The same where it does not tell either whether it is a variable or a part of one.
OR_A_MEMBER = "which changes the record's layout"


class Remedy(msgspec.Struct, frozen=True):
    """One edit.  ``edit`` is source text in the declaration's language; ``cost_bytes`` is added storage.

    Where several objects grow, ``each_bytes`` is what each of ``objects`` does, and ``cost_bytes`` of all together; 0
    objects are as many as the program allocates, then ``cost_bytes`` is one's.

    ``edits`` are the same as replacements in files, where the source is known; they hold together or not at all.
    ``moves`` is the full name of what gets a place of its own, which may be none of the participants; ``identity``
    joins it with facts from source, as a participant's does.  Both are "" where the participant in this place is meant.
    """

    kind: str
    text: str
    edit: str
    language: str
    cost_bytes: int
    breaks_abi: bool
    protects_tail: bool
    edits: tuple[SourceEdit, ...] = ()
    objects: int = 1
    each_bytes: int = 0
    moves: str = ""
    identity: str = ""


class Slice(msgspec.Struct, frozen=True):
    """A run of bytes in a line picture: owner, [start, end) in the line, hot or not.

    ``owner`` is "" for padding between objects, "-" for a hole inside of one, and "?" for bytes nothing is known of.
    """

    owner: str
    start: int
    end: int
    hot: bool
    mark: str  # one letter that the legend explains


class LinePicture(msgspec.Struct, frozen=True):
    """One line, byte by byte: slices cover [0, size) without gap or overlap."""

    address: str
    size: int
    slices: tuple[Slice, ...]


class Finding(msgspec.Struct, frozen=True):
    id: str
    rule: str
    severity: Severity
    confidence: Confidence
    verdict: Verdict
    line: LineRef
    participants: tuple[Participant, ...]
    message: str
    evidence: tuple[Evidence, ...]
    remedies: tuple[Remedy, ...]
    picture: tuple[LinePicture, ...] = ()
    score: float = 0.0
    related: tuple[Related, ...] = ()
    target: str = ""  # the file, and in parentheses the member, where the report is of several

    @property
    def advice(self) -> str:
        """What to do where no edit of the layout helps, "" where nothing is known."""
        return next((one.text.removeprefix(ADVICE) for one in self.evidence if one.text.startswith(ADVICE)), "")

    @property
    def also(self) -> tuple[Evidence, ...]:
        """Other pairs that meet on the line, which the edits part as well."""
        return tuple(one for one in self.evidence if one.text.startswith(ALSO))

    @property
    def limits(self) -> tuple[Evidence, ...]:
        """Why it is no more severe, where that is said."""
        said = tuple(f"{self.severity.value} {word}" for word in (AT_MOST, LESS))
        return tuple(one for one in self.evidence if one.text.startswith(said))

    @property
    def exercised(self) -> bool:
        """Whether a profile, where there is one, came to the code of it."""
        return not any(evidence.text.startswith(NOT_EXERCISED) for evidence in self.evidence)


NO_ARCHITECTURE = "unknown"  # of what was read from a listing or a linker's map, in place of a file


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was analysed.  ``others`` are the sources of a program besides ``path``, where that is one of several."""

    path: str
    member: str
    arch: str
    kind: str
    build_id: str
    line_size: int
    debug: str
    others: int = 0


NAMES = "names: "  # how a note begins that says where the names of a file are: reports show it first


class Coverage(msgspec.Struct, frozen=True):
    """What the analysis saw and what it did not: a clean report means little without it."""

    counts: dict[str, int]
    notes: tuple[str, ...]


class Report(msgspec.Struct, frozen=True):
    """The result document.  ``suppressed`` findings were accepted by the project, ``hidden`` ones fell below
    the asked severity or confidence; ``unsure`` are those of them that are severe enough.  ``incomplete``: a part of
    the input failed; ``coverage.notes`` says which.

    ``baseline`` says what the findings were compared with, "" nothing; then only new ones are listed, and ``known``
    counts those that were there before.
    """

    schema: str
    command: str
    targets: tuple[Target, ...]
    coverage: Coverage
    findings: tuple[Finding, ...]
    suppressed: int = 0
    hidden: int = 0
    incomplete: bool = False
    known: int = 0
    baseline: str = ""
    unsure: int = 0
