"""Added data on lines that others use: the words, and whether the functions that use it do anything else than before.

Owns the join of pairs with the functions that use what was added.  How functions are compared is ``uses``'; strengths
are ``layout``'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sharing.basics.naming import readable_names
from sharing.explain.causes.base import Builds, Use, first_of, quoted
from sharing.explain.linepairs import LinePair
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
        out.append(f"{use.name} now also {_does(use)} {first_of(use.of)}, and {rest}")
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
        old, new = builds.variables.old, builds.variables.new
        row = int(builds.variables.pairs["new"][pair])
        owner = new.label(row)
        before, after = int(old.size[builds.variables.pairs["old"][pair]]), int(new.size[row])
        inner = [name.removeprefix(owner).removeprefix(".") for name in dict.fromkeys(found)]
        listed = ", ".join(quoted(name) for name in inner if name)  # a plain variable that became a record has none
        which = f"member{'s' if ',' in listed else ''} {listed}"
        if before != after:
            verb = "grew" if after > before else "shrank"
            told = f" ({what}: {which})" if listed else ""
            parts.append(f"{quoted(owner)} {verb} from {before:,} to {count(after, 'byte')}{told}")
        elif listed:
            parts.append(f"{which} of {quoted(owner)} {'are' if ',' in listed else 'is'} {what}")
    return parts


def owners_alone(builds: Builds, lead: LinePair | None, pairs: tuple[int, ...]) -> list[str]:
    """The variables whose members one build alone has."""
    alone = lead.alone if lead is not None else ()
    return [builds.variables.new.label(int(builds.variables.pairs["new"][pairs[at]])) for at in alone]


def _does(use: Use) -> str:
    return "writes" if use.writes else "reads"


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
