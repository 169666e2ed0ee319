"""Each further object of a finding as a finding of its own: what a line that was busy before got to hold.

Owns these pairs.  A report names the worst pair of a line; where two revisions are compared, one that was added beside
it is new all the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import msgspec

from sharing.model.finding import OF_MEETING
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Context, Draft, Span


def each_mate(drafts: Sequence[Draft], context: Context) -> list[Draft]:
    """Of drafts about more than two the pairs of the first and each behind the second, as severe as these at most."""
    rules = {rule.id: rule for rule in LINE_RULES if rule.span is Span.LINE}
    said = {(draft.line.address, frozenset(draft.actors[:2])) for draft in drafts}
    found = []
    for draft in drafts:
        rule, first = rules.get(draft.rule), draft.actors[0]
        if rule is None or draft.verdict not in OF_MEETING:
            continue
        for mate in draft.actors[2:]:
            pair = frozenset((first, mate))
            alone = tuple(sorted(pair, key=lambda actor: (actor.span, actor.name)))
            for one in rule.check(msgspec.structs.replace(draft.line, actors=alone), context):
                if frozenset(one.actors[:2]) == pair and (draft.line.address, pair) not in said:
                    said.add((draft.line.address, pair))
                    severity = min(one.severity, draft.severity, key=lambda severity: severity.rank)
                    found.append(dataclasses.replace(one, severity=severity))
    return found
