"""What ``linemate-access --query`` answers (``elfscan.code.query``).  Owns the answers that the target starts with.

The first byte chooses what was asked; the rest is the answer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from elfscan.code.query import check_operands, read_answer, split_instructions
from fuzz.python.engine.target import Target
from sharing.model.attribution import Reason
from sharing.model.errors import LinemateError
from sharing.model.image import AccessKind
from sharing.model.instructions import INSTRUCTION_DTYPE, Holding
from sharing.model.operands import OPERAND_DTYPE, POINT_DTYPE, Holds, Role, Segment

_HEADER = struct.Struct("<8sQQQ")
_ASKED = np.array([1, 2], np.uint64)
_FUNCTIONS = 2
_OPERANDS, _TARGETS, _INSTRUCTIONS = 1, 2, 3


def _answer(kind: int, first: np.ndarray, second: np.ndarray) -> bytes:
    header = _HEADER.pack(b"LMANSWR1", kind, len(first), len(second))
    return bytes([kind]) + header + first.tobytes() + second.tobytes()


def _seeds() -> Iterable[bytes]:
    points, operands = np.zeros(2, POINT_DTYPE), np.zeros(3, OPERAND_DTYPE)
    points["ip"], points["first"], points["count"], points["before"], points["at"] = _ASKED, [0, 2], [2, 1], 0, -1
    points["before"] = [0, 2]
    operands["kind"], operands["role"], operands["point"] = AccessKind.LOAD, Role.WITNESS, [0, 0, 1]
    yield _answer(_OPERANDS, points, operands)
    yield _answer(_TARGETS, np.array([3, 4], "<u8"), np.zeros(0, "<u8"))
    instructions = np.zeros(3, INSTRUCTION_DTYPE)
    instructions["target_is"] = Holding.INSIDE
    yield _answer(_INSTRUCTIONS, np.array([1, 3], "<u8"), instructions)


def one(data: bytes) -> None:
    kind = (data[0] - 1) % 3 + 1 if data else _OPERANDS
    first, second = read_answer(data[1:], kind)
    if kind == _OPERANDS:
        check_operands(first, second, _ASKED)
        for point in first:
            Reason(int(point["reason"]))
            assert len(second[point["first"] :][: point["count"]]) == point["count"]
        for row in second[:20]:
            for column, values in (("kind", AccessKind), ("role", Role), ("holds", Holds), ("segment", Segment)):
                values(int(row[column]))
    elif kind == _INSTRUCTIONS:
        parts = split_instructions(first, second, _FUNCTIONS)
        assert len(parts) == _FUNCTIONS
        for row in second[:20]:
            Holding(int(row["target_is"]))
    elif len(second):
        raise LinemateError("two tables of targets")


TARGET = Target("answers of linemate-access to queries", one, _seeds, (b"LMANSWR1",))
