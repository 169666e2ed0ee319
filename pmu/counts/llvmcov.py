"""The reader of ``llvm-cov export --format=text``: executions by region of source, of all threads together.

Owns the fields of that document (LLVM's "llvm-cov export", type llvm.coverage.json.export) and how its segments become
lines: a line was executed as often as the busiest region that begins on it, or the one that it lies in.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from pmu.counts.countedjson import MAX_LINE, Fields, documents
from sharing.model.errors import Malformed
from sharing.model.executions import EXECUTION_DTYPE, Executions, NamedCounts

MAX_LINES = 1 << 22  # of one document
# A segment may reach over any number of lines: so many a document has in any case, and so many for each segment.
ALWAYS_LINES, LINES_A_SEGMENT = 1 << 18, 64


def read(path: Path) -> Executions:
    """Raises Unrecognized for another format, Malformed for a broken file."""
    fields = Fields(path)
    lines: dict[tuple[str, int], int] = defaultdict(int)
    runs: dict[str, int] = defaultdict(int)
    for document in documents(path, b'"data"', "llvm-cov export"):
        if fields.text(document, "type") != "llvm.coverage.json.export":
            raise fields.malformed("type", "llvm.coverage.json.export")
        left = ALWAYS_LINES
        for data in fields.objects(document, "data"):
            for function in fields.objects(data, "functions"):
                # Functions of one unit alone are named after it: "file.c:name".
                runs[fields.text(function, "name").rpartition(":")[2]] += fields.count(function, "count")
            for file in fields.objects(data, "files"):
                segments = fields.rows(file, "segments")
                left = min(left + LINES_A_SEGMENT * len(segments), MAX_LINES)
                found = _lines(fields, segments, left)
                left -= len(found)
                for line, count in found.items():
                    lines[fields.text(file, "filename"), line] += count
                if len(lines) > MAX_LINES:
                    raise Malformed(str(path), None, f"counts more than {MAX_LINES} lines")
    named = NamedCounts(lines=dict(lines), runs=dict(runs))
    return Executions(np.empty(0, EXECUTION_DTYPE), (), (), (), "", "llvm-cov", named)


def _lines(fields: Fields, segments: list[Any], most: int) -> dict[int, int]:
    """Executions by line, of up to ``most``.

    A segment lasts to the next one: [line, column, count, counted, begins, gap].
    """
    out: dict[int, int] = {}
    before, within = 0, -1  # the line that was reached, and the count that holds there (-1: none)
    for row in segments:
        if not isinstance(row, list) or len(row) < 5:
            raise fields.malformed("segments", "list of at least five values")
        line, count = fields.number(row[0], "segments", MAX_LINE), fields.number(row[2], "segments")
        if line < before:
            raise fields.malformed("segments", "list in the order of lines")
        if within >= 0:
            if len(out) + line - before > most:
                raise fields.malformed("segments", f"list of at most {most} lines")
            for passed in range(before + 1, line + 1):
                out.setdefault(passed, within)
        if row[3] and row[4] and not (len(row) > 5 and row[5]):
            # What begins here counts for the line, over what only reaches into it.
            out[line] = max(out.get(line, 0), count) if line == before else count
        before, within = line, count if row[3] else -1
    return out
