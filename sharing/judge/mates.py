"""Each pair of a line that has a finding: as a finding of its own, or told by that finding.

Owns these pairs.  A report names the worst pair of a line, and tells who else meets there, as one edit has to part them
all; where two revisions are compared, whatever a change adds beside it is new, by whichever rule it is bad.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import msgspec

from sharing.judge.severitylimit import limited
from sharing.model.finding import OF_MEETING, Severity
from sharing.model.profile import Actor, Heat, Range
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Context, Draft, LineRule, Span

# The rule that a draft is of and the draft to how bad it is where lines are only known up to where parts start.
Grade = Callable[[LineRule, Draft], Draft | None]
MAX_ALSO = 3  # other pairs of a line that a finding tells of


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


def telling(
    drafts: Sequence[Draft], rules: Sequence[LineRule], context: Context, grade: Grade | None = None
) -> list[Draft]:
    """The drafts, the first above a note of each line with the line's other such pairs, if these name somebody new.

    Pairs of one writer by one rule are one: it meets each of them.
    """
    worth = [draft for draft in drafts if draft.severity is not Severity.NOTE and draft.verdict in OF_MEETING]
    said: dict[tuple[int, str], set[Range]] = defaultdict(set)
    for draft in worth:
        said[_line(draft)] |= {actor.span for one in (draft, *draft.also) for actor in one.actors}
    pairs: dict[tuple[int, str], list[Draft]] = defaultdict(list)
    for pair in limited(each_pair(worth, rules, context, grade), context):
        if pair.severity is not Severity.NOTE:
            pairs[_line(pair)].append(pair)
    telling_ones = {id(draft) for draft in worth}
    return [
        _with(draft, pairs.pop(_line(draft), []), said[_line(draft)]) if id(draft) in telling_ones else draft
        for draft in drafts
    ]


def _line(draft: Draft) -> tuple[int, str]:
    return draft.line.address, draft.line.place


def _with(draft: Draft, pairs: list[Draft], told: set[Range]) -> Draft:
    """The draft, telling of these pairs of its line, the worst first, each with somebody of whom nothing was told."""
    also = list(draft.also)
    by_writer: dict[tuple[str, str], int] = {}
    for pair in sorted(pairs, key=lambda one: (-one.severity.rank, -one.score, one.rule)):
        new = [actor for actor in pair.actors[:2] if actor.span not in told]
        if not new:
            continue
        at = by_writer.get((pair.rule, pair.actors[0].name))
        if at is not None and also[at].severity is pair.severity:
            also[at] = dataclasses.replace(also[at], actors=(*also[at].actors, *new))
        elif len(also) < MAX_ALSO:
            by_writer[pair.rule, pair.actors[0].name] = len(also)
            also.append(pair)
        else:
            continue
        told |= {actor.span for actor in new}
    return dataclasses.replace(draft, also=tuple(also))


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
