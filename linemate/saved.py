"""Documents that a command wrote as JSON, read back: the kind by its schema, and every value that rendering relies on.

Owns the checks that types cannot say (addresses, ranges, indexes), so that emitters may trust what they get.  Does not
own the documents (``sharing.model``) nor how they are rendered (``reports``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from linemate.byid import with_id
from reports import EMITTERS
from reports.emitters import Emitter
from reports.explain import EXPLAIN_EMITTERS
from reports.history import HISTORY_EMITTERS
from sharing.model.comparison import EXPLAIN_SCHEMA, Comparison, LineMates, Moved, ShiftRun, Straddle, SymbolChange
from sharing.model.errors import LinemateError, Malformed
from sharing.model.finding import SCHEMA, Finding, LinePicture, LineRef, Participant, Report, SourceEdit
from sharing.model.history import HISTORY_SCHEMA, History
from sharing.model.inputs import read_input

MAX_BYTES = 512 << 20
MAX_LINE_BYTES = 1 << 16  # far above any line, pair of lines or run of them that is drawn
MAX_INTEGER = (1 << 64) - 1
_ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")
_SHIFT = re.compile(r"-?0x[0-9a-f]{1,16}")

Saved = Report | Comparison | History
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """A kind of document: its type, and how it is rendered."""

    type: type[Saved]
    emitters: Mapping[str, Emitter[Any]]


KINDS = {
    SCHEMA: DocumentKind(Report, EMITTERS),
    EXPLAIN_SCHEMA: DocumentKind(Comparison, EXPLAIN_EMITTERS),
    HISTORY_SCHEMA: DocumentKind(History, HISTORY_EMITTERS),
}


class _Head(msgspec.Struct):
    schema: str


def read_saved(path: str) -> tuple[Saved, DocumentKind]:
    """The document of ``path`` (``-``: standard input).  Raises LinemateError where it is none that can be rendered."""
    data = read_input(path, MAX_BYTES, "a report that was saved as JSON", stream=True)
    try:
        schema = msgspec.json.decode(data, type=_Head).schema
        kind = KINDS.get(schema)
        if kind is None:
            raise Malformed(path, None, f"schema {schema[:80]!r}, this version reads {', '.join(KINDS)}")
        document = _decoded(data, kind.type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(path, None, f"not a saved report: {error}") from error
    try:
        _walk(document, "")
    except ValueError as error:
        raise Malformed(path, None, f"not a saved report: {error}") from error
    return document, kind


def _decoded(data: bytes, kind: type[T]) -> T:
    """The document.  What confirms a cause was one text before it was a list of steps."""
    if kind is not Comparison:
        return msgspec.json.decode(data, type=kind)
    return msgspec.convert(with_steps(msgspec.json.decode(data)), kind)


def with_steps(document: Any) -> Any:
    """The same comparison with a text of ``confirm`` or ``refute`` as the one step that it is."""
    causes = document.get("causes") if isinstance(document, dict) else None
    for cause in causes if isinstance(causes, list) else ():
        for key in ("confirm", "refute"):
            if isinstance(cause, dict) and isinstance(text := cause.get(key), str):
                cause[key] = [text] if text else []
    return document


def read_report(path: str) -> Report:
    """The same, of a command that reports findings."""
    document, _ = read_saved(path)
    if not isinstance(document, Report):
        raise Malformed(path, None, f"is of schema {document.schema!r}, expected findings: {SCHEMA!r}")
    return document


def named(report: Report, wanted: str, path: str) -> list[Finding]:
    """The findings that ``with_id`` takes it for.  Raises LinemateError where there is none."""
    found = with_id(report.findings, wanted)
    if not found:
        import difflib

        ids = [finding.id for finding in report.findings]
        nearest = difflib.get_close_matches(wanted[:80], ids[:1000], n=1)
        hint = f"did you mean '{nearest[0]}'?" if nearest else f"it has {len(ids):,}, and {report.hidden:,} hidden"
        raise LinemateError(f"{path}: no finding '{wanted}': {hint}")
    return found


def _walk(value: Any, path: str) -> None:
    """Raise ValueError with the path of the first value that rendering could not take."""
    if isinstance(value, msgspec.Struct):
        if (check := _CHECKS.get(type(value))) is not None:
            check(value, path)
        for name in value.__struct_fields__:
            _walk(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, tuple | list):
        for number, item in enumerate(value):
            _walk(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            _walk(item, f"{path}[{key[:40]!r}]")
    elif isinstance(value, float):
        _require(math.isfinite(value), path, "is no finite number")
    elif isinstance(value, int):
        _require(-MAX_INTEGER <= value <= MAX_INTEGER, path, "does not fit into 64 bits")


def _require(holds: bool, path: str, why: str) -> None:
    if not holds:
        raise ValueError(f"{path} {why}")


def _address(text: str, path: str, form: re.Pattern[str] = _ADDRESS) -> None:
    _require(form.fullmatch(text) is not None, path, f"is no address: {text[:40]!r}")


def _ranges(ranges: Iterable[tuple[int, int]], path: str) -> None:
    for start, end in ranges:
        _require(0 <= start <= end <= MAX_LINE_BYTES, path, f"has the range {start} to {end}")


def _line(line: LineRef, path: str) -> None:
    _address(line.address, f"{path}.address")
    _require(0 < line.size <= MAX_LINE_BYTES, f"{path}.size", f"is {line.size}")


def _participant(who: Participant, path: str) -> None:
    _address(who.address, f"{path}.address")
    _require(who.size >= 0, f"{path}.size", f"is {who.size}")
    _ranges((*who.bytes, *who.hot), path)


def _picture(picture: LinePicture, path: str) -> None:
    _address(picture.address, f"{path}.address")
    _require(0 < picture.size <= MAX_LINE_BYTES, f"{path}.size", f"is {picture.size}")
    end = 0
    for piece in picture.slices:
        _require(piece.start == end < piece.end, f"{path}.slices", f"leave a gap or overlap at {end}")
        end = piece.end
    _require(end == picture.size, f"{path}.slices", f"end at {end} of {picture.size}")


def _finding(finding: Finding, path: str) -> None:
    _require(bool(finding.participants), f"{path}.participants", "is empty")


def _comparison(comparison: Comparison, path: str) -> None:
    _require(bool(comparison.causes), "causes", "is empty")


def _edit(edit: SourceEdit, path: str) -> None:
    numbers = (edit.begin, edit.end, edit.line, edit.column, edit.end_line, edit.end_column)
    _require(min(numbers) >= 0 and edit.begin <= edit.end, path, "has a position below 0 or an end before its start")


def _moved(moved: Moved, path: str) -> None:
    _address(moved.old, f"{path}.old")
    _address(moved.new, f"{path}.new")
    _address(moved.shift, f"{path}.shift", _SHIFT)


def _change(change: SymbolChange, path: str) -> None:
    for name in ("old_address", "new_address"):
        if text := getattr(change, name):
            _address(text, f"{path}.{name}")


def _mates(mates: LineMates, path: str) -> None:
    _address(mates.line, f"{path}.line")
    _require(0 < mates.line_size <= MAX_LINE_BYTES, f"{path}.line_size", f"is {mates.line_size}")
    _ranges((mates.first_bytes, mates.second_bytes), path)


def _straddle(straddle: Straddle, path: str) -> None:
    _address(straddle.address, f"{path}.address")


def _run(run: ShiftRun, path: str) -> None:
    _address(run.start, f"{path}.start")
    _address(run.end, f"{path}.end")


def _history(history: History, path: str) -> None:
    """Every index of a revision leads to one, and every series has a place for each."""
    revisions = len(history.revisions)
    named: list[tuple[str, Iterable[int]]] = []
    for number, points in enumerate(history.series):
        found = len(points.values)
        _require(found == revisions, f"series[{number}].values", f"has {found} of {revisions} revisions")
    for step, at in (*_numbered("steps", history.steps), *_one("best", history.best)):
        named.append((at, (*step.between, *step.suspects)))
    named += [(at, (slope.start, slope.end)) for slope, at in _numbered("slopes", history.slopes)]
    named += [(at, (outlier.revision,)) for outlier, at in _numbered("outliers", history.outliers)]
    named += [(at, contrast.revisions) for contrast, at in _numbered("contrasts", history.contrasts)]
    named += [(at, [place.revision for place in pair.places]) for pair, at in _numbered("pairs", history.pairs)]
    for change, at in _numbered("layout_changes", history.layout_changes):
        named.append((at, change.between))
        _require(change.step >= -1, f"{at}.step", f"is {change.step}")
    for bisection, at in _one("bisection", history.bisection):
        named.append((at, (*bisection.suspects, *(revision for revision, _ in bisection.tested))))
    for at, indexes in named:
        for index in indexes:
            _require(0 <= index < revisions, at, f"names revision {index} of {revisions}")


def _numbered(name: str, values: Iterable[T]) -> list[tuple[T, str]]:
    return [(value, f"{name}[{number}]") for number, value in enumerate(values)]


def _one(name: str, value: T | None) -> list[tuple[T, str]]:
    return [] if value is None else [(value, name)]


_CHECKS: dict[type, Callable[[Any, str], None]] = {
    LineRef: _line,
    Participant: _participant,
    LinePicture: _picture,
    Finding: _finding,
    Comparison: _comparison,
    SourceEdit: _edit,
    Moved: _moved,
    SymbolChange: _change,
    LineMates: _mates,
    Straddle: _straddle,
    ShiftRun: _run,
    History: _history,
}
