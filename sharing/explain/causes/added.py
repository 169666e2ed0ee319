"""Added data on lines that others use: the words, and whether the functions that use it do anything else than before.

Owns the join of pairs with the functions that use what was added.  How functions are compared is ``uses``'; strengths
are ``layout``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sharing.basics.naming import readable_names
from sharing.explain.causes.base import Builds, Use, first_of, quoted
from sharing.explain.linepairs import LinePair
from sharing.explain.mates import MISSING
from sharing.explain.members import Members
from sharing.explain.reported import added_to
from sharing.model.plural import count

MAX_USES = 6  # that are told


def only_used(builds: Builds, pair: LinePair) -> bool:
    """Whether all functions that use the added one of a pair while threads run do nothing else than before."""
    mine = [use for use in builds.uses if set(use.of) & set(_of(pair))]
    alone = {use.name for use in mine if use.alone}
    busy = {
        name for one, names in zip(_both(pair), pair.busy_users, strict=True) if _is_added(one, pair) for name in names
    }
    return bool(pair.added) and bool(busy) and busy <= alone


def accounted(builds: Builds) -> dict[int, Use]:
    """Functions, by rows of the new build, whose change is nothing but the use of added data that shares lines.

    Data of which the pair is no plausible cause leaves its functions to the suspect of changed code.
    """
    shared = {name for pair in added_to(builds.gained.pairs) if only_used(builds, pair) for name in _of(pair)}
    return {use.row: use for use in builds.uses if use.alone and set(use.of) <= shared}


def use_of_added(builds: Builds, shown: Sequence[LinePair]) -> tuple[str, ...]:
    """What functions now do besides what they did."""
    names = {name for pair in shown for name in _of(pair)}
    out = []
    for use in builds.uses:
        if not names & set(use.of):
            continue
        rest = "is else as before" if use.alone else "changed otherwise as well"
        out.append(f"{use.name} now also {_does(use, names)}, and {rest}")
    more = (f"{count(len(out) - MAX_USES, 'function')} more that use it",) if len(out) > MAX_USES else ()
    return (*out[:MAX_USES], *more)


def told_of_added(builds: Builds, lead: LinePair, *, improves: bool) -> str:
    """What was added, who uses it, and with whom it shares the line; or what is done with two that shared it."""
    first, second = _both(lead)
    users = dict(zip((first, second), lead.busy_users, strict=True))
    pair, line = f"{quoted(first)} and {quoted(second)}", lead.mates.line
    if lead.used:
        return f"{pair} share line {line} in both builds; {_told_of_use(builds, lead, improves=improves)}"
    others = [name for name in (first, second) if not _is_added(name, lead)]
    if not others:
        what = f"{first_of(lead.added)} {_is(lead.added)} added, used by {_by(lead.mates.functions)}"
        return f"{what}; {pair} share line {line}"
    new = second if others == [first] else first
    return (
        f"{quoted(new)} is added, used by {_by(users[new])}; it now shares line {line} with {quoted(others[0])}, "
        f"used by {_by(users[others[0]])}"
    )


def _told_of_use(builds: Builds, lead: LinePair, *, improves: bool) -> str:
    """What one build alone does with a pair, by instructions; where these are alike, how often says an estimate."""
    if not lead.begun:
        how = "one of them too seldom to matter" if improves else "both often"
        return f"by estimate threads now use {how}: {_by(lead.mates.functions)}"
    shown = readable_names([one.function for one in lead.begun], builds.demangle)
    verbs = ("uses", "writes")
    said = [(shown[one.function], f"{verbs[one.writes]} {quoted(one.name)}") for one in lead.begun[:MAX_USES]]
    parts = [f"{quoted(who)} {'no longer' if improves else 'now also'} {what}" for who, what in said]
    return ", ".join(parts)


def in_one_build(builds: Builds, lead: LinePair, pairs: tuple[int, ...], *, improves: bool) -> list[str]:
    """What came into being, or is gone: variables, and members of variables that both builds have."""
    names = (lead.mates.first, lead.mates.second)
    whole = [quoted(name) for name, pair in zip(names, pairs, strict=True) if pair < 0]
    what = "gone" if improves else "new"
    parts = [f"{' and '.join(whole)} {'is' if len(whole) == 1 else 'are'} {what}"] if whole else []
    members: dict[int, list[str]] = {}
    for at in lead.alone:
        members.setdefault(pairs[at], []).append(names[at])
    for pair, found in members.items():
        owner = builds.variables.new.label(int(builds.variables.pairs["new"][pair]))
        inner = [name.removeprefix(owner).removeprefix(".") for name in dict.fromkeys(found)]
        parts += _told_of_members(builds, pair, inner, improves=improves)
    return parts


def _told_of_members(builds: Builds, pair: int, inner: Sequence[str], *, improves: bool) -> list[str]:
    """That a variable has these members in one build alone, and how large it became."""
    old, new = builds.variables.old, builds.variables.new
    row = int(builds.variables.pairs["new"][pair])
    owner, what = new.label(row), "gone" if improves else "new"
    before, after = int(old.size[builds.variables.pairs["old"][pair]]), int(new.size[row])
    names = [name for name in inner if name]  # a plain variable that became a record has none
    which = f"member{'s' if len(names) > 1 else ''} {first_of(names)}"
    if before != after:
        verb = "grew" if after > before else "shrank"
        told = f" ({what}: {which})" if names else ""
        return [f"{quoted(owner)} {verb} from {before:,} to {count(after, 'byte')}{told}"]
    return [f"{which} of {quoted(owner)} {'are' if len(names) > 1 else 'is'} {what}"] if names else []


def laid_anew(builds: Builds, lead: LinePair, pairs: tuple[int, ...], *, improves: bool) -> list[str]:
    """Of records whose members a pair is of and that are at another place in them: what one build alone has there."""
    owners = {one.owner for one in lead.relaid}
    parts = []
    for pair in dict.fromkeys(pairs):
        owner = builds.variables.new.label(int(builds.variables.pairs["new"][pair])) if pair >= 0 else ""
        if owner in owners and (inner := _members_alone(builds, pair, improves=improves)):
            parts += _told_of_members(builds, pair, inner, improves=improves)
    return parts


def _members_alone(builds: Builds, pair: int, *, improves: bool) -> list[str]:
    """The outermost members of a variable that one build alone has, under whichever name."""
    old, new, pairs = builds.variables.old, builds.variables.new, builds.variables.pairs
    sides = (old, int(pairs["old"][pair])), (new, int(pairs["new"][pair]))
    (there, partner), (here, row) = sides[::-1] if improves else sides
    kinds = [int(side.image.variables["type"][at]) for side, at in ((here, row), (there, partner))]
    if min(kinds) < 0:
        return []
    members, types = Members(here.image, there.image), (here.image.types, there.image.types)
    leaves, others = (side.flatten(kind) for side, kind in zip(types, kinds, strict=True))
    alone = [leaf.path.split(".") for leaf in leaves if members.offset(row, partner, leaf.offset) == MISSING]
    known = {tuple(path[:deep]) for path in (leaf.path.split(".") for leaf in others) for deep in range(len(path))}
    outer = (
        path[: next((d for d in range(1, len(path)) if tuple(path[:d]) not in known), len(path))] for path in alone
    )
    return list(dict.fromkeys(".".join(path) for path in outer))


def owners_alone(builds: Builds, lead: LinePair | None, pairs: tuple[int, ...]) -> list[str]:
    """The variables whose members one build alone has."""
    alone = lead.alone if lead is not None else ()
    return [builds.variables.new.label(int(builds.variables.pairs["new"][pairs[at]])) for at in alone]


def _does(use: Use, pairs: set[str]) -> str:
    """What it writes, what it only reads, and what it hands on, as locks; those of the ``pairs`` first."""
    of = sorted(use.of, key=lambda name: name not in pairs)
    parts = {
        "writes": [name for name in of if name in use.writes],
        "reads": [name for name in of if name in use.reads],
        "uses": [name for name in of if name not in use.writes | use.reads],
    }
    return " and ".join(f"{verb} {first_of(some)}" for verb, some in parts.items() if some)


def _by(functions: Iterable[str]) -> str:
    return first_of(list(functions)) or "no function that is known"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _both(pair: LinePair) -> tuple[str, str]:
    return pair.mates.first, pair.mates.second


def _of(pair: LinePair) -> tuple[str, ...]:
    """The added ones as accesses name them: of an array its elements."""
    return tuple(name for name in _both(pair) if _is_added(name, pair))


def _is_added(name: str, pair: LinePair) -> bool:
    return name in pair.added or (pair.rows[0] == pair.rows[1] and any(name.startswith(one) for one in pair.added))
