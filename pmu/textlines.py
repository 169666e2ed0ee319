"""Profiles that are text: their lines, and rows of samples made from values one at a time.

Owns what the readers of text share.  Knows no format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pmu.samplesbuilder import Builder, new_samples
from sharing.model.errors import Unrecognized
from sharing.model.inputs import open_input
from sharing.model.samples import SAMPLE_DTYPE

ROWS_AT_ONCE = 1 << 16
MAX_LINE_CHARS = 1 << 14
LOOK_AT_BYTES = 1 << 16


def lines(path: Path) -> Iterator[str]:
    """Lines without their ends; overlong ones are cut.  Raises Unrecognized where the file is not text."""
    with open_input(path, "a profile") as file:
        head = file.read(LOOK_AT_BYTES)
        if not head or b"\0" in head:
            raise Unrecognized(str(path), "empty" if not head else "not text")
        file.seek(0)
        while line := file.readline(MAX_LINE_CHARS):
            yield line.decode("utf-8", "replace").rstrip("\r\n")


class Rows:
    """Collects samples as values by column name and hands them to a builder in large parts."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._pending: list[Mapping[str, int]] = []
        self._limits = {
            name: int(np.iinfo(SAMPLE_DTYPE[name]).max) for name in SAMPLE_DTYPE.names or () if name != "reserved"
        }

    def add(self, values: Mapping[str, int]) -> None:
        """One sample; columns that are not given are unknown.  ValueError where a number does not fit its column."""
        for name, value in values.items():
            if not -1 <= value <= self._limits[name]:
                raise ValueError(f"{name} {value} is out of range")
        self._pending.append(values)
        if len(self._pending) >= ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        rows = new_samples(len(self._pending))
        columns: dict[str, Any] = {}
        for at, values in enumerate(self._pending):
            for name, value in values.items():
                columns.setdefault(name, ([], []))[0].append(at)
                columns[name][1].append(value)
        for name, (where, given) in columns.items():
            rows[name][where] = given
        self._builder.store.append(rows)
        self._pending = []
