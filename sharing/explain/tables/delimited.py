"""CSV, TSV and aligned columns with a header, and JSON: flat objects.

Owns these formats only; what the fields of tools that write them mean is ``timings``'.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import msgspec

from sharing.explain.tables import jmh, timings
from sharing.explain.tables.base import MAX_VALUES, Measurement, is_label
from sharing.explain.tables.columns import from_columns
from sharing.explain.tables.figures import is_missing, number
from sharing.model.errors import Malformed, Unrecognized


def read_lines(text: str, path: str) -> tuple[Measurement, ...]:
    """A header and rows, separated by tabs, semicolons, commas or blanks.  Raises Unrecognized, Malformed."""
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) < 2:
        raise Unrecognized(path, "no header and rows")
    delimiter = max("\t;,", key=lines[0][1].count)
    if not lines[0][1].count(delimiter):
        return _aligned(lines, path)
    reader = csv.reader(io.StringIO("\n".join(line for _, line in lines)), delimiter=delimiter, strict=True)
    try:
        rows = [(lines[reader.line_num - 1][0], row) for row in reader]
    except csv.Error as error:
        raise Malformed(path, None, f"broken CSV: {error}") from None
    return _with_header(rows, path)


def _with_header(rows: list[tuple[int, list[str]]], path: str) -> tuple[Measurement, ...]:
    (_, header), *others = rows
    if all(number(cell) is not None for cell in header):
        raise Unrecognized(path, "the first line names no columns")
    if set(timings.HYPERFINE) <= set(header):
        return timings.of_hyperfine_table(rows, path)
    return from_columns(header, [row for _, row in others], path, [at for at, _ in rows])


def _aligned(lines: list[tuple[int, str]], path: str) -> tuple[Measurement, ...]:
    """Columns that blanks separate, as tools print them; one column is a name and its repetitions.

    Raises Unrecognized where rows have other numbers of cells: it may be any text.
    """
    # Two blanks part cells that may hold single ones.
    for separator in (r"\s{2,}", r"\s+"):
        rows = [(at, re.split(separator, line.strip())) for at, line in lines]
        width = len(rows[0][1])
        if width > 1 and all(len(cells) == width for _, cells in rows):
            figures = sum(number(cell) is not None for cell in rows[0][1])
            # A header of words, or of levels; else it is a sentence with a number in it.
            if figures not in (0, width - 1) or not any(number(cell) is not None for cell in rows[1][1]):
                break
            return _with_header(rows, path)
    name, *cells = (line.strip().strip('"') for _, line in lines)
    if number(name) is not None or is_label(name) or any(number(c) is None and not is_missing(c) for c in cells):
        raise Unrecognized(path, "no columns")
    return from_columns([name], ([cell] for cell in cells), path, [at for at, _ in lines])


def read_records(text: str, path: str) -> tuple[Measurement, ...]:
    """Objects with their numbers as values and their strings as labels.  Raises Unrecognized, Malformed.

    A list of numbers is a value with repetitions.
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
        try:
            out += _of_record(record)
        except OverflowError:
            raise Malformed(path, None, "a number has more digits than any figure") from None
        if len(out) > MAX_VALUES:
            raise Malformed(path, None, f"more than {MAX_VALUES} values")
    if not out:
        raise Malformed(path, None, "the objects hold no numbers")
    return tuple(out)


def _of_record(record: dict[str, Any]) -> list[Measurement]:
    if timings.is_hyperfine(record):
        return timings.of_hyperfine(record)
    if timings.is_google(record):
        return timings.of_google(record)
    if jmh.is_jmh(record):
        return jmh.of_jmh(record)
    names = _conditions(record)
    labels = tuple((key, str(record[key])) for key in names)
    out = []
    for key, value in record.items():
        if key in names:
            continue
        values = value if isinstance(value, list) else [value]
        out += [Measurement(key, number, labels) for number in map(timings.finite, values) if number is not None]
    return out


def _conditions(record: dict[str, Any]) -> tuple[str, ...]:
    """Keys of a record that are labels: strings, and numbers that say under which conditions it was measured."""
    return tuple(
        k
        for k, v in record.items()
        if (isinstance(v, str) and (is_label(k) or not is_missing(v))) or (isinstance(v, int | float) and is_label(k))
    )
