"""Functions as numbers of their instructions, by which those without a name are recognised in another build.

Owns the two numbers: of the instructions but for addresses, and of their shapes alone.  Who is matched by them is
``match``'s; decoding is the file's reader's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sharing.explain import numbers
from sharing.explain.behaviour import mixed
from sharing.explain.code import MAX_BYTES, chunks, read_code
from sharing.explain.identity import Ids
from sharing.model.comparison import FileTraits
from sharing.model.image import FunctionFlag, Image
from sharing.model.instructions import Table


@dataclass(frozen=True, slots=True)
class CodeNumbers:
    """For each function of an image, 0 unknown.  ``exact``: equal where instructions are, but for where things are.

    ``shapes``: equal where kinds of instructions and what they do are, whichever registers and members they use.
    """

    exact: Ids
    shapes: Ids


# Rows of an image's functions → their numbers; only those of the rows are known.
CodeReader = Callable[[Ids], CodeNumbers]


def code_numbers(image: Image, traits: FileTraits, rows: Ids) -> CodeNumbers:
    """The numbers of the functions at ``rows``, as many as are decoded at all; stubs have none."""
    n = len(image.functions)
    found = CodeNumbers(np.zeros(n, np.int64), np.zeros(n, np.int64))
    size = image.functions["size"][rows].astype(np.int64)
    own = (image.functions["flags"][rows] & FunctionFlag.STUB) == 0
    rows = rows[own & (size > 0) & (size <= MAX_BYTES)]
    for part in chunks(rows, image.functions["size"][rows]):
        for row, code in zip(part.tolist(), read_code(image, traits, part.tolist())[0], strict=True):
            if code is not None and code.instructions is not None and len(code.instructions):
                found.exact[row], found.shapes[row] = numbers_of(code.instructions)
    return found


def numbers_of(table: Table) -> tuple[int, int]:
    """Sums over all instructions, each with its place among them mixed in."""
    at = mixed(np.arange(1, len(table) + 1, dtype=np.uint64))
    words = np.ascontiguousarray(table).view(np.uint64).reshape(len(table), -1)
    exact = at.copy()
    for column in range(words.shape[1]):
        exact = mixed(exact ^ words[:, column])
    if len(table) < numbers.LEAST_SHAPES or not table["shape"].all():
        return _signed(exact), 0
    what = table["shape"] ^ (table["jumps"].astype(np.uint64) << np.uint64(56))
    return _signed(exact), _signed(mixed(at ^ what))


def _signed(words: npt.NDArray[np.uint64]) -> int:
    return int(np.add.reduce(words).view(np.int64)) or 1
