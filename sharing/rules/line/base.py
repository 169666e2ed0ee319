"""What rules on lines of an image are made of: their context, their result, and how heat becomes severity.

Owns no pattern of its own.  A rule is a pure function from a line profile to drafts; merging, naming and
remedies happen in ``sharing.judge.static``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from sharing.basics import numbers as shared
from sharing.basics.naming import with_kind
from sharing.model.finding import Confidence, Severity, Verdict
from sharing.model.plural import count, named
from sharing.model.profile import Access, Actor, Heat, LineProfile, Range, Role, Spot
from sharing.rules import numbers
from sharing.rules.purposes import purpose
from sharing.rules.row import Rule


class Span(Enum):
    """What a rule looks at: a line, a pair of lines that are moved together, a line with both neighbours."""

    LINE = "line"
    PAIR = "pair"
    WINDOW = "window"


class Most(NamedTuple):
    """How severe a finding about two of a record on the heap is at most, about a lock and what stands beside it, and
    about elements of an array in it of which nothing says that they are of threads."""

    of_two: Severity
    beside_lock: Severity
    of_elements: Severity


@dataclass(frozen=True, slots=True)
class Context:
    """What rules may know besides the line.

    ``concurrent`` says whether code under two root masks can run at the same time, ``thread_mask`` which roots are
    thread entries that are seen (not main, not "anything exported"), ``anybody`` those of threads that start elsewhere,
    ``perhaps_many`` those of which nothing that was seen starts a second thread, ``root_names`` what a mask stands for,
    ``shift_step`` by how many bytes an edit elsewhere may move two. ``of_any`` is what may be said of records on the
    heap where one object stands for all of its type; None where each is known. ``own_line`` is the architecture's line
    where one of more bytes was asked for, as for lines fetched in pairs, else 0. ``at_one_time`` says whether anything
    tells that one object of two members is with several threads at once. ``of_threads`` are identities of records of
    which each thread of a kind is handed another one, ``behind_own`` those to which only such objects lead, ``rooms``
    says how many of a record all arrays have, ``made_by`` which roots make its objects, ``owned_by`` which own one
    each. ``of_source``: rules on declarations judge the program as well. ``chosen``: each array is known to have
    several elements, of which code chooses one, the same for all threads.
    """

    line_size: int
    pair_size: int
    confidence: Confidence
    concurrent: Callable[[int, int], bool]
    thread_mask: int
    root_names: Callable[[int], tuple[str, ...]]
    shift_step: Callable[[Actor, Actor], int]
    anybody: int = 0
    perhaps_many: int = 0
    of_any: Most | None = None
    own_line: int = 0
    at_one_time: Callable[[Actor, Actor], bool] | None = None
    of_threads: frozenset[str] = frozenset()
    behind_own: frozenset[str] = frozenset()
    rooms: Mapping[str, int] = field(default_factory=dict)
    made_by: Mapping[str, int] = field(default_factory=dict)
    owned_by: Mapping[str, int] = field(default_factory=dict)
    of_source: bool = False
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before it is worded for a report: ``actors`` are in order of blame, ``separate`` need an edit.

    ``declared``: the program's own declaration says that several threads use what the actor is an element of.
    ``also``: drafts of the same line about other pairs, which one finding a line leaves no finding of their own.
    """

    rule: str
    severity: Severity
    verdict: Verdict
    line: LineProfile
    actors: tuple[Actor, ...]
    separate: tuple[Actor, ...]
    message: str
    evidence: tuple[str, ...]
    score: float
    counted: tuple[str, ...] = ()  # what exact counts say for it; then they are how it is known
    declared: bool = False
    also: tuple[Draft, ...] = ()


Check = Callable[[LineProfile, Context], Iterator[Draft]]


MAX_PER_OBJECT = 3  # findings about the inside of one variable
MAX_ROOTS = 4  # where threads begin, by name
MAX_OTHERS = 3  # of those that one actor disturbs, whose heat is explained


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRule(Rule):
    """A rule on lines of an image, and how many of its findings a report holds.

    Rules that are ``exclusive`` share one finding a line.  ``at_most`` bounds the findings in all (0: any number),
    ``per_object`` those about the inside of one variable; ``once_a_pair`` leaves out a pair that was named before.
    A ``specific`` rule says why a pair meets: exclusive rules that only see that it does give way to it.  One with
    ``of_one`` speaks of one variable, whatever shares its line.
    """

    check: Check
    span: Span = Span.LINE
    exclusive: bool = False
    at_most: int = 0
    per_object: int = MAX_PER_OBJECT
    once_a_pair: bool = False
    specific: bool = False
    of_one: bool = False


def grade(writer: Heat, victim: Heat) -> Severity:
    """Severity of hot bytes disturbed by writes, before the pattern's own discounts.

    WARM exists only in programs big enough to have busier places: two warm ones are co-location, no finding.  Of a
    warm one beside a hot one counts of such programs confirm none, however often the warm one is estimated to be used.
    """
    if writer is Heat.HOT and victim is Heat.HOT:
        return Severity.HIGH
    if Heat.COLD not in (writer, victim) and Heat.HOT in (writer, victim):
        return Severity.LOW
    return Severity.NOTE


def meets(a: Actor, b: Actor, line: LineProfile) -> bool:
    """Do bytes that ``a`` writes and other bytes that ``b`` touches lie on this line?"""
    return bool(a.hot_on(line.address, line.end)) and bool(b.touched_on(line.address, line.end)) and a.span != b.span


def can_collide(a: Actor, b: Actor, ctx: Context) -> bool:
    """Can one thread write ``a`` while another touches ``b``?  Not where each thread has an element with both.

    Nor where an object may go from thread to thread.
    """
    if ctx.at_one_time is not None and not ctx.at_one_time(a, b):
        return False
    # What nobody does any more while threads run, as constructors, says nothing.
    if a.owner == b.owner and all(x.own or not x.weight for x in a.writers + b.writers):
        # Threads of two kinds that are given numbers use the two ends of one element: a queue's, a connection's.
        told = all(x.told for x in a.accesses + b.accesses if x.weight and not x.cold)
        return told and _of_two_kinds(a, b) and ctx.concurrent(a.mask(writers=True), b.mask())
    if a.owner != b.owner:
        return ctx.concurrent(a.mask(writers=True), b.mask())
    # What each thread does to its own element meets nothing but what others do to any.
    return ctx.concurrent(_of_any(a.writers), b.mask()) or ctx.concurrent(a.mask(writers=True), _of_any(b.accesses))


def _of_any(accesses: Iterable[Access]) -> int:
    """Whose threads use elements that need not be their own."""
    mask = 0
    for access in accesses:
        mask |= 0 if access.own else access.mask
    return mask


def _of_two_kinds(a: Actor, b: Actor) -> bool:
    """Are these used by threads of different kinds, or each written by another, as the ends of a queue are that both
    look at?"""
    writers = a.mask(writers=True), b.mask(writers=True)
    return not a.mask() & b.mask() or (all(writers) and not writers[0] & writers[1])


def by_threads(actor: Actor, ctx: Context, *, reading: bool = False) -> bool:
    """Is it seen to be used by several threads?

    Programs are written to be free of data races.  Plain data that is written, under no lock, in code that any
    root may reach is then confined to one thread by some rule that the binary does not show.  Reading needs no
    such rule.
    """
    mask = actor.mask()
    if actor.synchronised or reading:
        return ctx.concurrent(mask, mask)
    mask = actor.mask(writers=True) or mask
    return not mask & ~ctx.thread_mask and ctx.concurrent(mask, mask)


def by_several(accesses: Iterable[Access], ctx: Context) -> bool:
    """Can these accesses be made by two threads at the same time?  Cold code and what nobody reaches is left out."""
    mask = 0
    for access in accesses:
        mask |= access.mask if access.weight > 0 and not access.cold else 0
    return ctx.concurrent(mask, mask)


def races(actor: Actor, ctx: Context) -> bool:
    """Is it plain data that code of several threads stores to under no lock, by the code alone?

    Without races a program does so seldom or from one thread, whatever reaches that code.  Counting is an exception.
    """
    mask = actor.mask(writers=True)
    plain = actor.role is Role.WRITTEN and not actor.synchronised and not any(a.stride for a in actor.writers)
    return plain and ctx.confidence is Confidence.STATIC and ctx.concurrent(mask, mask)


def overlapping(mask: int, a: Actor, b: Actor, ctx: Context) -> int:
    """The mask, 0 where none of these threads runs while another one uses either: as who makes an object, enters a
    parallel region and waits."""
    return mask if ctx.concurrent(mask, a.mask() | b.mask()) else 0


def doubt(a: Actor, b: Actor, ctx: Context, *, reading: bool = False) -> int:
    """Severity steps to take off: none where different threads certainly use the two, or both are shared data."""
    writing, other = a.mask(writers=True), b.mask(writers=True)
    if not overlapping(writing & b.mask(), a, b, ctx) or (other and not overlapping(writing & other, a, b, ctx)):
        return 0
    if disturbed_from_outside(a, b, ctx) or (other and not reading and disturbed_from_outside(b, a, ctx)):
        return 0
    shared = by_threads(a, ctx) + by_threads(b, ctx, reading=reading)
    if shared == 2:
        return 0
    one_is = shared and a.owner != b.owner and (a.synchronised or b.synchronised)
    return numbers.LESS if one_is else numbers.TO_NOTE


def disturbed_from_outside(writer: Actor, user: Actor, ctx: Context) -> bool:
    """Do threads write the one in their own loops that never use the other, or others use that and never write the one?

    To these it makes no difference which more threads come to both, nor whether only one of those does.
    """
    if writer.often is None or user.often is None:
        return False
    wrote, used = writer.often.sure_writes, user.often
    apart = used.sure_uses & ~writer.mask(writers=True)
    return ctx.concurrent(wrote & ~user.mask(), used.uses & ~ctx.anybody) or ctx.concurrent(wrote, apart)


def in_common(a: Actor, b: Actor, *, by_helpers: bool = False) -> float:
    """Share of the victim's weight in functions that also touch ``a``: that tells what belongs to what.

    ``by_helpers``: or call one that does, and nothing else that enters it; or are called by such alone.
    """
    users = a.functions | a.callers if by_helpers else a.functions
    if by_helpers:
        users |= {helper for helper, callers in b.helpers if callers <= users}
    total = sum(x.weight for x in b.accesses if not x.cold)
    both = sum(x.weight for x in b.accesses if not x.cold and x.function in users)
    return both / total if total else 0.0


def together(a: Actor, b: Actor, *, by_helpers: bool = False) -> float:
    """Share of the victim's weight beside accesses to ``a`` of one run: used together, the line is fetched once.

    ``by_helpers``: or in functions that call one which uses ``a``.
    """
    total = both = 0.0
    for x in b.accesses:
        if not x.cold:
            total += x.weight
            helped = by_helpers and x.function in a.callers
            both += x.weight * (1.0 if helped else _beside(x, a.by_function.get(x.function, ())))
    return both / total if total else 0.0


def used_late(a: Actor, b: Actor) -> float:
    """Share of the victim's weight in functions to which the helpers that use ``a`` return a while after they did."""
    warm = [x for x in b.accesses if not x.cold]
    total = sum(x.weight for x in warm)
    return sum(x.weight for x in warm if x.function in a.late_callers) / total if total else 0.0


def used_again(a: Actor, b: Actor) -> float:
    """Share of the victim's weight in functions that use it in a loop around no change of ``a``, wherever made.

    The first use of many comes with the line; by the next ones others may have taken it.
    """
    changes = max((x.weight for x in a.writers if not x.cold), default=0.0)
    around = {x.function: x.loop_depth for x in sorted(a.writers, key=lambda x: x.loop_depth) if not x.cold}
    total = again = 0.0
    for x in b.accesses:
        if not x.cold:
            total += x.weight
            inside = x.loop_depth > around.get(x.function, 0) and x.weight >= shared.LOOP_FACTOR * changes
            again += x.weight if inside else 0.0
    return again / total if total else 0.0


def written_together(a: Actor, b: Actor, *, by_helpers: bool = False) -> float:
    """Share of the writes to ``b`` beside writes to ``a`` of one run, ``by_helpers`` or of helpers that alone do so."""
    callers = _callers_of_writers(a) if by_helpers else frozenset()
    total = both = 0.0
    for x in b.writers:
        if not x.cold:
            total += x.weight
            near = [y for y in a.by_function.get(x.function, ()) if _is_write(y)]
            both += x.weight * (1.0 if x.function in callers else _beside(x, near))
    return both / total if total else 0.0


def _callers_of_writers(actor: Actor) -> frozenset[str]:
    """Functions that call those which write it; none where one of these is no helper."""
    writing = {x.function for x in actor.writers if not x.cold}
    helpers = {helper: callers for helper, callers in actor.helpers if helper in writing}
    return frozenset().union(*helpers.values()) if writing == helpers.keys() else frozenset()


def _is_write(access: Access) -> bool:
    return access.writes or access.locks


def _beside(access: Access, near: Sequence[Access]) -> float:
    """Share of an access's weight that one of the others of its function is near, on one way through it.

    What other threads do, or the same ones when they are further, is not: sections of a region, what a barrier parts.
    """
    near = [other for other in near if not access.mask or not other.mask or access.mask & other.mask]
    if not near or not access.spots or not all(other.spots for other in near):
        return float(bool(near))
    # What is done before threads start, or after they ended, is beside nothing that they do.
    points, most = [spot.at for other in near for spot in other.spots if spot.weight > 0], numbers.NEAR_BYTES
    total = both = 0.0
    for here, weight in access.spots:  # of all pairs of all lines, again after each edit: in plain loops
        total += weight
        for point in points:
            if -most <= point.ip - here.ip <= most and here.shares_way(point):
                both += weight
                break
    return both / total if total else 1.0


def changed_without(lock: Actor, data: Actor) -> float:
    """Share of the changes of ``data`` in functions that take the lock, in runs of them that do not come to take it.

    By where the two are and how often each is come to: before a return, on another arm, or behind one of several ways.
    """
    total = without = 0.0
    for x in data.writers:
        taking = [spot for y in lock.by_function.get(x.function, ()) for spot in y.spots]
        if x.cold or lock.name in x.under or not x.spots or not taking:
            continue
        for spot in x.spots:
            total += spot.weight
            # What one call does both changes the data under the lock, in whatever loops.
            if all(other.at.ip != spot.at.ip for other in taking):
                without += max(spot.weight - _on_its_ways(taking, spot), 0.0)
    return without / total if total else 0.0


def _on_its_ways(spots: Iterable[Spot], spot: Spot) -> float:
    """How often runs that come to ``spot`` come to one of the others as well: those of one way are one run's."""
    ways: list[Spot] = []
    for other in sorted(spots, key=lambda other: -other.weight):
        if other.at.shares_way(spot.at) and not any(other.at.shares_way(taken.at) for taken in ways):
            ways.append(other)
    return sum(other.weight for other in ways)


def maybe_one_object(a: Actor, b: Actor) -> bool:
    """No symbol tells the two apart, and what touches ``b`` touches ``a``: as likely members of one object."""
    return not a.sized and not b.sized and in_common(a, b) >= numbers.ONE_OBJECT


def elements_apart(a: Actor, b: Actor, accesses: tuple[Access, ...]) -> bool:
    """Both are places from which a computed index of these accesses starts, whole elements apart: one array.

    Two variables are none, nor are two members: an array of bytes is whole elements from everything on its line."""
    stride = max((x.stride for x in accesses), default=0)
    return stride > 0 and abs(a.span[0] - b.span[0]) % stride == 0 and not _told_apart(a, b)


def _told_apart(a: Actor, b: Actor) -> bool:
    """Do symbols or types say that these are two variables, or two members of one?"""
    one, other = (x.name[len(x.owner) :].partition("[")[0] for x in (a, b))
    members = one != other and one[:1] == other[:1] == "."
    return a.sized and b.sized and (a.owner != b.owner or members)


def span_text(actor: Actor, line: LineProfile) -> str:
    """The actor's touched bytes as offsets in the line: "bytes 0-15"; of a lock "bytes 0-19 (0-15 written)".

    What operations of a lock only read is disturbed by writes of others, and disturbs nobody.
    """
    parts = offsets(actor.touched_on(line.address, line.end), line.address)
    if not parts:
        return "no bytes"
    text = f"{'byte' if len(parts) == 1 and '-' not in parts[0] else 'bytes'} {', '.join(parts)}"
    written = offsets(actor.hot_on(line.address, line.end), line.address)
    if not actor.is_lock or written == parts:
        return text
    return f"{text} ({', '.join(written)} written)" if written else f"{text} (only read)"


def offsets(ranges: Iterable[Range], base: int) -> list[str]:
    """Ranges as offsets, first and last byte: those that touch as one."""
    merged: list[tuple[int, int]] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [f"{a - base}-{b - 1 - base}" if b - a > 1 else f"{a - base}" for a, b in merged]


def who(accesses: tuple[Access, ...], limit: int = 3) -> str:
    """Names of the functions, heaviest first: "a, b, c and 4 more".

    What does not run while threads do is left out of a list that is whole, and counted in one that is cut, so that the
    number is that of the table of who accesses what.
    """
    every = list(dict.fromkeys(a.function for a in accesses))
    names = list(dict.fromkeys(a.function for a in accesses if a.weight > 0)) or every
    return named(names, limit, len(every) if len(names) > limit else 0) or "no known function"


def describe(actor: Actor, *mates: Actor) -> str:
    """What an actor is, in the words of a finding that names ``mates`` as well."""
    return with_kind(actor.name, purpose(actor, *mates))


def roots_text(a: Actor, b: Actor, ctx: Context) -> str:
    names = ctx.root_names(a.mask() | b.mask())
    return named(names, MAX_ROOTS)


def others_likewise(number: int) -> str:
    """How many more objects of the line the named one stands for, behind what is said of it."""
    return f" ({count(number, 'more neighbour')} likewise)" if number else ""


def heat_evidence(actor: Actor) -> str:
    """Why an actor counts as hot: functions, sites, loops, writes.  Never a measurement.

    Functions that rarely run do not make it hot; how many these are is said, so that the numbers of a report add up.
    """
    warm = [a for a in actor.accesses if not a.cold]
    running = {a.function for a in warm}
    functions = len(running)
    rarely = len({a.function for a in actor.accesses} - running)
    sites = sum(a.sites for a in warm)
    depth = max((a.loop_depth for a in warm), default=0)
    atomic = any(a.atomic and (a.writes or a.locks) for a in warm)
    verbs = [
        word
        for word, on in (
            ("locked", bool(actor.lockers)),
            ("written", any(a.writes for a in warm)),
            ("read", any(a.reads for a in warm)),
        )
        if on
    ]
    loop = f"loop depth {depth}" if depth else f"no loop within {'it' if functions == 1 else 'them'}"
    how = f" ({'atomic, ' if atomic and not actor.is_lock else ''}{loop})"
    where = f"{count(sites, 'site')} in {count(functions, 'function')}"
    more = f", rarely in {rarely:,} more" if rarely and functions else ""
    return f"{actor.name}: {'/'.join(verbs) or 'accessed'} at {where}{how}{more}"


def evidence_of(first: Actor, others: Sequence[Actor], ctx: Context) -> tuple[str, ...]:
    """Why an actor and those that it disturbs, worst first, count as hot, and where their threads begin."""
    hot = (heat_evidence(actor) for actor in (first, *others[:MAX_OTHERS]))
    return *hot, f"threads: {roots_text(first, others[0], ctx)}"


def surely_meet(writer: Actor, user: Actor, ctx: Context) -> bool:
    """Does one thread's own loop surely write the one, and that of a concurrent thread use the other?

    Of equally bad pairs of a line this one says most: ``judge.severitylimit`` hides what merely could meet.
    """
    if writer.often is None or user.often is None:
        return False
    return ctx.concurrent(writer.often.sure_writes, user.often.sure_uses)


def meet_unpaced(writer: Actor, user: Actor, ctx: Context) -> bool:
    """Do they surely meet oftener than threads wait for each other?"""
    if writer.often is None or user.often is None:
        return False
    wrote, used = writer.often, user.often
    return ctx.concurrent(wrote.sure_writes & ~wrote.paced_writes, used.sure_uses & ~used.paced_uses)


def surely_meet_others(writer: Actor, user: Actor, ctx: Context) -> bool:
    """Do they surely meet also if of each thread that is perhaps several there is only one?"""
    if writer.often is None or user.often is None:
        return False
    wrote, used, alone = writer.often.sure_writes, user.often.sure_uses, ctx.perhaps_many
    if ctx.concurrent(wrote & ~alone, used) or ctx.concurrent(wrote, used & ~alone):
        return True
    bits = (1 << at for at in range((wrote & alone).bit_length()))
    return any(wrote & bit and ctx.concurrent(bit, used & ~bit) for bit in bits)


def pair_score(a: Actor, b: Actor) -> float:
    return min(a.write_weight, b.weight)
