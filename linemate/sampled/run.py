"""``audit --samples``: profiles of a binary as evidence for and against its findings.

Owns the order of the steps and what the report says of the profiles.  Placing, judging and joining are
``sharing.sampled``'s.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elfscan.debug.demangle import demangle
from linemate.modules import open_modules
from linemate.sampled.gains import GainsOf, without_solo
from linemate.sampled.generated import generated_notes
from linemate.sampled.heaps import Heaps
from linemate.sampled.libraries import Libraries
from linemate.sampled.notes import profile_notes
from linemate.sampled.objects import Objects
from linemate.sampled.programs import of_program
from linemate.sampled.reading import Profiles
from linemate.sampled.sidecars import sidecar_beside
from linemate.sampled.sources import sources_of
from sharing.basics.naming import readable_names, without_parameters
from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.join import Coverage, join
from sharing.judge.sampled.maplines import sampled_map_lines
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import judge_lines
from sharing.judge.static import Judgement
from sharing.knowledge import Knowledge
from sharing.model.attribution import Attribution, Basis, Reason
from sharing.model.finding import Finding
from sharing.model.image import Image
from sharing.model.memorymap import SampledMapLine
from sharing.model.operands import MappedFiles
from sharing.model.plural import count
from sharing.model.samples import Samples
from sharing.sampled.attribution.attribute import attribute
from sharing.sampled.attribution.statictouches import ImageCode
from sharing.sampled.attribution.unplaced import is_unplaced
from sharing.sampled.eventcosts import sample_costs
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.merging import merged
from sharing.sampled.thinning import thinned


@dataclass(frozen=True, slots=True)
class SampledFindings:
    """Findings with what the profiles say; ``lines`` are the sampled ones of the binary's own data."""

    findings: list[Finding]
    counts: dict[str, int]
    notes: list[str]
    lines: list[SampledMapLine]


@dataclass(frozen=True, slots=True)
class SampledOptions:
    """Which profiles, by lines of how many bytes, by which ``rules`` (none: all); ``macro`` is what aligns."""

    paths: tuple[str, ...]
    line_size: int
    macro: str = ""
    rules: tuple[str, ...] = ()


def with_samples(
    options: SampledOptions,
    profiles: Profiles,
    image: Image,
    judgement: Judgement,
    static: Sequence[Finding],
    knowledge: Knowledge,
) -> SampledFindings:
    """1. place each profile; 2. lines; 3. gains and verdicts; 4. join with the findings from code."""
    paths, line_size = without_solo(options.paths), options.line_size
    heaps = Heaps(_readable)
    placed, mapped, strangers = [], [], []
    for path in paths:
        whole = thinned(profiles.read(path))
        files = open_modules(whole, image, knowledge)
        samples = of_program(whole, files)
        strangers += _strangers_note(path, len(whole.samples) - len(samples.samples), image)
        placed.append(place(samples, files, image, knowledge))
        heaps.add(path, placed[-1], files, image)
        mapped.append(files)
    sidecars = [sidecar_beside(path) for path in paths]
    runs = [
        profile_lines(one, line_size, ImageCode(judgement.image, one), crowded=sidecar.crowded)
        for one, sidecar in zip(placed, sidecars, strict=True)
    ]
    run = merged(runs)
    gains = GainsOf(sidecars, placed, runs, lambda path: _read(profiles, path, image, knowledge))
    names = Names(
        judgement.image, knowledge, judgement.actors, heaps, Objects(run.lines, mapped), Libraries(mapped, knowledge)
    )
    verdicts = judge_lines(run, names, line_size, rules=options.rules, gains=gains)
    style = Style(line_size, image.kind, options.macro)
    sampled = findings_of(verdicts, run.totals, style, judgement.image, sources_of)
    findings, joined = join(static, sampled, verdicts, run, _coverages(placed))
    counts: dict[str, int] = {}
    for one in placed:
        for name, number in (*one.counts().items(), *_losses(one).items()):
            counts[name] = counts.get(name, 0) + number
    counts |= {"samples": run.totals.samples, **verdicts.counts, **joined}
    named = {name.replace(" ", "_").replace(",", ""): number for name, number in counts.items()}
    notes = profile_notes(paths, placed, run.totals, verdicts, findings)
    notes += [f"{path}: {note}" for path, one in zip(paths, placed, strict=True) for note in _thinning_note(one)]
    notes += [note for path, one in zip(paths, placed, strict=True) for note in generated_notes(path, one)]
    lines = sampled_map_lines(verdicts, run.totals)
    return SampledFindings(findings, named, [*notes, *strangers, *gains.notes, *heaps.notes], lines)


def _strangers_note(path: str, number: int, image: Image) -> list[str]:
    if not number:
        return []
    name = os.path.basename(image.path)
    return [f"{path}: {count(number, 'sample')} of processes that do not use {name} left out"]


def _read(profiles: Profiles, path: str, image: Image, knowledge: Knowledge) -> Attribution:
    samples = thinned(profiles.read(path))
    files = open_modules(samples, image, knowledge)
    return place(of_program(samples, files), files, image, knowledge)


def place(samples: Samples, files: MappedFiles, image: Image, knowledge: Knowledge) -> Attribution:
    """One profile with its samples placed, functions named as a report shows them."""
    one = attribute(samples, image, files, knowledge)
    shown = _readable(one.functions)
    return dataclasses.replace(one, functions=tuple(shown[name] for name in one.functions))


def _readable(functions: Sequence[str]) -> dict[str, str]:
    """How a report shows names of functions."""
    shown = readable_names(list(dict.fromkeys(functions)), demangle)
    return {name: without_parameters(shown[name]) for name in functions}


def _left_out(one: Attribution) -> int:
    """Samples that were read and not judged, since there are enough without them."""
    return max(one.samples.counts.samples - len(one.rows), 0)


def _thinning_note(one: Attribution) -> list[str]:
    left_out = _left_out(one)
    kept = len(one.rows)
    return [f"{kept:,} samples, spread over the run, stand for all {kept + left_out:,}"] if left_out else []


def _losses(one: Attribution) -> dict[str, int]:
    counts = one.samples.counts
    return {
        name: count
        for name, count in (
            ("samples lost", counts.lost_samples),
            ("samples skipped", counts.skipped_samples),
            ("records lost", counts.lost_records),
            ("samples left out", _left_out(one)),
        )
        if count
    }


def _coverages(placed: Sequence[Attribution]) -> Callable[[frozenset[str]], Coverage]:
    """Answers for functions: their samples, and how many have no place for a reason that may hide the line."""
    sums = [(one.functions, _by_function(one)) for one in placed]

    def of(names: frozenset[str]) -> Coverage:
        total = np.zeros(3)
        for functions, parts in sums:
            total += parts[:, [at for at, name in enumerate(functions) if name in names]].sum(axis=1)
        samples, unplaced, by_function = (round(float(one)) for one in total)
        return Coverage(samples, unplaced, by_function)

    return of


def _by_function(one: Attribution) -> npt.NDArray[np.float64]:
    """Samples of each function, those without a place, and those of which only the function is known."""
    function, cost = one.rows["function"], sample_costs(one.samples).cost
    bare = (one.rows["basis"] == Basis.FUNCTION) | (one.rows["reason"] == Reason.NO_CODE)
    inside = function >= 0
    parts = []
    for mask in (inside, inside & (bare | is_unplaced(one)), inside & bare):
        whole = mask.all()
        numbers, weights = (function, cost) if whole else (function[mask], cost[mask])
        parts.append(np.bincount(numbers, weights, len(one.functions))[: len(one.functions)])
    return np.array(parts)
