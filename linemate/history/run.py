"""``linemate history`` of a repository as a table of contents: build, read layouts, measure, judge, join.

Owns the order of the stages and the document.  Each stage is a module of ``linemate.history``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import msgspec

from linemate.checking.gitbase import without_inherited
from linemate.history.bench import Bench
from linemate.history.bisect import bisected
from linemate.history.buildlayouts import Layouts, ReasonStatus, layout_reason
from linemate.history.builds import Builds, Built
from linemate.history.clone import Commit, commits_of, top_of
from linemate.history.document import document_of, explained, read_layouts, revisions_of
from linemate.history.options import HistoryOptions
from linemate.history.progress import watched
from linemate.history.store import Store
from sharing.history.coincide import Moves, change_of, moves, pairs_along, step_of
from sharing.history.judge import Judged
from sharing.history.pooled import judged_once
from sharing.history.series import Series
from sharing.model.errors import LinemateError
from sharing.model.history import History, LayoutChange, Step


def history_of(options: HistoryOptions) -> History:
    """The history of a repository's range.  Raises LinemateError for what cannot be asked of it."""
    top, common = top_of(options.repo)
    commits = commits_of(top, options.revisions)
    if len(commits) < 2:
        raise LinemateError(f"{options.revisions}: holds one revision, a history takes two")
    with without_inherited(), closing(Store(options.store)) as store:
        builds = Builds(
            store, top, common, options.build, options.binaries, options.timeout_s, keep_trees=bool(options.bench)
        )
        if options.retry_failed:
            builds.forget_failures(commits)
        layouts = Layouts(store, builds, options.line_size, options.project)
        if options.bisect:
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
            loads = [found[at].loads if at in found else key for at, key in enumerate(keys)]
            judged = judged_once(series, keys, loads, options.alpha)
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


def series_of(options: HistoryOptions, commits: Sequence[Commit], made: dict[int, Built], bench: Bench) -> Series:
    """What was measured, as a series over all revisions of the range."""
    conditions = options.plan.conditions
    values = tuple(
        tuple(bench.of(made[at], level) if at in made and made[at].binary is not None else () for level in conditions)
        for at in range(len(commits))
    )
    cells = tuple((("level", level),) if level else () for level in conditions)
    return Series(options.metric_name, tuple(c.id for c in commits), cells, values, options.less)


def _change(found: Moves, steps: Sequence[Step], made: dict[int, Built], layouts: Layouts) -> LayoutChange:
    old, new = (made[at] for at in found.between)
    reason = layout_reason(layouts.reasons(old, new))
    if reason is None or step_of(found.between, steps) >= 0:
        # The step has told it already.
        return change_of(found, steps, "", "", improves=reason is not None and reason.improves)
    lead = {
        ReasonStatus.CAUSE: "",
        ReasonStatus.RULED_OUT: "no rule objects: ",
        ReasonStatus.NOT_RULED_OUT: "not ruled out: ",
    }[reason.status]
    text = f"{lead}{reason.text}"
    return change_of(found, steps, text, reason.confidence, improves=reason.improves)
