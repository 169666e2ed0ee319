"""What ``linemate history`` is asked of a repository: the options of a run, for the series and for a bisection."""

from __future__ import annotations

from dataclasses import dataclass, field

from linemate.history.bench import SECONDS, Plan
from sharing.explain.numbers import ALPHA
from sharing.knowledge.metrics import is_less_better
from sharing.model.project import ProjectConfig


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """What ``history`` is asked of a repository.

    ``build`` makes ``binary``, and ``others``, in a checkout of each of ``revisions`` (A..B); ``bench`` "" measures
    nothing.  ``pair`` with ``bisect`` finds where two variables met or parted.  ``less_is_better`` None leaves it to
    the metric's name.
    """

    repo: str
    revisions: str
    build: str
    binary: str
    bench: str = ""
    levels: tuple[str, ...] = ()
    metric: str = ""
    rounds: int = 6
    bisect: bool = False
    pair: tuple[str, str] | None = None
    less_is_better: bool | None = None
    store: str = ".linemate-history.sqlite"
    timeout_s: float = 3600.0
    retry_failed: bool = False
    alpha: float = ALPHA
    line_size: int | None = None
    project: ProjectConfig = field(default_factory=ProjectConfig)
    quiet: bool = True
    others: tuple[str, ...] = ()  # binaries that are kept for a run of their own

    @property
    def binaries(self) -> tuple[str, ...]:
        return (self.binary, *self.others)

    @property
    def plan(self) -> Plan:
        return Plan(self.bench, self.metric, self.levels, self.rounds, self.timeout_s)

    @property
    def metric_name(self) -> str:
        return (self.metric or SECONDS) if self.bench else ""

    @property
    def less(self) -> bool | None:
        return is_less_better(self.metric_name) if self.less_is_better is None else self.less_is_better
