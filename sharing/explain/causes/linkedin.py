"""Libraries that one of two builds holds itself, and the other one loads: another link, not another program.

Owns what then says nothing: what only the build linked statically has, and no longer needs.
"""

from __future__ import annotations

import dataclasses

from sharing.explain.causes.base import Builds
from sharing.explain.linepairs import LinePairs
from sharing.explain.match import Matching
from sharing.model.comparison import FileTraits


def linked_in(builds: Builds) -> bool:
    """Whether one build, and not the other, was linked with its libraries."""
    return is_static(builds.old_traits) != is_static(builds.new_traits) and bool(
        builds.old_traits.modes and builds.new_traits.modes
    )


def is_static(traits: FileTraits) -> bool:
    return traits.modes.get("linking") == "static"


def without_libraries(builds: Builds) -> Builds:
    """The builds without pairs of two variables that only the build linked statically has.

    They are as near to each other in the library that the other build loads.
    """
    if not linked_in(builds):
        return builds
    matching = builds.variables
    if is_static(builds.new_traits):
        return dataclasses.replace(
            builds, gained=_own(builds.gained, matching, True), pair_gained=_own(builds.pair_gained, matching, True)
        )
    return dataclasses.replace(
        builds, lost=_own(builds.lost, matching, False), pair_lost=_own(builds.pair_lost, matching, False)
    )


def _own(met: LinePairs, matching: Matching, new_side: bool) -> LinePairs:
    of = matching.of_new if new_side else matching.of_old
    pairs = tuple(pair for pair in met.pairs if any(int(of[row]) >= 0 for row in pair.rows))
    return dataclasses.replace(met, pairs=pairs, total=met.total - len(met.pairs) + len(pairs))
