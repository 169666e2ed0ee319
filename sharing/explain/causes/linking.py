"""How two files were linked: by which linker, and how it was asked to.

Owns what each difference of the link step weighs by itself.  Reads no file: that is the reader's (``FileTraits``).
"""

from __future__ import annotations

import numpy as np

from sharing.explain import numbers
from sharing.explain.identity import Ids, Objects
from sharing.explain.match import Matching
from sharing.model.comparison import FileTraits

# Modes that change how a program reaches its data and functions; all others only move what is loaded.
_REACHING = ("position", "linking")
# What the object files that compilers link in front of a program's define, in glibc and gcc; clang uses the same.
_START_UP = (frozenset({"_IO_stdin_used", "data_start", "__data_start"}), frozenset({"__dso_handle", "completed"}))


def changes(old: FileTraits, new: FileTraits) -> list[tuple[float, str]]:
    """(strength, sentence) of each difference, the linker first."""
    out = _linkers(old.linker, new.linker)
    for what in [*old.modes, *(mode for mode in new.modes if mode not in old.modes)]:
        one, other = old.modes.get(what, ""), new.modes.get(what, "")
        if one != other and old.modes and new.modes:
            strength = numbers.OTHER_FLAG if what in _REACHING else numbers.LINK_MODE
            out.append((strength, f"{what}: {one or 'none'}, now {other or 'none'}"))
    return out + [(numbers.SEGMENT_ALIGNMENT, text) for text in _alignments(old, new)]


def order_of_units(variables: Matching) -> list[tuple[float, str]]:
    """Whether units that both builds have lie in another order: they are linked in another one, or sorted.

    A compiler orders what is in a unit, a linker the units.  The start-up files, which are linked first, are two more:
    a program of one unit whose sections are sorted differs in nothing else.
    """
    old, new, pairs = variables.old, variables.new, variables.pairs
    one, other = pairs["old"].astype(np.int64), pairs["new"].astype(np.int64)
    unit = _units(old)[one]
    known = (unit >= 0) & (old.section[one] == new.section[other]) & (new.section[other] >= 0)
    out = []
    for section in np.unique(new.section[other][known]).tolist():
        here = known & (new.section[other] == section)
        orders = [_first_seen(unit[here][np.argsort(at[here], kind="stable")])
                  for at in (old.address[one], new.address[other])]  # fmt: skip
        if orders[0] != orders[1]:
            row = int(other[np.flatnonzero(here)[0]])
            out.append(new.section_name(row))
    where = ", ".join(out[:3]) + (f" and {len(out) - 3} more sections" if len(out) > 3 else "")
    text = f"order of the units in {where}: linked in another order, or sections are sorted"
    return [(numbers.LINK_MODE, text)] if out else []


def _units(variables: Objects) -> Ids:
    """The unit of each variable, -1 unknown; start-up files have no debug information and are known by their names."""
    unit = variables.unit.copy()
    for number, names in enumerate(_START_UP):
        known = [variables.words.index(name) for name in names if name in variables.words]
        unit[np.isin(variables.base, known) & (unit < 0)] = len(variables.words) + number
    return unit


def _first_seen(units: Ids) -> list[int]:
    _, at = np.unique(units, return_index=True)
    return [int(unit) for unit in units[np.sort(at)]]


def is_linker(comment: str) -> bool:
    """Whether a string of .comment is a linker's and not a compiler's."""
    return comment.startswith(("Linker:", "mold", "GNU gold"))


def _linkers(old: str, new: str) -> list[tuple[float, str]]:
    """Where only one side says its version, the version is no difference."""
    if not old or not new or old == new:
        return []
    (family, version), (other, number) = _named(old), _named(new)
    if family != other:
        return [(numbers.OTHER_LINKER, f"linker: {old}, now {new}")]
    return [(numbers.LINKER_VERSION, f"linker: {old}, now {number}")] if version and number else []


def _named(linker: str) -> tuple[str, str]:
    name, _, last = linker.rpartition(" ")
    return (name, last) if name and last[:1].isdigit() else (linker, "")


def _alignments(old: FileTraits, new: FileTraits) -> list[str]:
    """Alignment of loadable segments: decides huge pages, and where data starts within its page."""
    before = {s.flags: s.align for s in old.segments}
    after = {s.flags: s.align for s in new.segments}
    return [
        f"alignment of the {flags} segment: {before[flags]:#x}, now {after[flags]:#x}"
        for flags in sorted(before.keys() & after.keys())
        if before[flags] != after[flags]
    ]
