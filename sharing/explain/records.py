"""How a type of records was laid out anew: members that came, went or moved, and its size.

Owns the words for it.  Which types are asked about is the profiles' (``seenmemory``), reading them the reader's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sharing.basics.naming import without_internals
from sharing.explain.causes.base import first_of, quoted
from sharing.model.types import RECORD_KINDS, TypeTable


@dataclass(frozen=True, slots=True)
class Record:
    """A type of one build: where each of its members is, by path, and its size, in bytes."""

    name: str
    size: int
    members: Mapping[str, int]


def record_named(tables: Iterable[TypeTable], name: str) -> Record | None:
    """The record that is called so, None where no table has one."""
    for types in tables:
        for row in range(len(types)):
            if types.name(row) != name:
                continue
            core, _, _ = types.strip(row)
            if core >= 0 and types[core].kind in RECORD_KINDS and types[core].members:
                return Record(name, types.size(row), {member.path: member.offset for member in types.flatten(row)})
    return None


def laid_out_anew(old: Record, new: Record, used: Collection[str]) -> str:
    """What became of the record in words, "" nothing; of members that moved, those of the paths ``used``."""
    came = [path for path in new.members if path not in old.members]
    went = [path for path in old.members if path not in new.members]
    moved = [path for path in used if path in new.members and new.members[path] != old.members.get(path)]
    parts = [f"{_are(came)} new in {quoted(new.name)}"] if came else []
    parts += [f"{_are(went)} gone from {quoted(new.name)}"] if went else []
    parts += [
        f"{quoted(without_internals(path))} is at byte {new.members[path]} of {quoted(new.name)}, "
        f"before at byte {old.members[path]}"
        for path in moved
        if path in old.members
    ]
    if not parts and new.size != old.size:
        parts = [f"{quoted(new.name)} has another size"]
    if parts and new.size != old.size:
        parts.append(f"{new.size} bytes each, before {old.size}")
    return ", ".join(parts)


def _are(paths: list[str]) -> str:
    return f"{first_of([without_internals(path) for path in paths])} {'is' if len(paths) == 1 else 'are'}"
