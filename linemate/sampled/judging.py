"""Profiles of one binary to verdicts on the lines that they sampled: what ``audit --samples`` and ``explain`` both say.

Owns the order of the steps and what lies beside a profile.  Placing and judging are ``sharing.sampled``'s and
``sharing.judge.sampled``'s.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from elfscan.debug.demangle import demangle
from linemate.modules import open_modules
from linemate.sampled.gains import GainsOf
from linemate.sampled.heaps import Heaps
from linemate.sampled.libraries import Libraries
from linemate.sampled.objects import Objects
from linemate.sampled.programs import of_program
from linemate.sampled.sidecars import sidecar_beside
from sharing.basics.naming import readable_names, without_parameters
from sharing.judge.sampled.names import Actors, Names
from sharing.judge.sampled.verdict import Verdicts, judge_lines
from sharing.knowledge import Knowledge
from sharing.model.attribution import Attribution
from sharing.model.image import Image
from sharing.model.operands import MappedFiles
from sharing.model.plural import count
from sharing.model.samples import Samples
from sharing.sampled.attribution.attribute import attribute
from sharing.sampled.attribution.statictouches import ImageCode
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.merging import merged
from sharing.sampled.lineuse.use import SampledRun
from sharing.sampled.thinning import thinned


@dataclass(frozen=True, slots=True)
class Target:
    """The binary that profiles are of: as it was read, and with the objects that were recovered in it.

    ``actors`` gives those that its code makes busy in a range of addresses; ``line_size`` in bytes.
    """

    image: Image
    recovered: Image
    actors: Actors | None
    line_size: int


@dataclass(frozen=True, slots=True)
class JudgedProfiles:
    """Profiles with their samples placed, the files that they map, their lines together, and what is to say of them."""

    placed: tuple[Attribution, ...]
    mapped: tuple[MappedFiles, ...]
    run: SampledRun
    verdicts: Verdicts
    notes: tuple[str, ...]  # on samples of others, and on what lies beside the profiles


def judge_profiles(
    paths: Sequence[str],
    read: Callable[[str], Samples],
    target: Target,
    knowledge: Knowledge,
    *,
    rules: Sequence[str] = (),
) -> JudgedProfiles:
    """1. place each profile; 2. lines; 3. gains and verdicts.  ``rules`` are ids, empty for all.

    Raises LinemateError where a profile is of another build or another program.
    """
    heaps = Heaps(_readable)
    placed, mapped, strangers = [], [], []
    for path in paths:
        one, files, others = _place(read(path), target.image, knowledge)
        if others:
            name = os.path.basename(target.image.path)
            strangers.append(f"{path}: {count(others, 'sample')} of processes that do not use {name} left out")
        placed.append(one)
        mapped.append(files)
        heaps.add(path, one, files, target.image)
    sidecars = [sidecar_beside(path) for path in paths]
    runs = [
        profile_lines(one, target.line_size, ImageCode(target.recovered, one), crowded=sidecar.crowded)
        for one, sidecar in zip(placed, sidecars, strict=True)
    ]
    run = merged(runs)
    gains = GainsOf(sidecars, placed, runs, lambda path: _place(read(path), target.image, knowledge)[0], target.image)
    objects, libraries = Objects(run.lines, mapped), Libraries(mapped, knowledge)
    names = Names(target.recovered, knowledge, target.actors, heaps, objects, libraries)
    verdicts = judge_lines(run, names, target.line_size, rules=rules, gains=gains)
    return JudgedProfiles(tuple(placed), tuple(mapped), run, verdicts, (*strangers, *gains.notes, *heaps.notes))


def _place(samples: Samples, image: Image, knowledge: Knowledge) -> tuple[Attribution, MappedFiles, int]:
    """The samples of the binary's processes with their places, functions named as a report shows them; how many
    are of others.
    """
    whole = thinned(samples)
    files = open_modules(whole, image, knowledge)
    own = of_program(whole, files)
    one = attribute(own, image, files, knowledge)
    shown = _readable(one.functions)
    named = dataclasses.replace(one, functions=tuple(shown[name] for name in one.functions))
    return named, files, len(whole.samples) - len(own.samples)


def _readable(functions: Sequence[str]) -> dict[str, str]:
    """How a report shows names of functions."""
    shown = readable_names(list(dict.fromkeys(functions)), demangle)
    return {name: without_parameters(shown[name]) for name in functions}
