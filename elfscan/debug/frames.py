"""How functions are left, by the unwind rows of a file: the client of ``linemate-dwarf --unwind``.

Owns the rows at given instructions.  Which values registers and the stack had is for the caller to know.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from elfscan.debug.dwarf import start_unwind
from sharing.model.errors import LinemateError


class Step(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """From the instruction ``ip`` to the caller: the frame is at ``register`` + ``offset``.

    ``saved`` are registers and where, from the frame's address on, their values for the caller are;
    ``return_register`` is the one among them that holds the return address.  All by DWARF's numbers.
    """

    ip: int
    register: int
    offset: int
    return_register: int
    saved: list[tuple[int, int]]

    @property
    def return_at(self) -> int | None:
        """Where the return address is, from the frame's address on; None where it is in a register."""
        return next((offset for register, offset in self.saved if register == self.return_register), None)


_DECODER = msgspec.msgpack.Decoder(list[Step])


def unwind_steps(path: str, ips: Iterable[int]) -> dict[int, Step]:
    """The steps at link-time addresses of the ELF file ``path``, of those that its rows tell.

    Raises LinemateError where the file cannot be read.
    """
    asked = np.array(sorted(set(ips)), np.uint64)
    if not len(asked):
        return {}
    try:
        steps = _DECODER.decode(start_unwind(path, asked).result())
    except (msgspec.DecodeError, RecursionError) as error:
        raise LinemateError(f"linemate-dwarf: unexpected answer for {path}: {error}") from error
    return {step.ip: step for step in steps}
