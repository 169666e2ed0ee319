"""Functions that run rarely by what they are called or where they were put.

Owns the reading of names: first and last word against the start-up, shut-down and diagnosis vocabulary, be it the
function's own or that of a command by which a table keeps it.  A name
is weak evidence; it discounts a frequency and decides nothing alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.knowledge.mentions import mentioning
from sharing.knowledge.names import rust_path
from sharing.knowledge.namewords import words_of
from sharing.model.arrays import among
from sharing.model.image import FunctionFlag, Image, ImageKind
from sharing.static import numbers
from sharing.static.starts import Root

_LENGTH = re.compile(r"(\d+)")

Floats = npt.NDArray[np.float64]


def coldness(image: Image, knowledge: Knowledge) -> Floats:
    """Per function, 1 or the factor for cold sections, the run-time's own start-up, and cold first or last words.

    What a library exports has the library's name before and that of an object behind: there any word tells.
    """
    factor = np.where(image.functions["flags"] & FunctionFlag.COLD, numbers.COLD, 1.0)
    words, anywhere = knowledge.cold.all, knowledge.cold.anywhere
    in_library = words | knowledge.cold.library
    runtime = knowledge.runtime_functions
    exported = (image.functions["flags"] & FunctionFlag.EXPORTED != 0) & (image.kind is ImageKind.SHARED)
    rows = np.flatnonzero(image.functions["name"] >= 0).tolist()
    names = [image.names[name] for name in image.functions["name"][rows].tolist()]
    for at in _maybe_cold(names, in_library | anywhere, runtime):
        row, text = rows[at], names[at]
        parts = _parts(text)
        last = not anywhere.isdisjoint(parts)
        cold = not in_library.isdisjoint(parts) if exported[row] else not words.isdisjoint(_ends(text))
        if not (last or cold or text in runtime):
            continue
        if knowledge.is_thread_entry(text):
            continue  # whatever it is called
        factor[row] = numbers.LAST_WORDS if last else min(factor[row], numbers.COLD)
    commands = [row for row, name in _commands(image) if not words.isdisjoint(_ends(name))]
    factor[commands] = np.minimum(factor[commands], numbers.COLD)
    return factor


def _ends(name: str) -> tuple[str, ...]:
    """The first and the last word of a name."""
    parts = _parts(name)
    return parts[:1] + parts[-1:]


def _commands(image: Image) -> list[tuple[int, str]]:
    """Functions that nobody calls but by a table of names, and what they are called there: commands, as a rule."""
    if not image.table_names:
        return []
    addresses = np.array(sorted(image.table_names), np.uint64)
    rows = np.flatnonzero(among(image.functions["address"], addresses))
    starts = image.functions["address"][rows]
    alone = ~among(starts, image.calls["callee"])
    return [(row, image.table_names[at]) for row, at in zip(rows[alone].tolist(), starts[alone].tolist(), strict=True)]


def without_names(
    factor: Floats, image: Image, knowledge: Knowledge, rows: npt.NDArray[np.int64], threads: Sequence[int]
) -> Floats:
    """The factors where the names of these functions tell nothing, but for the last words of a program.

    Of what ``threads`` begin in, and of what is all that they do, neither do words of tests: what a program starts
    threads for is what it is for.
    """
    tested = [row for row in threads if (name := _name(image, row)) and _is_a_test(name, knowledge)]
    rows = np.append(rows[factor[rows] > numbers.LAST_WORDS], np.array(tested, np.int64))
    result = factor.copy()
    result[rows] = np.where(image.functions["flags"][rows] & FunctionFlag.COLD, numbers.COLD, 1.0)
    return result


def _name(image: Image, row: int) -> str:
    name = int(image.functions["name"][row])
    return image.names[name] if name >= 0 else ""


def _is_a_test(name: str, knowledge: Knowledge) -> bool:
    """Does nothing but the words of a test speak of it as seldom run?"""
    words = (knowledge.cold.all & set(_ends(name))) | (knowledge.cold.anywhere & set(_parts(name)))
    return bool(words) and words <= knowledge.cold.tests


def left_over(image: Image, roots: Sequence[Root], own: npt.NDArray[np.int64]) -> Floats | None:
    """By function the share of its weight that makes something busy, less where gcc set it aside; None: all of it.

    Not of a thread's entry, and of what is all that a thread does (``own``): that it is seldom started says nothing of
    how often its loop goes around.  Frequencies stay what they are.  What is hot is a rank among all that the program
    does, and what belongs together a share of all uses: with less of one thing, others would be more, and code that
    seldom runs says nothing of them.
    """
    aside = image.functions["flags"] & np.uint32(FunctionFlag.ASIDE) != 0
    aside[[root.function for root in roots if root.function >= 0]] = False
    aside[own] = False
    return np.where(aside, numbers.ASIDE, 1.0) if aside.any() else None


def _maybe_cold(names: list[str], words: frozenset[str], runtime: frozenset[str]) -> list[int]:
    """Rows of the names to read: a word of a name is a part of it, but where brackets are taken out of it."""
    found = mentioning([name.lower() for name in names], words)
    readable = (row for row, name in enumerate(names) if "::" in name or name in runtime)
    return sorted({*found, *readable})


@lru_cache(maxsize=1 << 17)
def _parts(text: str) -> tuple[str, ...]:
    """The words of a name.  Kept: two builds of one program have the same names."""
    if "::" in text:  # readable already: a Rust function, or a closure in it
        text = next((part for part in reversed(rust_path(text).split("::")) if not part.startswith("{")), text)
    parts = text.lower().replace(".", "_").strip("_").split("_")
    if len(parts) == 1 or parts[0] == "z" or text.startswith("_Z"):
        parts = _words_of(text)
    return tuple(parts)


def _words_of(text: str) -> list[str]:
    """The words of a name in camel case, or of the last component of a mangled one."""
    if text.startswith("_Z"):
        text = last_component(text)
        if "_" in text:
            return text.lower().strip("_").split("_")
    return words_of(text)


def last_component(mangled: str) -> str:
    """The last source name of an Itanium-mangled function, enough for word matching."""
    last, at = mangled, 2
    while (m := _LENGTH.search(mangled, at)) is not None and m.start() - at <= 2:
        size = int(m.group(1)[:4])
        if m.end() + size > len(mangled):
            break
        last, at = mangled[m.end() : m.end() + size], m.end() + size
    return last
