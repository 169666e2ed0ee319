"""Variables that one build wraps in a record and the other does not, as to give them a line of their own.

Owns telling the wrapper from another thing of the same name: but for one outer member, which holds all that the other
build has, nothing of it is used.  Members with another name are ``renamed``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sharing.explain.renamed import Key, Names, used_alike
from sharing.model.types import Member

Users = tuple[Callable[[Key], Names], Callable[[Key], Names]]


def wrapped_members(here: Mapping[Key, Member], there: Mapping[Key, Member], users: Users) -> dict[Key, Key]:
    """What each member here is there, where one of both wraps the other: by the name here that there."""
    inward = _within(here, there, users)
    return inward or {inner: outer for outer, inner in _within(there, here, users[::-1]).items()}


def _within(bare: Mapping[Key, Member], record: Mapping[Key, Member], users: Users) -> dict[Key, Key]:
    """What is called as in ``bare`` in the one outer member of ``record`` that has all of it."""
    for outer in _outer(bare, record):
        found = {key: (_joined(outer, key[0], record), *key[1:]) for key in bare}
        if not found.keys() or not all(_holds(bare[one], record.get(other)) for one, other in found.items()):
            continue
        others = record.keys() - set(found.values())
        if any(users[1](key) for key in others) or any(_is_in(outer, key[0]) for key in others):
            continue
        if all(used_alike(users[0](one), users[1](other)) for one, other in found.items()):
            return found
    return {}


def _outer(bare: Mapping[Key, Member], record: Mapping[Key, Member]) -> Iterator[str]:
    """Outer members that the first of ``bare`` may be in."""
    first = _of_element(next(iter(bare), ("", 0, 0))[0])
    end = f".{first}" if first else ""
    for path, *_ in record:
        outer = _of_element(path)
        if outer.endswith(end) and (name := outer[: len(outer) - len(end)]):
            yield name


def _joined(outer: str, path: str, record: Mapping[Key, Member]) -> str:
    """The path of what is at ``path`` without the wrapper, for elements of an array within each."""
    inner = _of_element(path)
    name = f"{outer}.{inner}" if inner else outer
    return name if any(key[0] == name for key in record) else f"[].{name}"


def _of_element(path: str) -> str:
    return path.removeprefix("[]").removeprefix(".")


def _is_in(outer: str, path: str) -> bool:
    return _of_element(path).startswith(f"{outer}.")


def _holds(one: Member, other: Member | None) -> bool:
    """Is the other one as large, of an array each element?"""
    return other is not None and one.extent == other.extent
