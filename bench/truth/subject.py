"""The files that are scored, judged by what their code says: without symbols, with them, and by their source.

Owns the three ways to look at one program, and the images that are kept from one scoring to the next: decoding does
not depend on the judgement that is scored.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from elfscan.debug.demangle import demangle
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.image import read_images
from linemate.auditing.image import line_sizes
from linemate.auditing.recordplaces import read_places
from linemate.auditing.recordtypes import read_records
from linemate.source import at_link_addresses, read_streams
from sharing.judge.passes import Passes, run_passes
from sharing.judge.static import JudgeOptions, judge_passes
from sharing.knowledge import default_knowledge
from sharing.model.finding import Finding
from sharing.model.image import Image
from sharing.model.profile import Actor
from sharing.source.program import Program

ROOT = Path(__file__).parents[2]
DECODED = ROOT / "build" / "truth" / "decoded"
# What decides how a file is decoded: the readers and the helpers in C++.
TOOLS = ("linemate-access", "linemate-dwarf")
READERS = ("elfscan/**/*.py", "sharing/model/**/*.py", *(f"build/release/bin/{tool}" for tool in TOOLS))
VARIANTS = ("source", "symbols", "stripped")


@dataclass(frozen=True, slots=True)
class Judged:
    """One program as one of ``VARIANTS`` shows it; ``own`` is False where its addresses of code are not the file's.

    ``program``: what its source says, where that is known.
    """

    variant: str
    passes: Passes
    actors: tuple[Actor, ...]
    findings: tuple[Finding, ...]
    line_size: int
    own: bool = True
    program: Program | None = None


def judged(path: Path, facts: Path | None = None) -> Iterator[Judged]:
    """The file as it is; where it has symbols, also without them, and with facts by its source."""
    image = decoded(path)
    named = bool(image.debug_source)
    program = read_streams([facts]) if facts is not None and facts.exists() else None
    yield _judge("symbols" if named else "stripped", image, program)
    bare = path.with_name(f"{path.name}.stripped")
    if named and bare.exists():
        yield _judge("stripped", decoded(bare))
    if program is not None:
        yield _judge("source", at_link_addresses(program, image, default_knowledge()), program, own=False)


def _judge(variant: str, image: Image, program: Program | None = None, *, own: bool = True) -> Judged:
    size, pair = line_sizes(None, image)
    passes = run_passes(image, default_knowledge(), demangle)
    how = JudgeOptions(size, pair, demangle=demangle, edits=False)
    if own and image.debug_source:
        # As audit does: records that pointers lead to.
        records, reached = partial(read_records, image, None), partial(read_places, image)
        how = replace(how, read_records=records, read_places=reached if len(image.behind.elsewhere) else None)
    findings = judge_passes(passes, how).findings
    return Judged(variant, passes, actors_of(passes), findings, size, own, program)


def actors_of(passes: Passes) -> tuple[Actor, ...]:
    """Everything in static storage that code names, as the static judgement sees it."""
    if not len(passes.accesses.sites):
        return ()
    profiler = passes.profiled().profiler
    rows = sorted(set(passes.accesses.variable.tolist()) - {-1})
    return tuple(actor for row in rows for actor in profiler.actors(row))


def decoded(path: Path) -> Image:
    """The image of a file, read once as long as neither the file nor a reader changes."""
    build_id = ElfFile(str(path), map_file(str(path))).build_id or ""
    stamp = path.stat()
    key = hashlib.sha256(f"{path} {build_id} {stamp.st_size} {stamp.st_mtime_ns} {_readers()}".encode()).hexdigest()
    kept = DECODED / f"{path.name}-{key[:16]}"
    if kept.exists():
        image = pickle.loads(kept.read_bytes())  # of this folder's own making
        assert isinstance(image, Image)
        return image
    (image,) = read_images(str(path))
    DECODED.mkdir(parents=True, exist_ok=True)
    for old in DECODED.glob(f"{path.name}-????????????????"):
        old.unlink(missing_ok=True)
    # Programs that are counted twice are decoded by two processes at once.
    whole = kept.with_suffix(f".{os.getpid()}")
    whole.write_bytes(pickle.dumps(image, pickle.HIGHEST_PROTOCOL))
    whole.rename(kept)
    return image


def _readers() -> str:
    """A digest of everything that decoding depends on."""
    digest = hashlib.sha256()
    for pattern in READERS:
        for file in sorted(ROOT.glob(pattern)):
            digest.update(file.read_bytes())
    return digest.hexdigest()
