"""Profiles of both builds as evidence: by variable where samples have a place, by function where they have none.

Owns which of the two speaks for the layout.  Judging a profile is ``linemate.sampled.judging``'s, weighing two
``sharing.explain.variablesamples``'s and ``sharing.explain.samples``', which pair it is ``sharing.explain.seenpairs``'.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec

from linemate.explaining.inputs import Recordings
from linemate.sampled.judging import JudgedProfiles, Target, judge_profiles
from linemate.sampled.reading import Profiles
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
from sharing.knowledge import Knowledge
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.model.samples import Samples

Both = tuple[JudgedProfiles, JudgedProfiles]  # of the old build, and of the new one


def place(
    builds: Builds, images: tuple[Image, Image], profiles: tuple[Recordings, Recordings], knowledge: Knowledge
) -> tuple[Both | None, list[str]]:
    """All profiles as ``audit --samples`` judges them; None where one of them, or of the builds, knows no addresses.

    ``images`` are the builds as they were read.  With notes on the profiles.
    """
    if not (builds.old.known and builds.new.known and all(is_file(image) for image in images)):
        return None, []
    if not all(len(sampled.samples.mappings) for side in profiles for sampled in side):
        return None, []  # a listing by function
    sides = []
    for recordings, image, activity in zip(profiles, images, (builds.old, builds.new), strict=True):
        actors = activity.profiler.within if activity.profiler is not None else None
        target = Target(image, activity.image, actors, builds.line_size)
        known = {sampled.path: sampled.samples for sampled in recordings}
        paths = [sampled.path for sampled in recordings]
        try:
            sides.append(judge_profiles(paths, partial(_read, known), target, knowledge))
        except LinemateError as error:
            return None, [f"{', '.join(paths)}: compared by function alone: {error}"]
    return (sides[0], sides[1]), [note for side in sides for note in side.notes]


def _read(known: Mapping[str, Samples], path: str) -> Samples:
    """A profile, or what lies beside one: the run on one processor."""
    return known[path] if path in known else Profiles(()).read(path)


def sorted_out(builds: Builds, profiles: tuple[Recordings, Recordings, tuple[str, ...]], placed: Both | None) -> Builds:
    """The builds with their pairs as the profiles order them: what was seen first, what the load leaves alone last."""
    old, new, events = profiles
    if placed is not None:
        builds = decided(builds, placed[0].verdicts, placed[1].verdicts)
    return exercised(builds, *(together([sampled.by_function[events[0]] for sampled in side]) for side in (old, new)))


def with_samples(
    comparison: Comparison,
    builds: Builds,
    profiles: tuple[Recordings, Recordings, tuple[str, ...]],
    placed: Both | None,
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


def _seen(placed: JudgedProfiles, recordings: Recordings, activity: Activity, event: str) -> VariableSamples | None:
    """The samples on variables of all recordings; None where one of them knows too few places."""
    out = []
    for attribution, sampled in zip(placed.placed, recordings, strict=True):
        seen = variable_samples(attribution, sampled.numbers[event], event, activity)
        if seen is None:
            return None
        out.append(seen)
    return pooled(out)
