"""Pairs that the rules report in one build and not in the other, whatever made them: added data, or new use of it.

Owns the comparison of what an audit of each build says of its lines.  Pairs that met because something moved are
``linepairs``'; this adds what these leave out, so that a comparison names all that an audit newly reports.
"""

from __future__ import annotations

from collections.abc import Iterator

from sharing.explain.activity import Activity
from sharing.explain.elements import elements_of
from sharing.explain.linepairs import BuildView, LinePair, meeting, offset_there
from sharing.explain.mates import MISSING
from sharing.judge.mates import each_pair
from sharing.judge.merging import merge
from sharing.judge.severitylimit import limited
from sharing.model.finding import Severity, Verdict
from sharing.model.profile import Actor
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Draft

LEAST = Severity.MEDIUM
OF_PAIRS = frozenset({Verdict.FALSE_SHARING, Verdict.READ_MOSTLY_DISTURBED})


def newly_reported(
    view: BuildView, here: list[Draft], there: list[Draft], known: tuple[LinePair, ...]
) -> list[LinePair]:
    """What is reported ``here`` (``reports``) and not said ``there`` (``says``), without the ``known`` pairs."""
    names = {frozenset((pair.mates.first, pair.mates.second)) for pair in known if _counts(pair.severity)}
    arrays = {pair.rows[0] for pair in known if pair.rows[0] == pair.rows[1] and _counts(pair.severity)}
    left = [d for d in here if not _among(d, names, arrays, view)]
    pairs = (_pair(draft, view) for draft in left if not _was_reported(draft, view, there))
    return [pair for pair in pairs if pair is not None]


def _counts(severity: Severity | None) -> bool:
    return severity is not None and severity.rank >= LEAST.rank


def reports(activity: Activity) -> list[Draft]:
    """What an audit of a build says at medium or above of two that share a line, or of elements."""
    found = merge([draft for line in activity.lines for draft in activity.drafts(line)])
    return [d for d in found if d.verdict in OF_PAIRS and _counts(d.severity)]


def says(activity: Activity, reported: list[Draft]) -> list[Draft]:
    """What is reported, and as bad of pairs in whose place another one of their line is named."""
    if activity.context is None:
        return reported
    pairs = limited(each_pair(reported, LINE_RULES, activity.context), activity.context)
    return [*reported, *(d for d in pairs if d.verdict in OF_PAIRS and _counts(d.severity))]


def _row(actor: Actor, view: BuildView) -> int:
    """The row of its variable, -1 none."""
    return view.here.image.variable_at(actor.span[0])


def _among(draft: Draft, names: set[frozenset[str]], arrays: set[int], view: BuildView) -> bool:
    if len(draft.actors) == 1:
        return _row(draft.actors[0], view) in arrays
    return frozenset(actor.name for actor in draft.actors[:2]) in names


def _was_reported(draft: Draft, view: BuildView, before: list[Draft]) -> bool:
    """Whether the same is said there; of what has no name there, whether anything like it is."""
    places = []
    for actor in draft.actors[:2]:
        row = _row(actor, view)
        if row < 0:
            return True  # nothing is known of it
        other = int(view.partner[row])
        if other < 0 and not view.told[row]:
            return any(d.rule == draft.rule for d in before)
        if other >= 0 and view.here.inferred[row] != view.there.inferred[other]:
            return True  # one file has names and the other none: an audit says less of it, whatever the code does
        place = offset_there(view, row, actor)
        if place == MISSING:
            return False
        places.append(int(view.there.image.variables["address"][other]) + place)
    return any(all(_has(d, place) for place in places) for d in before)


def _has(draft: Draft, place: int) -> bool:
    return any(actor.span[0] <= place < actor.span[1] for actor in draft.actors)


def _pair(draft: Draft, view: BuildView) -> LinePair | None:
    rows = tuple(_row(actor, view) for actor in draft.actors[:2])
    if len(rows) == 1:
        return elements_of(view, rows[0], draft)
    weight = min(actor.weight for actor in draft.actors[:2])
    return meeting(view, (rows[0], rows[1]), (draft.actors[0], draft.actors[1]), weight, used=True)


def added_to(pairs: tuple[LinePair, ...]) -> Iterator[LinePair]:
    """Pairs of which one is new in this build, and that the rules object to, or would if an estimate were surer."""
    return (pair for pair in pairs if pair.added and (_counts(pair.severity) or pair.counted))
