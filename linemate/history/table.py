"""``linemate history --table``: a file of measurements as the result document.

Owns what of a table is too large to judge, and the revisions that a log lists without a result.
"""

from __future__ import annotations

from dataclasses import dataclass

from linemate.tabletext import chosen
from sharing.explain.numbers import ALPHA
from sharing.explain.tables.revisions import listed_revisions
from sharing.history.judge import Judged, judge
from sharing.history.series import Series, from_measurements
from sharing.model.errors import LinemateError
from sharing.model.history import HISTORY_SCHEMA, History, Points, Revision, RevisionState

MAX_REVISIONS, MAX_CONDITIONS, MAX_CELLS = 20_000, 1_000, 100_000


@dataclass(frozen=True, slots=True)
class TableOptions:
    """``table`` is FILE or FILE#PART.  ``less_is_better`` None leaves it to the metric's name."""

    table: str
    metric: str = ""
    revision: str = ""
    newest_first: bool = False
    less_is_better: bool | None = None
    alpha: float = ALPHA


def from_table(options: TableOptions) -> History:
    """The history in a file.  Raises LinemateError for a file that is none."""
    taken = chosen(options.table)
    measurements = taken.measurements
    series = from_measurements(
        measurements,
        options.metric,
        revision=options.revision,
        newest_first=options.newest_first,
        less_is_better=options.less_is_better,
    )
    revisions, conditions = len(series.revisions), len(series.cells)
    if revisions > MAX_REVISIONS or conditions > MAX_CONDITIONS or revisions * conditions > MAX_CELLS:
        raise LinemateError(
            f"{options.table}: {revisions:,} revisions by {conditions:,} conditions; at most {MAX_REVISIONS:,} by "
            f"{MAX_CONDITIONS:,}, and {MAX_CELLS:,} in all"
        )
    series = _with_listed(series, listed_revisions(taken.text))
    others = sorted({m.metric for m in measurements} - {series.metric})
    notes = [f"measurements of {taken.took}"] if taken.took else []
    if others:
        notes.append(f"other metrics in the table: {', '.join(others[:8])}")
    listed = tuple(Revision(name, _short(name), RevisionState.LISTED) for name in series.revisions)
    return document(series, judge(series, options.alpha), listed, options.table, options.alpha, tuple(notes))


def document(
    series: Series,
    judged: Judged,
    revisions: tuple[Revision, ...],
    source: str,
    alpha: float,
    notes: tuple[str, ...] = (),
) -> History:
    """The document of a judged series, without anything about layouts."""
    points = tuple(Points(labels, tuple(row[j] for row in series.values)) for j, labels in enumerate(series.cells))
    return History(
        schema=HISTORY_SCHEMA,
        command="history",
        source=source,
        metric=series.metric,
        less_is_better=series.less_is_better,
        alpha=alpha,
        basis=judged.basis,
        revisions=revisions,
        series=points,
        steps=judged.steps,
        slopes=judged.slopes,
        outliers=judged.outliers,
        best=judged.best,
        ends=judged.ends,
        ends_chance=judged.ends_chance,
        contrasts=judged.contrasts,
        pairs=(),
        layout_changes=(),
        bisection=None,
        notes=(*judged.notes, *notes),
    )


def _with_listed(series: Series, listed: tuple[str, ...]) -> Series:
    """With the revisions in between that have no result: one of them may have made a step."""
    if not set(series.revisions) <= set(listed):
        return series
    first = min(listed.index(r) for r in series.revisions)
    last = max(listed.index(r) for r in series.revisions)
    at = {r: i for i, r in enumerate(series.revisions)}
    names = listed[first : last + 1]
    none = tuple(() for _ in series.cells)
    values = tuple(series.values[at[r]] if r in at else none for r in names)
    return Series(series.metric, names, series.cells, values, series.less_is_better)


def _short(name: str) -> str:
    """The end of a long name: what tells revisions of one author apart."""
    return name if len(name) <= 24 else f"…{name[-23:]}"
