"""What is right to say of a pair, from what was done to it and from its symbols; linemate is not asked.

Owns reading addresses (nm) and loaded bytes (objcopy) of the two files.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from bench.pairs.projects import Busy, Project

LINE = 64


@dataclass(frozen=True, slots=True)
class Root:
    """One thing that differs: its kind of cause, and words of which the cause's summary has to have one of each."""

    kind: str
    says: tuple[tuple[str, ...], ...] = ()
    improves: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """The roots, none where nothing explains a slowdown."""

    roots: tuple[Root, ...] = ()


def met(project: Project, old: Path, new: Path) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Busy pairs of different owners that are on one line in the new file only, and in the old one only."""
    before, after = _together(project.busy, old), _together(project.busy, new)
    return after - before, before - after


def _together(busy: tuple[Busy, ...], path: Path) -> set[tuple[str, str]]:
    text = subprocess.run(["nm", "-C", str(path)], capture_output=True, text=True, check=True).stdout
    at = {found[2]: int(found[1], 16) for found in re.finditer(r"^([0-9a-f]+) [bBdDrR] (.+)$", text, re.M)}
    out = set()
    for one, other in combinations(busy, 2):
        if one.owner == other.owner or one.name not in at or other.name not in at:
            continue
        lines = [set(range(at[b.name] // LINE, (at[b.name] + b.bytes - 1) // LINE + 1)) for b in (one, other)]
        if lines[0] & lines[1]:
            out.add((one.name, other.name))
    return out


def same_loaded(old: Path, new: Path) -> bool:
    """Whether both files load the same bytes to the same places, the build-id aside."""
    with tempfile.TemporaryDirectory(prefix="pairs-") as folder:
        images = []
        for number, path in enumerate((old, new)):
            out = Path(folder) / str(number)
            subprocess.run(
                ["objcopy", "-O", "binary", "-R", ".note.gnu.build-id", str(path), str(out)],
                check=True, capture_output=True,
            )  # fmt: skip
            images.append(out.read_bytes())
        return images[0] == images[1]
