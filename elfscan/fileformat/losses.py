"""What of a damaged file could not be read: one note for each kind of loss, and whether the analysis is still whole.

Owns the rule of ``docs/damaged.md``: a broken part costs that part, not the file, and only a loss that may change
a finding makes the analysis incomplete.  Does not decide what a part is; each reader names its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from sharing.model import Malformed

T = TypeVar("T")


class _Loss(msgspec.Struct):
    error: Malformed
    then: str
    count: int


class Losses:
    """The losses of one file, in the order in which they were met.

    Losses of one name share a note, since a hostile file can have a quarter of a million of them.
    """

    def __init__(self) -> None:
        self._found: dict[str, _Loss] = {}
        self._incomplete: Malformed | None = None

    def add(self, what: str, error: Malformed, *, then: str = "", incomplete: bool = True) -> None:
        """``what`` (a plain noun phrase) could not be read; ``then`` says what stands in for it.

        ``incomplete``: findings may be missing or wrong without it.
        """
        if what in self._found:
            # The same part may be asked for twice.
            self._found[what].count += str(error) != str(self._found[what].error)
        else:
            self._found[what] = _Loss(error, then, 1)
        if incomplete and self._incomplete is None:
            self._incomplete = error

    def attempt(self, what: str, read: Callable[[], T], otherwise: T, *, then: str = "", incomplete: bool = True) -> T:
        """The result of ``read``, or ``otherwise`` and a loss where it is malformed."""
        try:
            return read()
        except Malformed as error:
            self.add(what, error, then=then, incomplete=incomplete)
            return otherwise

    @property
    def incomplete(self) -> Malformed | None:
        """The first loss that leaves the analysis incomplete."""
        return self._incomplete

    def notes(self) -> tuple[str, ...]:
        """One line for each kind of loss: what, where and why."""
        lines = []
        for what, loss in self._found.items():
            where = "" if loss.error.offset is None else f"offset {loss.error.offset:#x}: "
            more = f", and {loss.count - 1} more" if loss.count > 1 else ""
            then = f"; {loss.then}" if loss.then else ""
            lines.append(f"{what} not read: {where}{loss.error.why}{more}{then}")
        return tuple(lines)
