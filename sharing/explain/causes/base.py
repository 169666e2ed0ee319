"""What every suspect is asked with and answers.

Owns the scale of strengths.  A strength says how well a difference of this kind explains a change of speed when nothing
else is known; it orders causes and is no probability.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sharing.explain.activity import Activity
from sharing.explain.layout import Met
from sharing.explain.match import Matching
from sharing.explain.shifts import Shifts
from sharing.model.comparison import Cause, FileTraits, RuledOut
from sharing.model.image import Image
from sharing.naming import Demangle

PLAUSIBLE = 0.3  # strength from which a cause may explain a slowdown
UNKNOWN_ARCHITECTURE = "unknown"  # of images that were read from a listing or a linker's map


@dataclass(frozen=True, slots=True)
class Builds:
    """Two builds, compared: all that suspects may look at.  ``pair_gained`` is the view of line pairs."""

    old: Activity
    new: Activity
    old_traits: FileTraits
    new_traits: FileTraits
    variables: Matching
    functions: Matching
    shifts: Shifts
    gained: Met
    lost: Met
    pair_gained: Met
    pair_lost: Met
    line_size: int
    demangle: Demangle

    @property
    def programs(self) -> tuple[str, str]:
        """What to run: the files, or in words where only a listing of them is at hand."""
        old, new = self.old.image, self.new.image
        return (old.path if is_file(old) else "the old build", new.path if is_file(new) else "the new build")


@dataclass(frozen=True, slots=True)
class Verdicts:
    causes: tuple[Cause, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    notes: tuple[str, ...] = ()
    not_ruled_out: tuple[RuledOut, ...] = ()


def ranked(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Best first.  What got better explains no slowdown: it comes behind what may, unless it is all there is."""
    causes = tuple(causes)
    slowdown = any(not c.improves and c.strength >= PLAUSIBLE for c in causes)
    return tuple(sorted(causes, key=lambda c: (slowdown and c.improves, -c.strength)))


def is_file(image: Image) -> bool:
    """A program, not a listing of one."""
    return image.arch.name != UNKNOWN_ARCHITECTURE


def quoted(name: str) -> str:
    return f"`{name}`"


def counted(number: int, noun: str) -> str:
    """``1 variable``, ``1,312 variables``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def signed_hex(value: int) -> str:
    return f"-{-value:#x}" if value < 0 else f"{value:#x}"


def signed_bytes(value: int) -> str:
    return f"{value:+,} bytes"
