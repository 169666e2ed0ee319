"""Records behind pointers, as on the heap, that were laid out anew: members and elements of them that meet on a line.

Owns the comparison of what threads' code reaches through pointers in two builds, and the cause that is made of it.
Such memory has no address in a file: two members meet at some of the places where an object may begin, and what no
debug information says of a record is not shown, never excluded.  Reading accesses is the reader's; what profiles see of
such memory is ``seenmemory``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from sharing.basics.naming import without_internals
from sharing.explain import numbers
from sharing.explain.causes.base import Builds, Verdicts, first_of, quoted
from sharing.explain.causes.layout import OF_A_SERVER
from sharing.explain.records import Record, laid_out_anew
from sharing.model.comparison import Cause, CauseKind, RuledOut
from sharing.model.finding import Confidence

MAX_CAUSES = 3
MAX_PATHS = 64  # members of one record that are paired


@dataclass(frozen=True, slots=True)
class Touch:
    """What one function does to the bytes [offset, offset + extent) of what a pointer leads to.

    ``row`` is the function's, ``mask`` are the threads that run it; ``record`` and ``path`` are "" where no debug
    information says what is there.
    """

    row: int
    function: str
    mask: int
    record: str
    path: str
    offset: int
    extent: int
    writes: bool
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Reach:
    """All of one build, as far as code that threads run often does it, and the records that it reaches, by name."""

    touches: tuple[Touch, ...] = ()
    records: Mapping[str, Record] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Behind:
    """The causes, and why the layout of such memory is not excluded, "" where nothing says that it changed."""

    causes: tuple[Cause, ...] = ()
    unshown: str = ""


@dataclass(frozen=True, slots=True)
class _Met:
    names: tuple[str, str]
    record: str
    functions: tuple[str, ...]
    now: float  # share of the places where an object may begin
    before: float


def nothing_behind(builds: Builds) -> Behind:
    """Where nobody reads what is behind pointers."""
    return Behind()


def with_behind(verdicts: Sequence[Verdicts], found: Behind) -> list[Verdicts]:
    """What the suspects say, with these causes; the layout is not ruled out where that of such memory is not shown."""
    worse = any(not cause.improves for cause in found.causes)
    out = [Verdicts(found.causes)] if found.causes else []
    for one in verdicts:
        layout = [r for r in one.ruled_out if r.kind is CauseKind.LAYOUT]
        if not layout or not (worse or found.unshown):
            out.append(one)
            continue
        rest = tuple(r for r in one.ruled_out if r.kind is not CauseKind.LAYOUT)
        open_ = () if worse else (RuledOut(CauseKind.LAYOUT, f"{found.unshown}; else {layout[0].why}"),)
        out.append(replace(one, ruled_out=rest, not_ruled_out=(*one.not_ruled_out, *open_)))
    return out


Bytes = tuple[int, int]
Concurrent = Callable[[int, int], bool]


def behind(builds: Builds, old: Reach, new: Reach) -> Behind:
    """What of the records that both builds reach became worse, and what better."""
    causes = []
    for here, there, improves in ((new, old, False), (old, new, True)):
        activity = builds.old if improves else builds.new
        if activity.context is None:
            continue
        found = _met(here, there, activity.context.concurrent, builds.line_size)
        causes += [_cause(one, old, new, builds, improves=improves) for one in found[:MAX_CAUSES]]
    return Behind(tuple(causes), "" if any(not c.improves for c in causes) else _unshown(builds, old, new))


def _met(here: Reach, there: Reach, concurrent: Concurrent, line_size: int) -> list[_Met]:
    """Members, and neighbouring records, that share a line at more places here than there; the most certain first."""
    out = []
    for name in here.records.keys() & there.records.keys():
        used = _by_path(here, name)
        pairs = [_pair(name, one, other, here, there, concurrent, line_size) for one, other in combinations(used, 2)]
        found = [pair for pair in pairs if pair is not None]
        if not found and (neighbours := _neighbours(name, used, here, there, concurrent, line_size)) is not None:
            found = [neighbours]
        out += sorted(found, key=_certainty)[:1]
    return sorted(out, key=_certainty)


def _certainty(met: _Met) -> tuple[float, str, tuple[str, str]]:
    return met.before - met.now, met.record, met.names


def _by_path(reach: Reach, record: str) -> dict[str, list[Touch]]:
    out: dict[str, list[Touch]] = {}
    for touch in reach.touches:
        if touch.record == record and touch.path and (touch.path in out or len(out) < MAX_PATHS):
            out.setdefault(touch.path, []).append(touch)
    return out


def _pair(
    name: str, one: str, other: str, here: Reach, there: Reach, concurrent: Concurrent, line_size: int
) -> _Met | None:
    """Two members that threads use apart from each other, one of them to write it."""
    touches = _by_path(here, name)
    a, b = touches[one], touches[other]
    functions = {t.function for t in a}, {t.function for t in b}
    if functions[0] == functions[1]:
        return None  # what is used together is fetched together, and is as likely each thread's own
    if not (_disturbs(a, b, concurrent) or _disturbs(b, a, concurrent)):
        return None
    sizes = max(t.extent for t in a), max(t.extent for t in b)
    places = [
        _share((side.members[one], side.members[one] + sizes[0]), (side.members[other], side.members[other] + sizes[1]),
               line_size) if one in side.members and other in side.members else None
        for side in (here.records[name], there.records[name])
    ]  # fmt: skip
    now, before = places
    if now is None or before is None or now <= before:
        return None
    return _Met((f"{name}.{one}", f"{name}.{other}"), name, tuple(sorted(functions[0] | functions[1])), now, before)


def _disturbs(writers: Iterable[Touch], users: Iterable[Touch], concurrent: Concurrent) -> bool:
    """Whether one thread writes where another function of another thread comes."""
    return any(w.writes and w.function != u.function and concurrent(w.mask, u.mask) for w in writers for u in users)


def _neighbours(
    name: str, used: Mapping[str, list[Touch]], here: Reach, there: Reach, concurrent: Concurrent, line_size: int
) -> _Met | None:
    """Two records one behind the other, which several threads write."""
    touches = [t for some in used.values() for t in some]
    writers = sorted({t.function for t in touches if t.writes and concurrent(t.mask, t.mask)})
    sizes = here.records[name].size, there.records[name].size
    if not writers or sizes[0] == sizes[1] or min(sizes) <= 0:
        return None
    places = []
    for side, size in zip((here.records[name], there.records[name]), sizes, strict=True):
        spans = [(side.members[t.path], side.members[t.path] + t.extent) for t in touches if t.path in side.members]
        if not spans:
            return None
        low, high = min(s for s, _ in spans), max(e for _, e in spans)
        places.append(_share((low, high), (low + size, high + size), line_size))
    if places[0] - places[1] < numbers.HEAP_LIKELY:
        return None
    return _Met((f"{name}", f"{name}"), name, tuple(writers), places[0], places[1])


def _share(one: Bytes, other: Bytes, line_size: int) -> float:
    """At how many of the places where an allocator may begin an object two stretches of it have a line in common."""
    starts = range(0, line_size, numbers.HEAP_STEP)
    met = sum(bool(_lines(one, start, line_size) & _lines(other, start, line_size)) for start in starts)
    return met / len(starts)


def _lines(stretch: Bytes, start: int, line_size: int) -> set[int]:
    return set(range((start + stretch[0]) // line_size, (start + stretch[1] - 1) // line_size + 1))


def _cause(met: _Met, old: Reach, new: Reach, builds: Builds, *, improves: bool) -> Cause:
    first, second = (quoted(without_internals(name)) for name in met.names)
    elements = first == second
    whom = f"two {first} one behind the other" if elements else f"{first} and {second}"
    paths = [name.removeprefix(f"{met.record}.") for name in met.names] if not elements else []
    relaid = laid_out_anew(old.records[met.record], new.records[met.record], paths)
    share = f"{100 * met.now:.0f} % of the places where one may begin, {'now' if improves else 'before'} at " \
            f"{100 * met.before:.0f} %"  # fmt: skip
    verb = "shared" if improves else "may now share"
    strength = numbers.MET_LOW
    if not elements and met.now - met.before >= numbers.HEAP_LIKELY:
        strength = numbers.MET_MEDIUM
    slower = builds.programs[0] if improves else builds.programs[1]
    return Cause(
        kind=CauseKind.LAYOUT,
        confidence=Confidence.STATIC,
        strength=strength,
        summary=f"{relaid}; {whom} {verb} a line at {share}; touched by {first_of(met.functions)}",
        symbols=tuple(dict.fromkeys(met.names)),
        evidence=(f"touched by {', '.join(met.functions)}", "which objects threads share is not known of the heap"),
        improves=improves,
        confirm=f"perf c2c record -a -- {slower} ({OF_A_SERVER}); perf c2c report --stdio: HITM in {met.functions[0]}; "
        f"where linemate doctor finds no sampling of memory: linemate record -- {slower}",
        refute=f"rebuild with {met.names[0]} alone on its line, then perf stat -r 10 -- {slower}: still slow",
    )


def _unshown(builds: Builds, old: Reach, new: Reach) -> str:
    """Records in use whose members moved, or functions that reach through pointers to other offsets."""
    moved = []
    for name in sorted(old.records.keys() & new.records.keys()):
        used = {t.path for t in new.touches if t.record == name and t.path}
        one, other = old.records[name].members, new.records[name].members
        if any(path in one and path in other and one[path] != other[path] for path in used):
            moved.append(name)
    if moved:
        return f"{first_of(moved)}, which threads use behind pointers, {_was(moved)} laid out anew"
    functions = _elsewhere(builds, old, new)
    if not functions:
        return ""
    return (
        f"{first_of(functions)}, which threads run, {'uses' if len(functions) == 1 else 'use'} memory behind pointers "
        "at other offsets than before: how records there are laid out takes debug information to tell"
    )


def _was(names: list[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _elsewhere(builds: Builds, old: Reach, new: Reach) -> list[str]:
    """Functions of both builds that use other offsets of what no debug information describes."""
    sides: list[dict[int, set[int]]] = []
    names: dict[int, str] = {}
    for reach, of in ((old, builds.functions.of_old), (new, builds.functions.of_new)):
        offsets: dict[int, set[int]] = {}
        for touch in reach.touches:
            if not touch.record:
                pair = int(of[touch.row])  # all that have no partner are compared together
                offsets.setdefault(pair, set()).add(touch.offset)
                names[pair] = touch.function
        sides.append(offsets)
    return [names[pair] for pair in sides[1] if pair in sides[0] and sides[0][pair] != sides[1][pair]]
