"""What ``linemate-access`` answers (``elfscan.code.accessplan``).  Owns the answers that the target starts with."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from elfscan.code.accessplan import AccessPlan, read_tables
from fuzz.python.engine.target import Target
from sharing.model import (
    ARG_DTYPE,
    BLOCK_DTYPE,
    CALL_DTYPE,
    FUNCTION_DTYPE,
    HELD_DTYPE,
    KEPT_DTYPE,
    PARAM_DTYPE,
    SITE_DTYPE,
    ZERO_RANGE_DTYPE,
    AccessKind,
    ArgKind,
    SiteFlag,
)

_HEADER = struct.Struct("<8sQQQQQQQQQQQQ")
_FUNCTIONS = 4
_PLAN = AccessPlan("x86-64", "file", [], [], [], np.zeros(_FUNCTIONS, FUNCTION_DTYPE), np.zeros(0, "<u8"), False)


def _seeds() -> Iterable[bytes]:
    lengths = {
        SITE_DTYPE: 3,
        CALL_DTYPE: 2,
        ARG_DTYPE: 2,
        PARAM_DTYPE: 1,
        ZERO_RANGE_DTYPE: 1,
        KEPT_DTYPE: 1,
        BLOCK_DTYPE: 1,
    }
    tables = [np.ones(rows, dtype) for dtype, rows in lengths.items()]
    tables += [np.ones(2, SITE_DTYPE), np.ones(1, ARG_DTYPE), np.ones(1, HELD_DTYPE)]
    taken = np.array([1, 2], "<u8")
    counters = np.array([(b"instructions", 9)], [("name", "S32"), ("value", "<u8")])
    parts = [*tables, taken, counters]
    yield _HEADER.pack(b"LMACCS7\0", *map(len, parts)) + b"".join(part.tobytes() for part in parts)
    yield _HEADER.pack(b"LMACCS7\0", *(0,) * 12)


def one(data: bytes) -> None:
    found = read_tables(data, _PLAN)
    for table, kinds in (
        (found.sites, AccessKind),
        (found.params, AccessKind),
        (found.args, ArgKind),
        (found.behind, AccessKind),
        (found.behind_args, ArgKind),
    ):
        for row in table[:20]:
            kinds(int(row["kind"]))
            assert -1 <= row["function"] < _FUNCTIONS
    for row in (*found.zero_ranges[:20], *found.kept[:20], *found.blocks[:20], *found.held[:20]):
        assert -1 <= row["function"] < _FUNCTIONS
    for flags in found.sites["flags"][:20].tolist():
        SiteFlag(flags)


TARGET = Target("answers of linemate-access", one, _seeds, (b"LMACCS7\0",))
