"""``audit --samples``: profiles of a binary as evidence for and against its findings.

Owns the joining with the findings of the code, and what the report says of the profiles.  How profiles are judged is
``linemate.sampled.judging``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linemate.sampled.gains import without_solo
from linemate.sampled.generated import generated_notes
from linemate.sampled.judging import Target, judge_profiles
from linemate.sampled.notes import profile_notes
from linemate.sampled.reading import Profiles
from linemate.sampled.sources import sources_of
from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.join import Coverage, join
from sharing.judge.sampled.maplines import sampled_map_lines
from sharing.judge.static import Judgement
from sharing.knowledge import Knowledge
from sharing.model.attribution import Attribution, Basis, Reason
from sharing.model.finding import Finding
from sharing.model.image import Image
from sharing.model.memorymap import SampledMapLine
from sharing.model.plural import count
from sharing.sampled.attribution.unplaced import is_unplaced
from sharing.sampled.eventcosts import sample_costs


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
    """1. the profiles; 2. their findings joined with those of the code; 3. counts and notes."""
    paths = without_solo(options.paths)
    target = Target(image, judgement.image, judgement.actors, options.line_size)
    found = judge_profiles(paths, profiles.read, target, knowledge, rules=options.rules)
    placed, run, verdicts = found.placed, found.run, found.verdicts
    style = Style(options.line_size, image.kind, options.macro)
    sampled = findings_of(verdicts, run.totals, style, judgement.image, sources_of)
    findings, joined = join(static, sampled, verdicts, run, _coverages(placed))
    counts: dict[str, int] = {}
    for one in placed:
        for name, number in (*one.counts().items(), *_losses(one).items()):
            counts[name] = counts.get(name, 0) + number
    counts |= {"samples": run.totals.samples, **verdicts.counts, **joined}
    named = {name.replace(" ", "_").replace(",", ""): number for name, number in counts.items()}
    notes = profile_notes(paths, placed, run.totals, verdicts, findings)
    if cleared := joined["sampled_cleared"]:
        told = f"cleared by the profile: {count(cleared, 'finding')} of the code (--min-severity note shows them)"
        notes.insert(0, told)
    notes += [f"{path}: {note}" for path, one in zip(paths, placed, strict=True) for note in _thinning_note(one)]
    notes += [note for path, one in zip(paths, placed, strict=True) for note in generated_notes(path, one)]
    lines = sampled_map_lines(verdicts, run.totals)
    return SampledFindings(findings, named, [*notes, *found.notes], lines)


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
