"""What counts as hot where two revisions of a program are compared.

Owns that both are held to one bar, and that one use is as hot in both.  What is hot follows from ranks and from what is
busiest in a program: where a change makes the busiest of all rare, what was busy beside it all the time would look like
news.  So would what the same functions do in the same threads where a hint to the compiler or a test on the way there
moves the estimate a little: code that nothing of the kind touched would cross a bar.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from sharing.basics.naming import as_declared
from sharing.judge import numbers
from sharing.model.image import Image
from sharing.model.profile import Access, Actor, FrequentUse, Heat
from sharing.static.callgraph import CallGraph
from sharing.static.correlate import Thresholds

_LINKED = ""  # the name of the one linked file that is compared, which lies elsewhere in each revision

Done = dict[tuple[str, bool, bool, bool], float]  # weight by function and what it does: writes, reads, locks


class _Use(NamedTuple):
    """What the newest revision does to an actor: its threads by name, which ``actor``'s masks are of."""

    actor: Actor
    done: Done
    roots: tuple[str, ...]


@dataclass(slots=True)
class ComparedHeat:
    """Bars and uses by the name of an image, in the order in which revisions are judged: the newest first.

    ``busy_before`` are the names of what an older one was seen to use often.
    """

    newest: dict[str, Thresholds] = field(default_factory=dict)
    uses: dict[str, dict[tuple[str, str], _Use]] = field(default_factory=dict)
    busy_before: set[str] = field(default_factory=set)

    def bar(self, image: Image, own: Thresholds) -> Thresholds:
        """The bar for this revision of an image: of an older one no higher than that of the newest."""
        first = self.newest.setdefault(_name(image), own)
        least = {name: min(getattr(own, name), getattr(first, name)) for name in ("write", "read", "plain")}
        return msgspec.structs.replace(own, **least)

    def settled(self, image: Image, calls: CallGraph) -> Callable[[Actor], Actor]:
        """What to do with each actor of this revision: the newest's are kept in mind, an older one that is used as now
        is taken to be as hot as now."""
        roots = tuple(root.name for root in calls.roots)
        known = self.uses.get(_name(image))
        if known is not None:

            def settle(actor: Actor) -> Actor:
                settled = _as_hot(actor, known.get((actor.identity, actor.name)), roots)
                if settled.heat is not Heat.COLD:
                    self.busy_before.add(as_declared(actor.name))
                return settled

            return settle
        kept = self.uses[_name(image)] = {}

        def keep(actor: Actor) -> Actor:
            kept[actor.identity, actor.name] = _Use(actor, _done(actor), roots)
            return actor

        return keep


def _name(image: Image) -> str:
    return image.path if image.origins else _LINKED


def _as_hot(actor: Actor, now: _Use | None, roots: tuple[str, ...]) -> Actor:
    """The actor, at least as hot as the newest revision has it if that does no more to it, in no other threads."""
    if now is None or now.roots != roots or actor.role is not now.actor.role:
        return actor
    before = _done(actor)
    if actor.mask() | now.actor.mask() != actor.mask():
        return actor
    if any(weight >= numbers.MORE_USE * before.get(what, 0.0) for what, weight in now.done.items()):
        return actor
    both = actor, now.actor
    hottest = max(one.heat for one in both)
    return dataclasses.replace(
        actor,
        write_heat=max(one.write_heat for one in both),
        read_heat=max(one.read_heat for one in both),
        raised=all(one.raised for one in both if one.heat is hottest),
        often=_surest(actor.often, now.actor.often),
    )


def _done(actor: Actor) -> Done:
    done: Done = {}
    for access in actor.accesses:
        if access.weight > 0 and access.mask:
            done[_what(access)] = done.get(_what(access), 0.0) + access.weight
    return done


def _what(access: Access) -> tuple[str, bool, bool, bool]:
    return access.function, access.writes, access.reads, access.locks


def _surest(a: FrequentUse | None, b: FrequentUse | None) -> FrequentUse | None:
    """Of two estimates of one use what either has for often; paced or chosen is what each that is sure has for it."""
    if a is None or b is None:
        return a
    fields = {name: getattr(a, name) | getattr(b, name) for name in FrequentUse.__struct_fields__}
    for name, of in (("paced_writes", "sure_writes"), ("paced_uses", "sure_uses"), ("chosen_writes", "sure_writes")):
        fields[name] &= (getattr(a, name) | ~getattr(a, of)) & (getattr(b, name) | ~getattr(b, of))
    return FrequentUse(**fields)
