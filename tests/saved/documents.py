"""Documents of every kind as their commands write them, for what reads them back."""

from __future__ import annotations

from typing import Any

import msgspec

from reports import EMITTERS
from reports.explain import EXPLAIN_EMITTERS
from reports.history import HISTORY_EMITTERS
from sharing.model.history import (
    HISTORY_SCHEMA,
    Basis,
    Bisection,
    Change,
    ConditionChange,
    Contrast,
    History,
    LayoutChange,
    Outlier,
    Pair,
    PairPosition,
    Points,
    Revision,
    RevisionState,
    Slope,
    Step,
)
from tests.builders.report import FROM_SOURCE, REPORT
from tests.explain.test_explain_reports import comparison

_UP = Change(0.1, 0.05, 0.2, 0.95)


def history() -> History:
    """Of four revisions, with one of every kind of value."""
    labels = (("threads", "8"),)
    condition = ConditionChange(labels, 100.0, 90.0, _UP, True)
    step = Step((1, 2), (2,), 0.01, True, _UP, (condition,), ("layout: a moved",), ("toolchain: unknown",))
    place = PairPosition(1, "0x1040", "0x1048", 0, 8, True, True)
    return History(
        schema=HISTORY_SCHEMA,
        command="history",
        source="table.csv",
        metric="qps",
        less_is_better=False,
        alpha=0.05,
        basis=Basis.REVISIONS,
        revisions=tuple(Revision(f"r{n}", f"r{n}", RevisionState.BUILT, "subject", "", "") for n in range(4)),
        series=(Points(labels, ((1.0, 2.0), (1.5,), (), (9.0, 8.5))),),
        steps=(step,),
        slopes=(Slope(0, 3, 0.1),),
        outliers=(Outlier(1, 0.2),),
        best=step,
        ends=_UP,
        ends_chance=0.04,
        contrasts=(Contrast("threads", (0, 1), _UP, 0.02),),
        pairs=(Pair("LOCK_open", "unused_tables", (place,)),),
        layout_changes=(LayoutChange((0, 1), ("a / b",), ("c / d",), ("e / f",), (), "why", "high", False, 0),),
        bisection=Bisection("which", True, ((0, "good"), (3, "bad")), (1, 2), 2, "words"),
        notes=("a note",),
    )


def texts() -> dict[str, str]:
    """JSON by kind: findings, a comparison, a history."""
    report = msgspec.structs.replace(REPORT, findings=(*REPORT.findings, FROM_SOURCE))
    return {
        "findings": EMITTERS["json"].render(report),
        "comparison": EXPLAIN_EMITTERS["json"].render(comparison()),
        "history": HISTORY_EMITTERS["json"].render(history()),
    }


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every value of a document that holds no others, and of every list."""
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [path, *(found for number, item in enumerate(value) for found in leaves(item, (*path, number)))]
    return [path]


def changed(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """A copy of the document with another value at ``path``."""
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = changed(document[path[0]], path[1:], value)
    return copy
