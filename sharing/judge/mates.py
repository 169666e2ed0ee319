"""Each pair of a line that has a finding as a finding of its own: what a line that was busy before got to hold.

Owns these pairs.  A report names the worst pair of a line; where two revisions are compared, whatever a change adds
beside it is new all the same, by whichever rule it is bad.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import msgspec

from sharing.model.finding import OF_MEETING
from sharing.model.profile import Actor, Heat
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Context, Draft, LineRule, Span

# The rule that a draft is of and the draft to how bad it is where lines are only known up to where parts start.
Grade = Callable[[LineRule, Draft], Draft | None]


def each_pair(
    drafts: Sequence[Draft], rules: Sequence[LineRule], context: Context, grade: Grade | None = None
) -> list[Draft]:
    """Of the lines of drafts the pairs that none of these names, by the worst rule, as bad as these at most.

    ``grade`` is None where lines are exact.
    """
    said = {frozenset(draft.actors[:2]) for draft in drafts}
    by_id = {rule.id: rule for rule in LINE_RULES}
    of_line = [rule for rule in rules if rule.span is Span.LINE and rule.exclusive]
    found = []
    for draft in drafts:
        if by_id[draft.rule].span is not Span.LINE or draft.verdict not in OF_MEETING:
            continue
        for pair in _pairs(draft.line.actors):
            if (both := frozenset(pair)) in said:
                continue
            said.add(both)
            alone = msgspec.structs.replace(draft.line, actors=pair)
            every = [(rule, one) for rule in of_line for one in rule.check(alone, context)]
            met = [grade(rule, one) if grade else one for rule, one in every if frozenset(one.actors[:2]) == both]
            worst = max((one for one in met if one is not None), key=lambda one: one.severity.rank, default=None)
            if worst is not None:
                severity = min(worst.severity, draft.severity, key=lambda severity: severity.rank)
                line = msgspec.structs.replace(worst.line, actors=draft.line.actors)
                found.append(dataclasses.replace(worst, severity=severity, line=line))
    return found


def _pairs(actors: Sequence[Actor]) -> Iterator[tuple[Actor, Actor]]:
    """Pairs with one that is hot, as of others nothing worse than a note is said."""
    warm = [actor for actor in actors if actor.heat is not Heat.COLD]
    for pair in combinations(warm, 2):
        if Heat.HOT in (pair[0].heat, pair[1].heat) and not under_another(pair, actors):
            yield pair


def under_another(pair: Sequence[Actor], actors: Iterable[Actor]) -> bool:
    """Does a lock of the same line guard one of the two?

    Then that lock stands for it: whoever comes to it has taken the line before.
    """
    locks = {actor.name for actor in actors if actor.is_lock}
    guards = {name for actor in pair for name in actor.guards | actor.write_guards}
    return not guards.isdisjoint(locks - {actor.name for actor in pair})
