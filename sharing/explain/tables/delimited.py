"""CSV and TSV with a header, and JSON: a list of flat objects, or the results of Google Benchmark and hyperfine.

Owns these formats only.
"""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import msgspec

from sharing.explain.tables.base import MAX_VALUES, Measurement, from_columns, is_label, number
from sharing.model.errors import Malformed, Unrecognized


def read_lines(text: str, path: str) -> tuple[Measurement, ...]:
    """A header and rows, separated by tabs, semicolons or commas.  Raises Unrecognized, Malformed."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) < 2:
        raise Unrecognized(path, "no header and rows")
    delimiter = max("\t;,", key=lines[0].count)
    if not lines[0].count(delimiter):
        return _column(lines, path)
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise Malformed(path, None, f"broken CSV: {error}") from None
    header = [cell.strip() for cell in rows[0]]
    if all(number(cell) is not None for cell in header):
        raise Unrecognized(path, "the first line names no columns")
    return from_columns(header, rows[1:], path)


def _column(lines: list[str], path: str) -> tuple[Measurement, ...]:
    """A name, and numbers below it: repetitions.  Raises Unrecognized where anything else is there."""
    name, *cells = (line.strip().strip('"') for line in lines)
    if number(name) is not None or is_label(name) or any(number(cell) is None for cell in cells):
        raise Unrecognized(path, "no columns")
    return from_columns([name], ([cell] for cell in cells), path)


def read_records(text: str, path: str) -> tuple[Measurement, ...]:
    """Objects with their numbers as values and their strings as labels.  Raises Unrecognized, Malformed.

    A list of numbers is a value with repetitions (hyperfine's ``times``).
    """
    if text.lstrip()[:1] not in ("[", "{"):
        raise Unrecognized(path, "no JSON")
    try:
        document = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise Malformed(path, None, f"broken JSON: {error}") from None
    except RecursionError:
        raise Malformed(path, None, "JSON nested too deep") from None
    records: Any = document
    if isinstance(document, dict):
        records = next((document[k] for k in ("benchmarks", "results", "rows") if k in document), [document])
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise Malformed(path, None, "expected a list of objects, one a measurement")
    out: list[Measurement] = []
    for record in records:
        out += _of_record(record)
        if len(out) > MAX_VALUES:
            raise Malformed(path, None, f"more than {MAX_VALUES} values")
    if not out:
        raise Malformed(path, None, "the objects hold no numbers")
    return tuple(out)


def _of_record(record: dict[str, Any]) -> list[Measurement]:
    # Google Benchmark's statistics of repetitions are not measurements.
    if record.get("run_type") == "aggregate":
        return []
    names = _conditions(record)
    labels = tuple((key, str(record[key])) for key in names)
    out = []
    for key, value in record.items():
        if key in names:
            continue
        values = value if isinstance(value, list) else [value]
        numbers = [float(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        out += [Measurement(key, v, labels) for v in numbers if math.isfinite(v)]
    return out


def _conditions(record: dict[str, Any]) -> tuple[str, ...]:
    """Keys of a record that are labels: strings, and numbers that say under which conditions it was measured."""
    return tuple(k for k, v in record.items() if isinstance(v, str) or (isinstance(v, int | float) and is_label(k)))
