"""Baselines of accepted findings (``linemate.baseline``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from fuzz.python.engine.target import Target, input_file
from linemate.baseline import SCHEMA, Baseline, KnownFinding, read_baseline
from sharing.model.finding import Severity


def _seeds() -> Iterable[bytes]:
    rows = (KnownFinding("a1", "hot-lock", Severity.HIGH, ("a", "b")), KnownFinding("a2", "fragile", Severity.LOW, ()))
    yield msgspec.json.encode(Baseline(SCHEMA, rows))
    yield msgspec.json.encode(Baseline(SCHEMA, ()))


def one(data: bytes) -> None:
    read_baseline(str(input_file(data)))


TARGET = Target(
    "baselines of accepted findings", one, _seeds, (b'"schema":"', b'"findings":[', b'"severity":"high"', b"\\ud800")
)
