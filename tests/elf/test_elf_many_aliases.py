"""An object of any number of names: each is kept once, in the file's order, and none is compared with all others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from elfscan.image import _alias_names


class Name(str):
    """A name that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        Name.compared += 1
        return str.__ne__(self, other)

    __hash__ = str.__hash__


def aliases(names: list[str]) -> dict[int, tuple[str, ...]]:
    """What is kept of one object that is led by the first of these."""
    pool = [Name(name) for name in names]

    def decode(offsets: Any) -> list[Name]:
        return [pool[int(at)] for at in offsets]

    found: Any = SimpleNamespace(
        aliases=(np.zeros(len(names), np.int64), np.arange(len(names))), name=np.zeros(1, np.int64)
    )
    program: Any = SimpleNamespace(symbols=SimpleNamespace(names=SimpleNamespace(decode=decode)))
    return _alias_names(found, program)


def test_each_name_is_kept_once_without_the_leading_one() -> None:
    assert aliases(["lead", "b", "a", "lead", "b"]) == {0: ("b", "a")}
    assert aliases(["lead", "lead"]) == {}


def test_twice_the_names_are_twice_the_work() -> None:
    """A table of some hundred thousand symbols at one address kept an audit busy for hours."""
    counts = []
    for many in (500, 1000):
        Name.compared = 0
        assert len(aliases([f"s{at}" for at in range(many)])[0]) == many - 1
        counts.append(Name.compared)
    assert counts[1] <= 2 * counts[0] + 100
