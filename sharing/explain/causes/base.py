"""What every suspect is asked with and answers.

Owns the scale of strengths.  A strength says how well a difference of this kind explains a change of speed when nothing
else is known; it orders causes and is no probability.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import msgspec

from sharing.basics.naming import Demangle
from sharing.explain import numbers
from sharing.explain.activity import Activity
from sharing.explain.causes.run import Run
from sharing.explain.linepairs import LinePairs
from sharing.explain.match import Matching
from sharing.explain.shifts import Shifts
from sharing.model.comparison import Cause, CauseKind, FileTraits, RuledOut
from sharing.model.finding import EXPLAIN_ASKING, NO_ARCHITECTURE
from sharing.model.image import Image, ImageKind
from sharing.model.plural import named

# Who calls these waits for others to connect, or goes on in the background: listen(2), accept(2), daemon(3).
SERVES = frozenset({"listen", "accept", "accept4", "daemon"})


@dataclass(frozen=True, slots=True)
class Use:
    """A function of both builds that uses added data: ``row`` is the new build's, ``of`` the data by their names.

    ``writes`` are those that it writes, ``reads`` those that it only reads; of others it hands on where they are, as of
    locks.  ``alone``: that is all it does otherwise than before.
    """

    row: int
    name: str
    of: tuple[str, ...]
    writes: frozenset[str]
    reads: frozenset[str]
    alone: bool


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
    gained: LinePairs
    lost: LinePairs
    pair_gained: LinePairs
    pair_lost: LinePairs
    line_size: int
    demangle: Demangle
    uses: tuple[Use, ...] = ()  # of added data that shares lines

    @property
    def programs(self) -> tuple[str, str]:
        """What to run: the files, or in words where only a listing of them is at hand, or a library."""
        return self.runs[0].program, self.runs[1].program

    @property
    def runs(self) -> tuple[Run, Run]:
        """How to measure the old build, and the new one."""
        return run_of(self.old.image, "the old build"), run_of(self.new.image, "the new build")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a suspect answers.  ``reach`` are the kinds of causes that follow from its own, if they are there."""

    causes: tuple[Cause, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    notes: tuple[str, ...] = ()
    not_ruled_out: tuple[RuledOut, ...] = ()
    reach: frozenset[CauseKind] = frozenset()


def ranked(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Best first, each root with what follows from it; what follows from nothing that is there is a root.

    What got better explains no slowdown: it comes behind what may, and where it is unlikely itself behind all.
    A root explains as much as the strongest of what follows from it.
    """
    causes = tuple(causes)
    groups: list[list[Cause]] = []
    by_kind: dict[CauseKind, list[Cause]] = {}
    for cause in _best_first(causes):
        if cause.follows is None:
            groups.append([cause])
            by_kind.setdefault(cause.kind, groups[-1])
    for cause in _best_first(causes):
        if cause.follows is None:
            continue
        if cause.follows in by_kind:
            by_kind[cause.follows].append(cause)
        else:
            groups.append([msgspec.structs.replace(cause, follows=None)])
    groups = [_raised(group) for group in groups]
    places = {id(group[0]): at for at, group in enumerate(groups)}
    return tuple(c for root in _best_first(group[0] for group in groups) for c in groups[places[id(root)]])


def _best_first(causes: Iterable[Cause]) -> list[Cause]:
    causes = tuple(causes)
    slowdown = any(not c.improves and c.strength >= numbers.PLAUSIBLE for c in causes)

    def behind(cause: Cause) -> bool:
        return cause.improves and (slowdown or cause.strength < numbers.PLAUSIBLE)

    return sorted(causes, key=lambda c: (behind(c), -c.strength))


def _raised(group: list[Cause]) -> list[Cause]:
    """A root and its consequences, the root as strong as any of them that makes something worse."""
    root, *rest = group
    alone = root.strength if root.by_itself is None else root.by_itself
    most = max((c.strength for c in rest if not c.improves), default=0.0)
    if most <= alone:
        return [msgspec.structs.replace(root, strength=alone, by_itself=None), *rest]
    return [msgspec.structs.replace(root, strength=most, by_itself=alone, improves=False), *rest]


def program_of(image: Image, listed: str = "") -> str:
    if not is_file(image):
        return listed
    if is_library(image):
        return f"PROGRAM (one that uses {image.path})"
    # A shell looks for a name without a folder in $PATH alone.
    return shlex.quote(image.path if "/" in image.path else f"./{image.path}")


def named_again(old: Image, new: Image) -> str:
    """The command that compares two files with the names that they lack."""
    if not (is_file(old) and is_file(new)):
        return "linemate explain on the files that the listings are of"
    return f"{EXPLAIN_ASKING} {shlex.join([old.path, new.path])}"


def run_of(image: Image, listed: str = "") -> Run:
    """How to measure an image: a server while it runs, a kernel while it is booted, all else from start to end."""
    if image.kind in (ImageKind.KERNEL, ImageKind.MODULE):
        return Run(shlex.quote(image.path), kernel=True)
    serves = is_file(image) and not is_library(image) and not SERVES.isdisjoint(image.imports)
    return Run(program_of(image, listed), process_of(image) if serves else "")


def process_of(image: Image) -> str:
    """The process of a server, for a shell."""
    return f"$(pidof {shlex.quote(PurePath(image.path).name)})"


def is_library(image: Image) -> bool:
    """Not to be run by itself.  Some libraries have an entry point of their own: libc's prints its version."""
    return image.kind is ImageKind.SHARED or ".so" in PurePath(image.path).suffixes


def is_file(image: Image) -> bool:
    """A program, not a listing of one."""
    return image.arch.name != NO_ARCHITECTURE


def quoted(name: str) -> str:
    return f"`{name}`"


def first_of(names: Sequence[str], most: int = 3) -> str:
    """```a`, `b`, `c` and 4 more``."""
    return named([quoted(name) for name in names], most)


def signed_hex(value: int) -> str:
    return f"-{-value:#x}" if value < 0 else f"{value:#x}"


def signed_bytes(value: int) -> str:
    return f"{value:+,} bytes"
