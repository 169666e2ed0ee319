"""What every reader of measurements returns: one value a row, with the labels under which it was measured.

Owns the tidy form, and what labels mean by their names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sharing.explain.tables.figures import number

MAX_VALUES = 1_000_000
MAX_LINE = 400  # characters of a line of a tool's report
Labels = tuple[tuple[str, str], ...]  # (column, text), in the order of the table
# Columns that say what was measured and where, although they may hold numbers.
_REVISIONS = r"rev(no|ision)?|commit|changeset|version|release|build"
_NAMES = re.compile(rf"{_REVISIONS}|name|config(_name)?|benchmark|test|machine|host", re.IGNORECASE)
# Labels that only tell repetitions apart, if numbers, and those of when something was measured.
_REPETITION = re.compile(r"run|iteration|rep(etition|eat)?|round|trial|seed", re.IGNORECASE)
_BUILD = re.compile(_REVISIONS, re.IGNORECASE)
_COMMAND = re.compile(r"command|cmd|program|binary|executable", re.IGNORECASE)
_WHEN = re.compile(r"time(stamp)?|date", re.IGNORECASE)
_LEVEL = re.compile(
    r"levels?|c|n|t|con(currency|nections?)?|threads?|thr|clients?|users?|workers?|procs?|process(es)?|cores?|cpus?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One value.  ``labels`` are (column, text), in the order of the table; repetitions have equal labels.

    ``line`` is where in the text it stands, and ``table`` the first line of its table; 0 where nobody says.
    """

    metric: str
    value: float
    labels: Labels = ()
    line: int = field(default=0, compare=False)
    table: int = field(default=0, compare=False)

    def at(self, line: int, table: int) -> Measurement:
        """The same, found there."""
        return replace(self, line=line, table=table)

    def label(self, name: str) -> str:
        """The text of a label, "" without it."""
        return next((text for key, text in self.labels if key == name), "")


def is_label(column: str) -> bool:
    """Whether a column of numbers says how something was measured rather than what."""
    return any(known.fullmatch(column.strip()) for known in (_NAMES, _REPETITION, _WHEN, _LEVEL))


def is_level(column: str) -> bool:
    """Whether a column says how many threads, clients or the like were at work."""
    return _LEVEL.fullmatch(column.strip()) is not None


def is_repetition(column: str) -> bool:
    """Whether a column tells repetitions apart."""
    return _REPETITION.fullmatch(column.strip()) is not None


def repetition_labels(measurements: Iterable[Measurement]) -> tuple[str, ...]:
    """Labels that tell repetitions apart and are no condition: a numbered ``run``, a date."""
    counted: dict[str, bool] = {}
    for measured in measurements:
        for name, text in measured.labels:
            if _REPETITION.fullmatch(name) and counted.get(name, True):
                counted[name] = number(text) is not None
            elif _WHEN.fullmatch(name):
                counted[name] = True
    return tuple(name for name, known in counted.items() if known)


def without_builds(*sides: Iterable[Measurement]) -> tuple[tuple[Measurement, ...], ...]:
    """Both sides without the labels that only say which build was measured: called so, with no text in common."""
    given = [tuple(side) for side in sides]
    texts: list[dict[str, set[str]]] = []
    for side in given:
        texts.append(defaultdict(set))
        for measured in side:
            for name, text in measured.labels:
                texts[-1][name].add(text)
    shared = set.intersection(*(set(known) for known in texts))
    apart = {name for name in shared if not set.intersection(*(t[name] for t in texts))}
    gone = {name for name in apart if _BUILD.fullmatch(name)}
    # Each side ran one command, its own build's: it is no condition.  Of several, nobody says which is which.
    gone |= {name for name in apart if _COMMAND.fullmatch(name) and all(len(t[name]) == 1 for t in texts)}
    return tuple(
        tuple(replace(m, labels=tuple(label for label in m.labels if label[0] not in gone)) for m in side)
        for side in given
    )


def grouped(measurements: Iterable[Measurement], metric: str) -> Mapping[Labels, tuple[float, ...]]:
    """Repetitions of one metric by their labels."""
    out: dict[Labels, list[float]] = defaultdict(list)
    for measured in measurements:
        if measured.metric == metric:
            out[measured.labels].append(measured.value)
    return {labels: tuple(values) for labels, values in out.items()}
