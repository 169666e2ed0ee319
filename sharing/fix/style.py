"""How a file writes alignment: the project's macro, the kernel's, the standard's or the compilers' attribute.

Owns the choice of spelling from the units that see a file.  Where the text goes is decided in ``sharing.fix.plan``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sharing.basics.sourcepath import of_system
from sharing.fix.macros import Aligning, aligning_macro, definitions
from sharing.fix.tokens import Files, Refused
from sharing.model.facts import UnitFacts
from sharing.source.program import Program

_KERNEL_HEADER = "include/linux/cache.h"
_INTERFERENCE = b"hardware_destructive_interference_size"


@dataclass(frozen=True, slots=True)
class FixOptions:
    """``line_size`` in bytes; ``macro`` is the project's own alignment macro, "" for none."""

    line_size: int = 64
    macro: str = ""


@dataclass(frozen=True, slots=True)
class Spelling:
    """``member`` aligns what it stands before, in a member's declaration; ``record`` a type.

    ``record_behind``: the latter goes behind the closing brace, else between the keyword and the name.
    ``trailing`` is for a single declarator of several.  ``variable`` puts a variable on lines of its own, "" where
    only its type can.  ``cxx``: C++ is understood.
    """

    member: str
    record: str
    record_behind: bool
    trailing: str
    variable: str = ""
    cxx: bool = False

    @property
    def kernel(self) -> bool:
        return bool(self.variable)


def is_system(path: str) -> bool:
    """Files that belong to the system: never edited."""
    return of_system(path)


def spelling(program: Program, path: str, files: Files, options: FixOptions) -> Spelling:
    """What all units that read the file ``path`` understand.  Raises Refused where that is nothing."""
    units = [unit for unit in program.units if path in unit.files]
    languages = {unit.language for unit in units}
    attribute = f"__attribute__((aligned({options.line_size})))"
    if any(name.endswith(_KERNEL_HEADER) for unit in units for name in unit.files):
        inner = "____cacheline_aligned_in_smp"
        return Spelling("", inner, True, inner, "__cacheline_aligned_in_smp")
    if options.macro:
        for unit in units:
            if not any(_defines(name, options.macro, files) for name in unit.files):
                raise Refused(f"{options.macro} is not defined in {unit.path}: include its header there first")
        return Spelling(options.macro, options.macro, languages != {"C++"}, attribute, cxx=languages == {"C++"})
    found = _of_project(path, units, files, options.line_size)
    if found is not None:
        cxx = languages == {"C++"}
        record = found.text if cxx or found.attribute else attribute
        trailing = found.text if found.attribute else attribute
        return Spelling(found.text, record, not cxx, trailing, cxx=cxx)
    if languages == {"C++"}:
        constant = str(options.line_size)
        if _has_constant(units) and any(_uses_constant(name, files) for name in dict.fromkeys((path, *_own(units)))):
            constant = f"std::{_INTERFERENCE.decode()}"
        align = f"alignas({constant})"
        return Spelling(align, align, False, attribute, cxx=True)
    if languages == {"C"} and all(_is_c11(unit.standard) for unit in units):
        return Spelling(f"_Alignas({options.line_size})", attribute, True, attribute)
    return Spelling("", attribute, True, attribute)


def _own(units: list[UnitFacts]) -> list[str]:
    return [name for unit in units for name in unit.files if not is_system(name)]


def _is_c11(standard: str) -> bool:
    found = re.search(r"(\d)(\w)$", standard)
    return bool(found) and found is not None and found[1] in "12"


def _of_project(path: str, units: list[UnitFacts], files: Files, line_size: int) -> Aligning | None:
    """The macro that the project aligns with by itself."""
    common = set.intersection(*(set(unit.files) for unit in units)) if units else set()
    visible = [name for name in units[0].files if name in common and not is_system(name)] if units else []
    try:
        return aligning_macro(path, visible, frozenset(unit.path for unit in units), line_size, files)
    except Refused:
        return None


def _has_constant(units: list[UnitFacts]) -> bool:
    """Is the constant declared in all units: C++17 and the header <new>?"""
    new = all(re.search(r"\+\+(1[7-9z]|2)", unit.standard) for unit in units)
    return new and all(any(name.endswith("/new") for name in unit.files) for unit in units)


def _uses_constant(path: str, files: Files) -> bool:
    """Does its code, and not a comment, name the standard's constant, and no directive ask whether there is one?"""
    try:
        source = files.source(path)
        if _INTERFERENCE not in source.data:
            return False
        code = source.code
        used = any(
            token.text == _INTERFERENCE and [t.text for t in code[max(at - 2, 0) : at]] == [b"std", b"::"]
            for at, token in enumerate(code)
        )
        return used and not any(b"interference_size" in directive.text for directive in source.directives)
    except Refused:
        return False


def _defines(path: str, macro: str, files: Files) -> bool:
    return any(True for _ in definitions(path, macro.encode(), files))
