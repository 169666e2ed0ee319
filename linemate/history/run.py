"""``linemate history`` of a repository as a table of contents: build, read layouts, measure, judge, join.

Owns the order of the stages and the document.  Each stage is a module ``linemate.history_*``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from linemate.checking.gitbase import without_inherited
from linemate.history.bench import SECONDS, Bench, Plan
from linemate.history.builds import Builds, Built
from linemate.history.clone import Commit, commits_of, top_of
from linemate.history.layout import Layouts, Reason, Said, layout_reason, left_open, sentences
from linemate.history.progress import watched
from linemate.history.store import DamagedStore, Store
from linemate.history.table import document
from reports.escape import count
from sharing.explain.statistics import ALPHA
from sharing.history.busy import Layout
from sharing.history.coincide import Moves, change_of, moves, pairs_along, step_of
from sharing.history.judge import Judged, judge
from sharing.history.series import Series, is_less_better
from sharing.model.errors import LinemateError
from sharing.model.history import Basis, History, LayoutChange, Revision, RevisionState, Step
from sharing.model.project import ProjectConfig


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """What ``history`` is asked of a repository.

    ``build`` makes ``binary`` in a checkout of each of ``revisions`` (A..B); ``bench`` "" measures nothing.  ``pair``
    with ``bisect`` corners where two variables met or parted.  ``less_is_better`` None leaves it to the metric's name.
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

    @property
    def plan(self) -> Plan:
        return Plan(self.bench, self.metric, self.levels, self.rounds, self.timeout_s)

    @property
    def metric_name(self) -> str:
        return (self.metric or SECONDS) if self.bench else ""

    @property
    def less(self) -> bool:
        return is_less_better(self.metric_name) if self.less_is_better is None else self.less_is_better


def history_of(options: HistoryOptions) -> History:
    """The history of a repository's range.  Raises LinemateError for what cannot be asked of it."""
    top, common = top_of(options.repo)
    commits = commits_of(top, options.revisions)
    if len(commits) < 2:
        raise LinemateError(f"{options.revisions}: holds one revision, a history takes two")
    with without_inherited(), closing(Store(options.store)) as store:
        builds = Builds(
            store, top, common, options.build, options.binary, options.timeout_s, keep_trees=bool(options.bench)
        )
        if options.retry_failed:
            builds.forget_failures(commits)
        layouts = Layouts(store, builds, options.line_size, options.project)
        if options.bisect:
            from linemate.history.bisect import bisected

            return bisected(options, top, commits, builds, layouts, Bench(store, builds, options.plan))
        return _series(options, top, commits, builds, layouts, store)


def _series(
    options: HistoryOptions, top: str, commits: Sequence[Commit], builds: Builds, layouts: Layouts, store: Store
) -> History:
    """Every revision of the range."""
    # 1. Build what is not in the store.
    todo = [c for c in commits if not builds.known(c)]
    with watched("building", len(todo), quiet=options.quiet) as tick:
        made = {}
        for at, commit in enumerate(commits):
            made[at] = builds.get(commit)
            if made[at].fresh:
                tick(commit.name)
    # 2. Where the busy variables are.
    found, unread = read_layouts(made, layouts)
    # 3. Measure, and judge the series.
    judged: Judged | None = None
    series: Series | None = None
    notes: tuple[str, ...] = ()
    failed = dict(unread)
    logs: dict[int, str] = {}
    if options.bench:
        bench = Bench(store, builds, options.plan)
        good = [b for b in made.values() if b.binary is not None]
        with watched("measuring", bench.missing(good), quiet=options.quiet) as tick:
            bench.tick = tick
            bench.complete(good)
        failed |= {at: bench.failed[b.row.key] for at, b in made.items() if b.row.key in bench.failed}
        logs = {at: str(builds.bench_log_path(b.row.key)) for at, b in made.items() if b.row.key in bench.failed}
        series = series_of(options, commits, made, bench)
        if any(cell for row in series.values for cell in row):
            keys = [made[at].row.key for at in range(len(commits))]
            judged = judged_once(series, keys, options.alpha)
        else:
            series = Series(series.metric, series.revisions, (), tuple(() for _ in commits), options.less)
        notes = bench.notes(good)
    # 4. What changed with the steps, and without.
    steps = explained(judged.steps if judged else (), made, layouts)
    moved = moves(found)
    revisions = revisions_of(commits, made, builds, failed, logs)
    base = document_of(options, series, judged, revisions, f"{top} {options.revisions}")
    return msgspec.structs.replace(
        base,
        steps=steps,
        best=explained((judged.best,), made, layouts)[0] if judged and judged.best else None,
        pairs=pairs_along(found, moved),
        layout_changes=tuple(_change(m, steps, made, layouts) for m in moved),
        notes=(*base.notes, *notes),
        incomplete=any(r.left_out for r in revisions) or any(v.incomplete for v in found.values()),
    )


def read_layouts(made: dict[int, Built], layouts: Layouts) -> tuple[dict[int, Layout], dict[int, str]]:
    """(layouts by revision, why others could not be read)."""
    found: dict[int, Layout] = {}
    by_digest: dict[str, Layout] = {}
    unread: dict[int, str] = {}
    for at, built in made.items():
        if built.binary is None:
            continue
        digest = built.row.digest
        try:
            if digest not in by_digest:
                by_digest[digest] = layouts.of(built)
            found[at] = by_digest[digest]
        except DamagedStore:
            raise
        except LinemateError as error:
            unread[at] = str(error)
    return found, unread


def series_of(options: HistoryOptions, commits: Sequence[Commit], made: dict[int, Built], bench: Bench) -> Series:
    """What was measured, as a series over all revisions of the range."""
    conditions = options.plan.conditions
    values = tuple(
        tuple(bench.of(made[at], level) if at in made and made[at].binary is not None else () for level in conditions)
        for at in range(len(commits))
    )
    cells = tuple((("level", level),) if level else () for level in conditions)
    return Series(options.metric_name, tuple(c.id for c in commits), cells, values, options.less)


def judged_once(series: Series, keys: Sequence[str], alpha: float) -> Judged:
    """The series judged with each measurement in it once: revisions of equal files have the same build (``keys``).

    One with the files of the revision before it is no observation of its own, and cannot have made a step.  Files that
    come back later (a revert) share out the rounds, so that both places have values of their own.
    """
    places: dict[str, list[int]] = {}
    repeats = {at for at in range(1, len(keys)) if keys[at] == keys[at - 1]}
    for at, key in enumerate(keys):
        if at not in repeats:
            places.setdefault(key, []).append(at)
    turn = {at: (number, len(among)) for among in places.values() for number, at in enumerate(among)}
    values = tuple(
        tuple(() if at in repeats else cell[turn[at][0] :: turn[at][1]] for cell in row)
        for at, row in enumerate(series.values)
    )
    judged = judge(dataclasses.replace(series, values=values), alpha)

    def cleared(step: Step) -> Step:
        return msgspec.structs.replace(step, suspects=tuple(at for at in step.suspects if at not in repeats))

    best = cleared(judged.best) if judged.best is not None else None
    notes = judged.notes
    if repeats:
        have = "has" if len(repeats) == 1 else "have"
        notes = (
            *notes,
            f"{count(len(repeats), 'revision')} {have} the files of the one before: measured and counted once",
        )
    return dataclasses.replace(judged, steps=tuple(cleared(s) for s in judged.steps), best=best, notes=notes)


def explained(steps: Sequence[Step], made: dict[int, Built], layouts: Layouts) -> tuple[Step, ...]:
    """Steps with what differs between the builds around them."""
    out = []
    for step in steps:
        old, new = (made.get(at) for at in step.between)
        reasons: tuple[Reason, ...] = ()
        if old is not None and new is not None and old.binary is not None and new.binary is not None:
            reasons = layouts.reasons(old, new)
        out.append(msgspec.structs.replace(step, causes=sentences(reasons), not_ruled_out=left_open(reasons)))
    return tuple(out)


def _change(found: Moves, steps: Sequence[Step], made: dict[int, Built], layouts: Layouts) -> LayoutChange:
    old, new = (made[at] for at in found.between)
    reason = layout_reason(layouts.reasons(old, new))
    if reason is None or step_of(found.between, steps) >= 0:
        # The step has told it already.
        return change_of(found, steps, "", "", improves=reason is not None and reason.improves)
    lead = {Said.CAUSE: "", Said.RULED_OUT: "no rule objects: ", Said.NOT_RULED_OUT: "not ruled out: "}[reason.said]
    text = f"{lead}{reason.text}"
    return change_of(found, steps, text, reason.confidence, improves=reason.improves)


def revisions_of(
    commits: Sequence[Commit],
    made: dict[int, Built],
    builds: Builds,
    failed: Mapping[int, str],
    logs: Mapping[int, str] = MappingProxyType({}),
) -> tuple[Revision, ...]:
    """All revisions of the range with what became of them: why some are left out, and what their benchmark said."""
    out = []
    for at, commit in enumerate(commits):
        built = made.get(at)
        if built is None:
            state, why, log = RevisionState.UNTRIED, "", ""
        elif built.row.failed:
            state, why, log = RevisionState.FAILED, built.row.why, str(builds.log_path(built.row.key))
        elif at in logs:
            state, why, log = RevisionState.UNMEASURED, failed[at], logs[at]
        elif at in failed:
            state, why, log = RevisionState.FAILED, failed[at], ""
        else:
            state, why, log = RevisionState.BUILT, "", ""
        out.append(Revision(commit.id, commit.name, state, commit.subject, why, log))
    return tuple(out)


def document_of(
    options: HistoryOptions, series: Series | None, judged: Judged | None, revisions: tuple[Revision, ...], source: str
) -> History:
    """The document of a range, without what is known of layouts."""
    if series is None:
        series = Series("", tuple(r.id for r in revisions), (), tuple(() for _ in revisions))
    if judged is None:
        judged = Judged(Basis.NONE, (), (), (), None, None, None, (), ())
    return document(series, judged, revisions, source, options.alpha)
