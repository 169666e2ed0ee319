"""What a run was asked to do, as values.  Owns the options of the pipeline; the command line fills them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from linemate.pairguard import PairGuard
from sharing.model.finding import Confidence, Severity
from sharing.model.project import ProjectConfig

if TYPE_CHECKING:
    from sharing.judge.comparedheat import ComparedHeat

DEFAULT_LINE_SIZE = 64  # bytes, where nothing was judged that would tell


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Input of ``linemate.pipeline.audit``.

    ``line_size`` is in bytes, None means the architecture's.  Findings below ``min_severity`` or
    ``min_confidence`` are counted in ``Report.hidden``.  ``rules`` are rule ids and ``symbols`` globs over
    participant names; empty means all.  ``fail_on`` None means that findings never fail the run.
    ``assume_threads``: functions that may be entered run on several threads where no start of one is seen.
    ``guards`` are pairs that must not share a line, whatever the rules say of them.  ``spread``: members of an archive
    are audited by several processes where that pays.  ``every_pair``: each pair of a line that has a finding is one of
    its own, by which two revisions are compared; ``heat``: what is hot in both.  ``newcomers`` are what came to lines
    since the one before, by identity and declared name: their own edits come first.
    """

    binary: str
    line_size: int | None = None
    samples: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    min_confidence: Confidence = Confidence.LAYOUT
    min_severity: Severity = Severity.LOW
    rules: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.HIGH
    debug_file: str | None = None
    project: ProjectConfig = field(default_factory=ProjectConfig)
    assume_threads: bool = False
    guards: tuple[PairGuard, ...] = ()
    spread: bool = True
    every_pair: bool = False
    # A ``ComparedHeat``: what is learnt on the way is no input, and is not handed to the processes of a folder, which
    # read the types that stand here.
    heat: Any = field(default=None, repr=False, compare=False)
    newcomers: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class FactsRequest:
    """What ``linemate-facts`` is to read.

    ``database`` is a compile_commands.json (or a folder with one), "" where ``flags`` say how ``sources`` are compiled.
    ``sources`` limit a database to these units; none means all.  ``jobs`` is how many units at once, 0 one a core.
    ``cache`` is a folder for facts of unchanged units, None for no cache.  What is below the folders ``tops``
    (absolute) is read from ``tree`` instead, "" for none.  ``scheduler`` is the address of a Dask cluster whose workers
    read the units of the database, "" one that is started here, None for processes of this machine.
    """

    database: str = ""
    sources: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    jobs: int = 0
    cache: str | None = None
    tops: tuple[str, ...] = ()
    tree: str = ""
    scheduler: str | None = None


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Input of ``linemate.source.read_program`` and ``linemate.pipeline.check_program``.

    ``streams`` are files of facts that were gathered before; with them ``facts`` is not run.  ``objects`` is a folder
    of built object files and ``binary`` the linked program, "" where only the source is known.  ``edits``: look for
    the edits of findings, which takes longest.  The others are as in ``AuditOptions``.
    """

    facts: FactsRequest = field(default_factory=FactsRequest)
    streams: tuple[str, ...] = ()
    objects: str = ""
    binary: str = ""
    line_size: int | None = None
    min_confidence: Confidence = Confidence.LAYOUT
    min_severity: Severity = Severity.LOW
    rules: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.HIGH
    project: ProjectConfig = field(default_factory=ProjectConfig)
    assume_threads: bool = False
    edits: bool = True
    every_pair: bool = False
    heat: ComparedHeat | None = None
    newcomers: frozenset[tuple[str, str]] = frozenset()
