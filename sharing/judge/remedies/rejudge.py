"""A line of an image judged again after edits: what is left of a finding.

Owns which drafts count as what is left: those of rules that would have said so on the same line, from low on, about
what was on that line or has come to it.  What else is wrong with the variables is other findings' matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from sharing.basics.naming import as_declared
from sharing.judge.remedies.choice import Conflict, choose
from sharing.judge.remedies.editedlayout import Edit, Layout, touched, variable_of
from sharing.judge.remedies.paths import Paths
from sharing.judge.severitylimit import limited
from sharing.model.finding import Severity, Verdict
from sharing.model.image import ALLOCATED
from sharing.model.profile import Actor, LineProfile, Role
from sharing.rules import LINE_RULES
from sharing.rules.line.base import Context, Draft, LineRule, Span
from sharing.static.profiles import Profiler

Newcomers = frozenset[tuple[str, str]]  # identity, and full name with all elements of an array as one
MAX_LINES = 4  # at each end of a large array: between, it is alone


def edits_for(
    draft: Draft,
    profiler: Profiler,
    context: Context,
    paths: Paths,
    line_size: int,
    *,
    kernel: bool = False,
    newcomers: Newcomers = frozenset(),
) -> tuple[Edit, ...]:
    """The edits that leave nothing of a draft; ``line_size`` is what they round to.

    A ``kernel`` has a section of data that is hardly ever written: what moves there takes no more room.  Of
    ``newcomers`` one moves in any case: a review is about what a change put there, not about what it was put beside.
    """
    if not draft.separate:
        return ()  # no layout helps
    conflict = conflict_of(draft, kernel=kernel, newcomers=newcomers)
    return choose(conflict, Rejudging(draft, profiler, context).left, paths, line_size)


def conflict_of(draft: Draft, *, kernel: bool = False, newcomers: Newcomers = frozenset()) -> Conflict:
    whole = (a for a in draft.actors if a.span == a.owner_span and a.section != ALLOCATED)
    free = tuple(a for a in whole if kernel and a.role in (Role.READ_MOSTLY, Role.CONSTANT))
    new = tuple(a for a in draft.actors if len(draft.actors) > 1 and (a.identity, as_declared(a.name)) in newcomers)
    return Conflict(draft.actors, draft.separate, draft.verdict is Verdict.SPLIT_ACCESS, free, new)


class Rejudging:
    """Judges what was on the line of one draft, wherever edits put it."""

    def __init__(self, draft: Draft, profiler: Profiler, context: Context) -> None:
        own = next((rule for rule in LINE_RULES if rule.id == draft.rule), None)
        self._span = own.span if own is not None else Span.LINE
        self._rules = [rule for rule in LINE_RULES if _asks_the_same(rule, own)] if own is not None else []
        self._context = context
        self._counted = bool(draft.counted)  # then the counts limit severity, which are of the layout that ran
        self._profiler = profiler
        self._least = min(draft.severity, Severity.LOW, key=lambda s: s.rank)
        self._here = {_key(a): a for a in (*draft.actors, *draft.line.actors)}
        self._judged: dict[tuple[object, ...], list[Conflict]] = {}
        # Rules that share one finding a line speak for all that is on it, others for what they name.
        self._about = self._here.keys() if own is not None and own.exclusive else {_key(a) for a in draft.actors}

    def left(self, layout: Layout, enough: int) -> list[Conflict]:
        """Conflicts of what was on the line, in the actors before the edits; no more once they have ``enough``."""
        before = {layout.after(actor): actor for actor in self._all(layout)}
        ours = [after for after, actor in before.items() if _key(actor) in self._here]
        found: list[Conflict] = []
        for line in self._lines(list(before), ours):
            found += self._of_line(line, before)
            if sum(len(conflict.actors) for conflict in found) >= enough:
                break
        return found

    def _of_line(self, line: LineProfile, before: Mapping[Actor, Actor]) -> list[Conflict]:
        """What is left on one line; most lines of a layout that is tried are those of others."""
        here = ((id(before[a]), a.span, a.owner_span, a.hot, a.read_hot, a.stride, a.alignment) for a in line.actors)
        place = (line.address, *here)
        known = self._judged.get(place)
        if known is None:
            known = self._said(line, before)
            if not known:  # a rule names one pair of a line: of what came beside it, it may hide what is left
                ours = tuple(a for a in line.actors if _key(before[a]) in self._here)
                known = self._said(msgspec.structs.replace(line, actors=ours), before) if ours != line.actors else known
            self._judged[place] = known
        return known

    def _said(self, line: LineProfile, before: Mapping[Actor, Actor]) -> list[Conflict]:
        found: list[Conflict] = []
        drafts = [draft for rule in self._rules for draft in rule.check(line, self._context)]
        for draft in drafts if self._counted else limited(drafts, self._context):
            pair = {_key(before[a]) for a in draft.actors[:2]}
            said = draft.severity.rank >= self._least.rank and draft.separate
            if not said or not pair & self._about:
                continue
            if not pair <= self._here.keys() and self._met(*(before[a] for a in draft.actors[:2])):
                continue
            actors, separate = (tuple(before[a] for a in each) for each in (draft.actors, draft.separate))
            found.append(Conflict(actors, separate, draft.verdict is Verdict.SPLIT_ACCESS))
        return found

    def _met(self, *pair: Actor) -> bool:
        """Were all of them on one line before the edits?  If not, these brought them together."""
        size = self._context.pair_size if self._span is Span.PAIR else self._context.line_size
        on = [{at for start, end in touched(a) for at in range(start // size, -(-end // size))} for a in pair]
        return bool(set.intersection(*on))

    def _all(self, layout: Layout) -> list[Actor]:
        """What was on the line, and the rest of what was moved: it may come to lie beside it."""
        known = dict(self._here)
        for _, (start, end) in layout.variables:
            for actor in self._profiler.within(start, end - start):
                known.setdefault(_key(actor), actor)
        return list(known.values())

    def _lines(self, actors: Sequence[Actor], ours: Sequence[Actor]) -> list[LineProfile]:
        """The lines that hold any of ``ours``, with all actors on them."""
        size = self._context.pair_size if self._span is Span.PAIR else self._context.line_size
        around = self._context.line_size if self._span is Span.WINDOW else 0
        on: dict[int, list[Actor]] = {}
        for actor in ours:
            for start, end in touched(actor):
                found = range((start - around) // size * size, end + around, size)
                chosen = found if len(found) <= 2 * MAX_LINES else (*found[:MAX_LINES], *found[-MAX_LINES:])
                on.update((line, []) for line in chosen)
        for actor in actors:
            ranges = touched(actor)
            first, last = ranges[0][0] - around, max(end for _, end in ranges) + around
            near = range(first // size * size, last, size)
            for line in near if len(near) < len(on) else on:
                if line in on and actor.touched_on(line - around, line + size + around):
                    on[line].append(actor)
        return [
            LineProfile(line - around, size + 2 * around, tuple(sorted(here, key=lambda a: (a.span, a.name))))
            for line, here in sorted(on.items())
        ]


def _asks_the_same(rule: LineRule, own: LineRule) -> bool:
    return rule.id == own.id or (rule.exclusive and own.exclusive and rule.span is own.span)


def _key(actor: Actor) -> tuple[object, ...]:
    return (variable_of(actor), actor.name, actor.span)
