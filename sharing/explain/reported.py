"""Pairs that the rules report in one build and not in the other, whatever made them: added data, or new use of it.

Owns the comparison of what an audit of each build says of its lines.  Pairs that met because something moved are
``linepairs``'; this adds what these leave out, so that a comparison names all that an audit newly reports.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sharing.explain.activity import Activity
from sharing.explain.elements import elements_of
from sharing.explain.linepairs import LinePair, Side, meeting, side_of
from sharing.explain.match import Matching
from sharing.explain.mates import MISSING
from sharing.judge.merging import merge
from sharing.model.finding import Severity, Verdict
from sharing.model.profile import Actor
from sharing.rules.line.base import Draft

LEAST = Severity.MEDIUM
OF_PAIRS = frozenset({Verdict.FALSE_SHARING, Verdict.READ_MOSTLY_DISTURBED})


def newly_reported(
    matching: Matching, here: Activity, there: Activity, known: tuple[LinePair, ...], *, new_side: bool
) -> list[LinePair]:
    """What an audit reports here at medium or above and not there, without the pairs that are ``known``."""
    if here.context is None or there.context is None or not (here.threaded and there.threaded):
        return []
    names = {frozenset((pair.mates.first, pair.mates.second)) for pair in known if _counts(pair.severity)}
    arrays = {pair.rows[0] for pair in known if pair.rows[0] == pair.rows[1] and _counts(pair.severity)}
    left = [d for d in _reports(here) if not _among(d, names, arrays, here)]
    if not left:
        return []
    side = side_of(matching, here, here.line_size, new_side=new_side)
    before = _reports(there)
    out = []
    for draft in left:
        if _was_reported(draft, side, before):
            continue
        pair = _pair(draft, side)
        if pair is not None:
            out.append(pair)
    return out


def _counts(severity: Severity | None) -> bool:
    return severity is not None and severity.rank >= LEAST.rank


def _reports(activity: Activity) -> list[Draft]:
    found = merge([draft for line in activity.lines for draft in activity.drafts(line)])
    return [d for d in found if d.verdict in OF_PAIRS and _counts(d.severity)]


def _row(actor: Actor, activity: Activity) -> int:
    return int(activity.image.variables_at(np.array([actor.span[0]], np.uint64))[0])


def _among(draft: Draft, names: set[frozenset[str]], arrays: set[int], here: Activity) -> bool:
    if len(draft.actors) == 1:
        return _row(draft.actors[0], here) in arrays
    return frozenset(actor.name for actor in draft.actors[:2]) in names


def _was_reported(draft: Draft, side: Side, before: list[Draft]) -> bool:
    """Whether the same is said there; of what has no name there, whether anything like it is."""
    places = []
    for actor in draft.actors[:2]:
        row = _row(actor, side.activity)
        if row < 0:
            return True  # nothing is known of it
        other = int(side.partner[row])
        if other < 0 and not side.told[row]:
            return any(d.rule == draft.rule for d in before)
        offset = actor.span[0] - int(side.here.image.variables["address"][row])
        place = side.members.offset(row, other, offset) if other >= 0 else MISSING
        if place == MISSING:
            return False
        places.append(int(side.there.image.variables["address"][other]) + place)
    return any(all(_has(d, place) for place in places) for d in before)


def _has(draft: Draft, place: int) -> bool:
    return any(actor.span[0] <= place < actor.span[1] for actor in draft.actors)


def _pair(draft: Draft, side: Side) -> LinePair | None:
    rows = tuple(_row(actor, side.activity) for actor in draft.actors[:2])
    if len(rows) == 1:
        return elements_of(side, rows[0], draft)
    weight = min(actor.weight for actor in draft.actors[:2])
    return meeting(side, (rows[0], rows[1]), (draft.actors[0], draft.actors[1]), weight, used=True)


def added_to(pairs: tuple[LinePair, ...]) -> Iterator[LinePair]:
    """Pairs of which one is new in this build, and that the rules object to."""
    return (pair for pair in pairs if pair.added and _counts(pair.severity))
