"""Profiles of both builds as evidence: by variable where samples have a place, by function where they have none.

Owns which of the two speaks for the layout, and the placing of samples (``linemate.modules``).  Weighing is
``sharing.explain.variablesamples``'s and ``sharing.explain.samples``', which pair it is ``sharing.explain.seenpairs``'.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from linemate.explaining.inputs import Recordings
from linemate.modules import open_modules
from linemate.sampled.objects import Objects
from linemate.sampled.run import place as place_samples
from sharing.explain.activity import Activity
from sharing.explain.causes.base import Builds, is_file, ranked
from sharing.explain.causes.layout import in_memory
from sharing.explain.exercised import exercised
from sharing.explain.linepairs import Sight
from sharing.explain.samples import together, with_profiles
from sharing.explain.seenpairs import Seen, decided, elsewhere
from sharing.explain.variablesamples import VariableSamples, pooled, variable_samples, with_variable_samples
from sharing.explain.work import Pace, work_of
from sharing.judge.sampled.findings import confidence_of
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import Verdicts, judge_lines
from sharing.knowledge import Knowledge
from sharing.model.attribution import Attribution
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.model.operands import MappedFiles
from sharing.sampled.attribution.statictouches import ImageCode
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.merging import merged


@dataclass(frozen=True, slots=True)
class Placed:
    """The profiles of one build with their samples placed, and what is to say of the lines that they were on."""

    attributions: tuple[Attribution, ...]
    verdicts: Verdicts


def place(
    builds: Builds, images: tuple[Image, Image], profiles: tuple[Recordings, Recordings], knowledge: Knowledge
) -> tuple[tuple[Placed, Placed] | None, list[str]]:
    """All profiles with their samples placed; None where one of them, or of the builds, knows no addresses.

    ``images`` are the builds as they were read.
    """
    if not (builds.old.known and builds.new.known and all(is_file(image) for image in images)):
        return None, []
    sides = []
    for recordings, image, activity in zip(profiles, images, (builds.old, builds.new), strict=True):
        placed, mapped = [], []
        for sampled in recordings:
            if not len(sampled.samples.mappings):
                return None, []  # a listing by function
            try:
                files = open_modules(sampled.samples, image, knowledge)
                placed.append(place_samples(sampled.samples, files, image, knowledge))
                mapped.append(files)
            except LinemateError as error:
                return None, [f"{sampled.path}: compared by function alone: {error}"]
        sides.append(Placed(tuple(placed), _judged(placed, mapped, activity, knowledge, builds.line_size)))
    return (sides[0], sides[1]), []


def _judged(
    placed: list[Attribution], mapped: list[MappedFiles], activity: Activity, knowledge: Knowledge, line_size: int
) -> Verdicts:
    """What ``audit --samples`` says of the lines."""
    run = merged([profile_lines(one, line_size, ImageCode(activity.image, one)) for one in placed])
    actors = activity.profiler.within if activity.profiler is not None else None
    return judge_lines(run, Names(activity.image, knowledge, actors, None, Objects(run.lines, mapped)), line_size)


def sorted_out(
    builds: Builds, profiles: tuple[Recordings, Recordings, tuple[str, ...]], placed: tuple[Placed, Placed] | None
) -> Builds:
    """The builds with their pairs as the profiles order them: what was seen first, what the load leaves alone last."""
    old, new, events = profiles
    if placed is not None:
        builds = decided(builds, placed[0].verdicts, placed[1].verdicts)
    return exercised(builds, *(together([sampled.by_function[events[0]] for sampled in side]) for side in (old, new)))


def with_samples(
    comparison: Comparison,
    builds: Builds,
    profiles: tuple[Recordings, Recordings, tuple[str, ...]],
    placed: tuple[Placed, Placed] | None,
    pace: Pace | None,
) -> Comparison:
    """The comparison with what the profiles say.

    The most telling event weighs, and it weighs once: by variable where that says something of the layout, else by
    function.  Other events are listed.
    """
    old, new, events = profiles
    if placed is not None and (found := elsewhere(*(side.verdicts for side in placed))):
        comparison = _with_memory(comparison, found, builds.programs[1])
    for at, event in enumerate(events):
        weigh = at == 0
        sums = [together([sampled.by_function[event] for sampled in side]) for side in (old, new)]
        work = work_of(pace, sums[0].rates, sums[1].rates)
        if placed is not None:
            sides = (builds.old, builds.new)
            before, after = (_seen(*side, event) for side in zip(placed, (old, new), sides, strict=True))
            if before is not None and after is not None:
                comparison, said = with_variable_samples(comparison, builds, before, after, work=work, weigh=weigh)
                weigh = weigh and not said
        comparison = with_profiles(comparison, sums[0], sums[1], work=work, weigh=weigh)
    return comparison


def _with_memory(comparison: Comparison, found: Seen, new: str) -> Comparison:
    sight = Sight(confidence_of(found.line), found.draft.message)
    cause = in_memory(found.names, found.draft.severity, sight, found.functions, new)
    return msgspec.structs.replace(
        comparison,
        causes=ranked((*(c for c in comparison.causes if c.kind is not CauseKind.NONE), cause)),
        ruled_out=tuple(r for r in comparison.ruled_out if r.kind is not CauseKind.LAYOUT),
        not_ruled_out=tuple(r for r in comparison.not_ruled_out if r.kind is not CauseKind.LAYOUT),
    )


def _seen(placed: Placed, recordings: Recordings, activity: Activity, event: str) -> VariableSamples | None:
    """The samples on variables of all recordings; None where one of them knows too few places."""
    out = []
    for attribution, sampled in zip(placed.attributions, recordings, strict=True):
        seen = variable_samples(attribution, sampled.numbers[event], event, activity)
        if seen is None:
            return None
        out.append(seen)
    return pooled(out)
