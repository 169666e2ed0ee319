"""The reader of ``gcov --json-format``: executions by source line and by function, of all threads together.

Owns the fields of that document (gcov's manual, "JSON intermediate format").
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import numpy as np

from pmu.counts.countedjson import MAX_LINE, Fields, documents
from sharing.model.executions import EXECUTION_DTYPE, Executions, NamedCounts


def read(path: Path) -> Executions:
    """Raises Unrecognized for another format, Malformed for a broken file."""
    fields = Fields(path)
    lines: dict[tuple[str, int], int] = defaultdict(int)
    runs: dict[str, int] = defaultdict(int)
    recorder = ""
    for document in documents(path, b'"gcc_version"', "gcov --json-format"):
        folder = fields.text(document, "current_working_directory")
        recorder = f"gcov {fields.text(document, 'gcc_version')}"
        for file in fields.objects(document, "files"):
            name = os.path.normpath(os.path.join(folder, fields.text(file, "file")))
            for function in fields.objects(file, "functions"):
                runs[fields.text(function, "name")] += fields.count(function, "execution_count")
            # A line of a template or an inlined function is there once for each of them.
            for line in fields.objects(file, "lines"):
                number = fields.number(line.get("line_number"), "line_number", MAX_LINE)
                lines[name, number] += fields.count(line, "count")
    named = NamedCounts(lines=dict(lines), runs=dict(runs))
    return Executions(np.empty(0, EXECUTION_DTYPE), (), (), (), "", recorder, named)
