"""All counted programs, scored: which of them can be compared on this machine, several at a time.

Owns the walk over what is kept.  Measures are ``bench.truth.score``'s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.truth import accessfile
from bench.truth.score import Score, score
from bench.truth.store import Made, load
from bench.truth.subject import ROOT, Judged, judged
from bench.truth.truth import Truth, truth_of
from elfscan.fileformat.elf import ElfFile, map_file
from sharing.model.errors import LinemateError

KEPT = ROOT / "testdata" / "truth"
AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Compared:
    """One program: a score for each way to look at it, or why there is none."""

    made: Made
    scores: tuple[Score, ...] = ()
    why_not: str = ""


def kept(names: Collection[str] = ()) -> list[Path]:
    """Files of counts, of these programs or of all; a program may have several files that are judged."""
    files = sorted(KEPT.glob("*.json.xz"))
    found = [f for f in files if not names or name_of(f) in names or name_of(f).rpartition("-")[0] in names]
    return found


def name_of(path: Path) -> str:
    return path.name.removesuffix(".json.xz")


def project_of(name: str) -> str:
    """Of which source a counted program is: its loads, libraries and builds have names that go on behind a hyphen."""
    return name.partition("-")[0]


def compared(files: Collection[Path]) -> Iterator[Compared]:
    """Scores in the order of the files."""
    with ProcessPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(compare, files)


def compare(path: Path) -> Compared:
    """The scores of one file of counts."""
    made, _ = load(path)
    try:
        return Compared(made, tuple(score(one, truth) for one, truth in held_against(path)))
    except LinemateError as error:
        return Compared(made, why_not=f"{made.program}: {error}")


def held_against(path: Path) -> Iterator[tuple[Judged, Truth]]:
    """Judgements of a counted file, each with the truth.  Raises LinemateError where the file is not here."""
    made, executions = load(path)
    file = ROOT / made.path
    if ElfFile(str(file), map_file(str(file))).build_id != made.build_id:
        raise LinemateError(f"{file}: another build than the one that was counted")
    seen = path.with_name(f"{name_of(path)}{accessfile.SUFFIX}")
    accesses = accessfile.load(seen) if seen.exists() else None
    truth: Truth | None = None
    for one in judged(file, file.with_name(f"{file.name}.facts")):
        # The file that was counted comes first: its instructions have the counted addresses.
        truth = truth or truth_of(one.passes, executions, accesses)
        yield one, truth
