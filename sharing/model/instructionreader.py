"""What reads the instructions of functions: the type of it, and the one where there is none.

Owns no record layout (``sharing.model.instructions``): whoever only passes a reader on needs no tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharing.model.instructions import Table

# Functions (address and bytes) and the addresses of their image → INSTRUCTION_DTYPE of each, None without a decoder.
# Raises LinemateError where decoding failed.
InstructionReader = Callable[[Sequence[tuple[int, bytes]], tuple[int, int]], "list[Table] | None"]


def not_decoded(functions: Sequence[tuple[int, bytes]], image: tuple[int, int]) -> list[Table] | None:
    """The reader where there is none."""
    return None
