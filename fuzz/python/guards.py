"""Files of guards (``linemate.guardfile``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from collections.abc import Iterable

from fuzz.python.engine.target import Target, input_file
from linemate.guardfile import guard_file, read_guards
from linemate.pairguard import PairGuard


def _seeds() -> Iterable[bytes]:
    yield guard_file([PairGuard(("lock", "head.next"), 64, "why"), PairGuard(("slots[3].count", "ü"), 128)]).encode()
    yield guard_file([]).encode()


def one(data: bytes) -> None:
    read_guards(str(input_file(data)))


TARGET = Target(
    "guards: pairs that stay apart", one, _seeds, (b"[[apart]]\n", b'names = ["', b"line_size = 64\n", b'"""', b".")
)
