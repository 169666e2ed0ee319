"""Profiles of both builds as evidence: by variable where samples have a place, by function where they have none.

Owns which of the two speaks for the layout.  Placing and judging samples is ``linemate.sampled.judging``'s, weighing
them ``sharing.explain.variablesamples``'s and ``sharing.explain.samples``', which pair it is
``sharing.explain.seenpairs``', which memory ``sharing.explain.seenmemory``'s.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec

from linemate.explaining.inputs import Recordings
from linemate.explaining.records import Records
from linemate.sampled.judging import JudgedProfiles, Target, judge_profiles
from linemate.sampled.reading import Profiles
from sharing.explain.activity import Activity
from sharing.explain.causes.base import Builds, is_file, ranked
from sharing.explain.exercised import exercised
from sharing.explain.nameless import under_one_name
from sharing.explain.samples import together, with_profiles
from sharing.explain.seenmemory import causes_of, disturbed_since
from sharing.explain.seenpairs import decided
from sharing.explain.variablesamples import VariableSamples, pooled, variable_samples, with_variable_samples
from sharing.explain.work import Pace, work_of
from sharing.knowledge import Knowledge
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.model.samples import Samples

Judged = tuple[JudgedProfiles, JudgedProfiles]  # of both builds


def judged(
    builds: Builds, images: tuple[Image, Image], profiles: tuple[Recordings, Recordings], knowledge: Knowledge
) -> tuple[Judged | None, list[str]]:
    """(all profiles as ``audit --samples`` judges them, notes); None where one of them, or of the builds, knows no
    addresses.

    ``images`` are the builds as they were read.  With notes on the profiles.
    """
    if not (builds.old.known and builds.new.known and all(is_file(image) for image in images)):
        return None, []
    if not all(len(sampled.samples.mappings) for side in profiles for sampled in side):
        return None, []  # a listing by function
    sides: list[JudgedProfiles] = []
    for recordings, image, activity in zip(profiles, images, (builds.old, builds.new), strict=True):
        paths = [sampled.path for sampled in recordings]
        known = {sampled.path: sampled.samples for sampled in recordings}
        actors = activity.profiler.within if activity.profiler is not None else None
        target = Target(image, activity.image, actors, builds.line_size)
        try:
            sides.append(judge_profiles(paths, functools.partial(_read, known), target, knowledge))
        except LinemateError as error:
            return None, [f"{', '.join(paths)}: compared by function alone: {error}"]
    return (sides[0], sides[1]), [note for side in sides for note in side.notes]


def _read(known: Mapping[str, Samples], path: str) -> Samples:
    """A profile, or what lies beside one: the run on one processor."""
    return known[path] if path in known else Profiles(()).read(path)


def sorted_out(
    builds: Builds, profiles: tuple[Recordings, Recordings, tuple[str, ...]], profiled: Judged | None
) -> Builds:
    """The builds with their pairs as the profiles order them: what was seen first, what the load leaves alone last."""
    old, new, events = profiles
    if profiled is not None:
        builds = decided(builds, profiled[0].verdicts, profiled[1].verdicts)
    return exercised(builds, *(together([sampled.by_function[events[0]] for sampled in side]) for side in (old, new)))


def with_samples(
    comparison: Comparison,
    builds: Builds,
    profiles: tuple[Recordings, Recordings, tuple[str, ...]],
    profiled: Judged | None,
    pace: Pace | None,
) -> Comparison:
    """The comparison with what the profiles say.

    The most telling event weighs, and it weighs once: by variable where that says something of the layout, else by
    function.  Other events are listed.
    """
    old, new, events = profiles
    if profiled is not None:
        comparison = _with_memory(comparison, builds, *profiled)
    for at, event in enumerate(events):
        weigh = at == 0
        one, other = (together([sampled.by_function[event] for sampled in side]) for side in (old, new))
        sums = under_one_name(one, other, builds.functions)
        work = work_of(pace, sums[0].rates, sums[1].rates)
        if profiled is not None:
            sides = (builds.old, builds.new)
            before, after = (_seen(*side, event) for side in zip(profiled, (old, new), sides, strict=True))
            if before is not None and after is not None:
                comparison, said = with_variable_samples(comparison, builds, before, after, work=work, weigh=weigh)
                weigh = weigh and not said
        comparison = with_profiles(comparison, sums[0], sums[1], work=work, weigh=weigh)
    return comparison


def _with_memory(comparison: Comparison, builds: Builds, old: JudgedProfiles, new: JudgedProfiles) -> Comparison:
    """With a cause for what of memory became worse; of equal strength, what costs more stands first."""
    found = disturbed_since(old.verdicts, new.verdicts)
    if not found:
        return comparison
    totals = (old.run.totals, new.run.totals)
    causes = causes_of(found, totals, builds, Records(old, new))
    lead = next((pair.seen.cost for pair in builds.gained.pairs if pair.seen is not None), 0.0)
    costlier = sum(one.seen.draft.cost > lead for one in found)
    known = tuple(cause for cause in comparison.causes if cause.kind is not CauseKind.NONE)
    return msgspec.structs.replace(
        comparison,
        causes=ranked((*causes[:costlier], *known, *causes[costlier:])),
        ruled_out=tuple(r for r in comparison.ruled_out if r.kind is not CauseKind.LAYOUT),
        not_ruled_out=tuple(r for r in comparison.not_ruled_out if r.kind is not CauseKind.LAYOUT),
    )


def _seen(profiles: JudgedProfiles, recordings: Recordings, activity: Activity, event: str) -> VariableSamples | None:
    """The samples on variables of all recordings; None where one of them knows too few places."""
    out = []
    for attribution, sampled in zip(profiles.placed, recordings, strict=True):
        seen = variable_samples(attribution, sampled.numbers[event], event, activity)
        if seen is None:
            return None
        out.append(seen)
    return pooled(out)
