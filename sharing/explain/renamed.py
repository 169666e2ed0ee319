"""Members and variables that one build calls otherwise than the other: of the same kind, at the same place, used alike.

Owns telling a new name from a new thing, by what is on both sides of it and by the functions that use it.  Who is the
same by name or by all that functions do is ``match``'s.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from sharing.model.types import Member

Key = tuple[str, int, int]  # path, and which part of the bits or bytes at it
Names = frozenset[str]  # of functions


def renamed_members(
    here: Mapping[Key, Member],
    there: Mapping[Key, Member],
    users: tuple[Callable[[Key], Names], Callable[[Key], Names]],
) -> dict[Key, Key]:
    """Members that the other type has under another name: by the name here that there."""
    sides = [[key for key, _ in sorted(of.items(), key=_place)] for of in (here, there)]
    found: dict[Key, Key] = {}
    for one, other in _between_the_same(sides[0], sides[1]):
        if all(
            _alike(here[a], there[b]) and used_alike(users[0](a), users[1](b)) for a, b in zip(one, other, strict=True)
        ):
            found.update(zip(one, other, strict=True))
    return found


def used_alike(one: Names, other: Names) -> bool:
    """Does a function use both, or nothing that is known either?"""
    return bool(one & other) or not (one or other)


def _between_the_same(one: Sequence[Key], other: Sequence[Key]) -> Iterator[tuple[list[Key], list[Key]]]:
    """What only one side has, beside as many that only the other has between the same neighbours."""
    shared = set(one) & set(other)
    sides = [_runs(keys, shared) for keys in (one, other)]
    for around, run in sides[0].items():
        beside = sides[1].get(around, [])
        if len(run) == len(beside):
            yield run, beside


def _runs(keys: Sequence[Key], shared: set[Key]) -> dict[Hashable, list[Key]]:
    """Those that are not shared, by the shared ones before and behind them."""
    places = [at for at, key in enumerate(keys) if key in shared]
    runs: dict[Hashable, list[Key]] = defaultdict(list)
    for at, key in enumerate(keys):
        if key not in shared:
            behind = bisect_right(places, at)
            before = keys[places[behind - 1]] if behind else None
            runs[before, keys[places[behind]] if behind < len(places) else None].append(key)
    return runs


def _place(item: tuple[Key, Member]) -> tuple[int, int, str]:
    key, member = item
    return member.offset, member.bit_offset, key[0]


def _alike(one: Member, other: Member) -> bool:
    """Are both members, of one kind?  What was a plain variable is none."""
    return bool(one.path and other.path) and (
        one.type_name,
        one.kind,
        one.size,
        one.stride,
        one.count,
        one.bit_size,
    ) == (
        other.type_name,
        other.kind,
        other.size,
        other.stride,
        other.count,
        other.bit_size,
    )
