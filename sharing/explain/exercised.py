"""Pairs that the load of a profile does not come to: they explain nothing of how fast it ran.

Owns the bound on what a pair can cost, by the samples of all functions that touch it.  What rose is ``samples``'.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import msgspec

from sharing.explain import numbers
from sharing.explain.causes.base import Builds
from sharing.explain.contention import kind_of
from sharing.explain.linepairs import LinePair, LinePairs
from sharing.explain.samples import LOCK_ROLES, Profile, folded, function_key
from sharing.model.finding import Severity
from sharing.sampled.interval import wilson


def exercised(builds: Builds, old: Profile, new: Profile) -> Builds:
    """The builds with pairs as notes that a profile of the build they are of rules out."""
    return dataclasses.replace(builds, gained=_of_load(builds.gained, new), lost=_of_load(builds.lost, old))


def _of_load(met: LinePairs, profile: Profile) -> LinePairs:
    counts = folded(profile.counts)
    if sum(counts.values()) != profile.total or not profile.total:
        return met  # the end of a listing says nothing of what is behind it
    pairs = [_checked(pair, counts, profile.total) for pair in met.pairs]
    pairs.sort(key=lambda pair: pair.idle != "")
    return dataclasses.replace(met, pairs=tuple(pairs))


def _checked(pair: LinePair, counts: dict[str, int], total: int) -> LinePair:
    """The pair, a note where nothing of it has time that matters, or one of the two is not used at all."""
    sides = [{function_key(name) for name in users} for users in pair.users]
    if not all(sides) or pair.severity is None or pair.seen is not None:
        return pair
    locks = {name for name in counts if kind_of(name) == "lock" or name.startswith("[")}
    if {pair.mates.first_role, pair.mates.second_role} & LOCK_ROLES:
        sides = [side | locks for side in sides]  # time on a lock is spent in the library that takes it
    most = _most(sides[0] | sides[1], counts, total / numbers.DISPERSION_FLOOR, numbers.DISPERSION_FLOOR)
    unseen = [side for side in sides if _most(side, counts, total, 1.0) < numbers.UNSEEN]
    if most >= numbers.MATTERS and not unseen:
        return pair
    names = sorted(unseen[0] if unseen else sides[0] | sides[1])
    share = _most(names, counts, total, 1.0) if unseen else most
    return dataclasses.replace(
        pair,
        severity=Severity.NOTE,
        counted=False,
        mates=msgspec.structs.replace(pair.mates, severity=Severity.NOTE.value),
        idle=f"{', '.join(names[:3])}: at most {100 * share:.2g} % of the samples: this load hardly comes to the pair",
    )


def _most(names: Collection[str], counts: dict[str, int], total: float, each: float) -> float:
    """The largest share that functions may have; samples count an ``each``-th."""
    return wilson(sum(counts.get(name, 0) for name in names) / each, total).high
