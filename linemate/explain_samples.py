"""Profiles of both builds as evidence: by variable where samples have a place, by function where they have none.

Owns which of the two speaks for the layout, and the placing of samples (``linemate.modules``).  Weighing is
``sharing.explain.placed``'s and ``sharing.explain.samples``'.
"""

from __future__ import annotations

import msgspec

from linemate.explain_inputs import Sampled
from linemate.modules import open_modules
from sharing.explain.activity import Activity
from sharing.explain.causes.base import Builds, is_file
from sharing.explain.placed import Seen, seen_in, with_places
from sharing.explain.samples import with_profiles
from sharing.knowledge import Knowledge
from sharing.model.attribution import Attribution
from sharing.model.comparison import Comparison
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.sampled.attribute import attribute


def with_samples(
    comparison: Comparison,
    builds: Builds,
    images: tuple[Image, Image],
    profiles: tuple[Sampled, Sampled, tuple[str, ...]],
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
                comparison, said = with_places(comparison, builds, before, after, weigh=weigh)
                weigh = weigh and not said
        comparison = with_profiles(comparison, old.by_function[event], new.by_function[event], weigh=weigh)
    if notes:
        coverage = msgspec.structs.replace(comparison.coverage, notes=(*comparison.coverage.notes, *notes))
        comparison = msgspec.structs.replace(comparison, coverage=coverage)
    return comparison


def _seen(attribution: Attribution, sampled: Sampled, activity: Activity, event: str) -> Seen | None:
    return seen_in(attribution, sampled.numbers[event], event, activity)


def _placed(
    builds: Builds, images: tuple[Image, Image], profiles: tuple[Sampled, Sampled], knowledge: Knowledge
) -> tuple[tuple[Attribution, ...] | None, list[str]]:
    """Both profiles with their samples placed; None where one of them, or of the builds, knows no addresses."""
    if not (builds.old.known and builds.new.known and all(is_file(image) for image in images)):
        return None, []
    out = []
    for sampled, image in zip(profiles, images, strict=True):
        if not len(sampled.samples.mappings):
            return None, []  # a listing by function
        try:
            files = open_modules(sampled.samples, image, knowledge)
        except LinemateError as error:
            return None, [f"{sampled.path}: compared by function alone: {error}"]
        out.append(attribute(sampled.samples, image, files, knowledge))
    return tuple(out), []
