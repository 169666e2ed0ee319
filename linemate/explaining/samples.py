"""Profiles of both builds as evidence: by variable where samples have a place, by function where they have none.

Owns which of the two speaks for the layout, and the placing of samples (``linemate.modules``).  Weighing is
``sharing.explain.variablesamples``'s and ``sharing.explain.samples``'.
"""

from __future__ import annotations

import msgspec

from linemate.explaining.inputs import Recordings, Sampled
from linemate.modules import open_modules
from sharing.explain.activity import Activity
from sharing.explain.causes.base import Builds, is_file
from sharing.explain.samples import together, with_profiles
from sharing.explain.variablesamples import VariableSamples, pooled, variable_samples, with_variable_samples
from sharing.knowledge import Knowledge
from sharing.model.attribution import Attribution
from sharing.model.comparison import Comparison
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.sampled.attribution.attribute import attribute


def with_samples(
    comparison: Comparison,
    builds: Builds,
    images: tuple[Image, Image],
    profiles: tuple[Recordings, Recordings, tuple[str, ...]],
    knowledge: Knowledge,
) -> Comparison:
    """The comparison with what the profiles say.  ``images`` are the builds as they were read.

    The most telling event weighs, and it weighs once: by variable where that says something of the layout, else by
    function.  Other events are listed.
    """
    old, new, events = profiles
    placed, notes = _placed(builds, images, (old, new), knowledge)
    for at, event in enumerate(events):
        weigh = at == 0
        if placed is not None:
            sides = (builds.old, builds.new)
            before, after = (_seen(*side, event) for side in zip(placed, (old, new), sides, strict=True))
            if before is not None and after is not None:
                comparison, said = with_variable_samples(comparison, builds, before, after, weigh=weigh)
                weigh = weigh and not said
        sums = [together([sampled.by_function[event] for sampled in side]) for side in (old, new)]
        comparison = with_profiles(comparison, sums[0], sums[1], weigh=weigh)
    if notes:
        coverage = msgspec.structs.replace(comparison.coverage, notes=(*comparison.coverage.notes, *notes))
        comparison = msgspec.structs.replace(comparison, coverage=coverage)
    return comparison


def _seen(
    attributions: tuple[Attribution, ...], recordings: Recordings, activity: Activity, event: str
) -> VariableSamples | None:
    """The samples on variables of all recordings; None where one of them knows too few places."""
    out = []
    for attribution, sampled in zip(attributions, recordings, strict=True):
        seen = variable_samples(attribution, sampled.numbers[event], event, activity)
        if seen is None:
            return None
        out.append(seen)
    return pooled(out)


def _placed(
    builds: Builds, images: tuple[Image, Image], profiles: tuple[Recordings, Recordings], knowledge: Knowledge
) -> tuple[tuple[tuple[Attribution, ...], ...] | None, list[str]]:
    """All profiles with their samples placed; None where one of them, or of the builds, knows no addresses."""
    if not (builds.old.known and builds.new.known and all(is_file(image) for image in images)):
        return None, []
    sides = []
    for recordings, image in zip(profiles, images, strict=True):
        placed = []
        for sampled in recordings:
            if not len(sampled.samples.mappings):
                return None, []  # a listing by function
            try:
                placed.append(_attributed(sampled, image, knowledge))
            except LinemateError as error:
                return None, [f"{sampled.path}: compared by function alone: {error}"]
        sides.append(tuple(placed))
    return tuple(sides), []


def _attributed(sampled: Sampled, image: Image, knowledge: Knowledge) -> Attribution:
    return attribute(sampled.samples, image, open_modules(sampled.samples, image, knowledge), knowledge)
