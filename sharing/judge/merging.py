"""Drafts about the same line or pair as one, and findings of one name told apart.

Owns the precedence of rules: which of the drafts on a line become findings, and how many of each rule.
"""

from __future__ import annotations

import dataclasses
from collections import Counter

import msgspec

from sharing.judge.mates import MAX_ALSO, under_another
from sharing.model.finding import OF_MEETING, Finding, Severity
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Draft


def _most_specific(drafts: list[Draft]) -> list[Draft]:
    """Of findings about one pair on a line those of a specific rule, as severe as the worst of them."""
    rules = {rule.id: rule for rule in LINE_RULES}

    def pair(draft: Draft) -> tuple[int, frozenset[str]]:
        return draft.line.address, frozenset(a.owner for a in draft.actors[:2])

    kept = {pair(d): d for d in drafts if rules[d.rule].specific}
    if not kept:
        return drafts
    rest: list[Draft] = []
    for draft in drafts:
        better = kept.get(pair(draft))
        if better is None or not rules[draft.rule].exclusive:
            rest.append(draft)
        elif draft.severity.rank > better.severity.rank:
            kept[pair(draft)] = dataclasses.replace(better, severity=draft.severity)
    return [*kept.values(), *rest]


def merge(drafts: list[Draft], *, telling: bool = True) -> list[Draft]:
    """One finding a line among rules that exclude each other, and of each rule no more than its row allows.

    The finding of a line tells of other pairs that meet there, as its edits part them all; not (``telling``) where each
    pair is asked for by itself.
    """
    order = {rule.id: i for i, rule in enumerate(LINE_RULES)}
    drafts = sorted(_most_specific(drafts), key=lambda d: (-d.severity.rank, order[d.rule], -d.score, d.line.address))
    kept: list[Draft] = []
    taken: dict[int, int] = {}  # by line the one of those that are kept
    pairs: set[tuple[str, ...]] = set()
    made: Counter[str] = Counter()
    inside: Counter[tuple[str, str, str]] = Counter()
    for draft in drafts:
        rule = LINE_RULES[order[draft.rule]]
        key = (draft.rule, *sorted({a.owner for a in draft.actors[:2]}), str(len(draft.actors[:2])))
        owners = {a.owner for a in draft.actors}
        if rule.exclusive and draft.line.address in taken:
            if telling:
                kept[taken[draft.line.address]] = _with(kept[taken[draft.line.address]], draft)
            continue
        if (rule.at_most and made[rule.id] >= rule.at_most) or (rule.once_a_pair and key in pairs):
            continue
        array = draft.actors[0].array if len(draft.actors) == 1 else ""  # a record may have several
        spot = (rule.id, next(iter(owners)), array) if len(owners) == 1 else None
        if spot is not None and inside[spot] >= rule.per_object:
            continue
        # Only what is said stands in the way of others.
        if rule.exclusive:
            taken[draft.line.address] = len(kept)
        if spot is not None:
            inside[spot] += 1
        made[rule.id] += 1
        pairs.add(key)
        kept.append(draft)
    return kept


def _with(kept: Draft, other: Draft) -> Draft:
    """The draft of a line, telling of the pair of another one where it does not yet."""
    pair = {actor.span for actor in other.actors[:2]}
    told = [{one.actors[0].span, actor.span} for one in (kept, *kept.also) for actor in one.actors[1:]]
    worth = other.severity is not Severity.NOTE and other.verdict in OF_MEETING and len(pair) > 1
    if not worth or pair in told or len(kept.also) >= MAX_ALSO or under_another(other.actors[:2], kept.line.actors):
        return kept
    return dataclasses.replace(kept, also=(*kept.also, other))


def distinct(findings: list[Finding]) -> list[Finding]:
    """Statics of one name in several units give one identity: later ones are numbered, by address."""
    seen: dict[str, int] = {}
    numbered: dict[int, str] = {}
    for at in sorted(range(len(findings)), key=lambda i: int(findings[i].line.address, 16)):
        name = findings[at].id
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            numbered[at] = f"{name}-{seen[name]}"
    return [msgspec.structs.replace(f, id=numbered[i]) if i in numbered else f for i, f in enumerate(findings)]
