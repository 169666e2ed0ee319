"""Flags of two compilations of one compiler: which differ, which way they change speed, how to undo them.

Owns the pairing of a flag's two values and what link-time optimisation adds by itself.  Reads no producer string.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# What gcc's link step compiles with, whatever the user asked for.
_OF_LTO_STEP = ("-fPIC", "-fPIE", "-fpic", "-fpie", "-fltrans", "-fwpa", "-fresolution", "-fcf-protection",
                "-fno-openmp", "-fno-openacc", "-fasynchronous-unwind-tables", "-funwind-tables",
                "-flinker-output", "-std=")  # fmt: skip
# Flags that ask for slower code: without them it is faster.
_SLOWING = ("-fno-inline", "-fno-tree-", "-fno-unroll", "-fno-builtin", "-fno-omit-frame-pointer",
            "-fno-strict-aliasing", "-fsanitize", "-finstrument-functions", "-fstack-protector", "-ftest-coverage",
            "-fprofile-arcs", "-pg")  # fmt: skip
_LADDER = ("-O0", "-Og", "-O1", "-O2", "-O3", "-Ofast")


@dataclass(frozen=True, slots=True)
class FlagChange:
    """One flag; "" on the side that has it not."""

    old: str
    new: str

    @property
    def text(self) -> str:
        if self.old and self.new:
            return f"flag {self.old}, now {self.new}"
        return (
            f"flag {self.new}: only the new build has it" if self.new else f"flag {self.old}: only the old build has it"
        )

    @property
    def lto(self) -> bool:
        return (self.new or self.old).startswith("-flto")

    @property
    def improves(self) -> bool:
        """A flag that asks for slower code went."""
        return not self.new and self.old.startswith(_SLOWING)


def changed_flags(old: frozenset[str], new: frozenset[str]) -> list[FlagChange]:
    """What differs: two values of one flag are one change, new flags come before those that went."""
    lto = any(flag.startswith("-flto") for flag in old | new)
    gone, come = (
        {_key(f): f for f in sorted(some) if not (lto and f.startswith(_OF_LTO_STEP))}
        for some in (old - new, new - old)
    )
    both = [FlagChange(gone[key], come[key]) for key in come if key in gone]
    added = [FlagChange("", flag) for key, flag in come.items() if key not in gone]
    return both + added + [FlagChange(flag, "") for key, flag in gone.items() if key not in come]


def of_lto_step(flags: Iterable[str]) -> frozenset[str]:
    """The flags of a compilation that gcc's link step made, as the user gave them."""
    return frozenset(f for f in flags if not f.startswith(_OF_LTO_STEP)) | {"-flto"}


def higher_level(old: str, new: str) -> bool:
    """Whether the new level asks for faster code.  -Os and -Oz ask for small code, which is neither."""
    return old in _LADDER and new in _LADDER and _LADDER.index(new) > _LADDER.index(old)


def as_in(changes: Iterable[FlagChange], *, new: bool) -> str:
    """How to compile as one side did: ``, with -march=x86-64, without -fno-inline``."""
    mine = [(c.new if new else c.old, c.old if new else c.new) for c in changes]
    given = " ".join(has for has, _ in mine if has)
    left = " ".join(other for has, other in mine if not has)
    return (f", with {given}" if given else "") + (f", without {left}" if left else "")


def _key(flag: str) -> str:
    """``-march=native`` and ``-march=x86-64`` are one flag; -ffast-math and -fno-fast-math too."""
    name = flag.partition("=")[0]
    return f"-f{name[5:]}" if name.startswith("-fno-") else name
