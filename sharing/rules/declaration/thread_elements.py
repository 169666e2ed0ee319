"""Elements of threads meet on a line.

What it does: finds an array of records that threads use apart from each other, whose size is no multiple of a line or
that begins where an allocator or a linker puts it, and of which the end of one element and the beginning of the next
are both busy, beyond what makes and ends objects of the type.  An element is a thread's own where its index is the
number of the running thread, where its address is handed to a thread as it starts, where a function that runs on
several threads at once is handed one after the other, where a thread-local pointer or the pointer beside an event of
a thread's loop (``epoll_event.data.ptr``) leads to it, or where addresses of elements are given out one by one and
several threads change what they got without a lock (below a line only of arrays of a few, and of what is handed out
with the function that works on it in a loop); where other records have one of the type as a member, a pointer
to it says of no element that it is changed.  Who goes on from the element that it is handed to the next fills a part,
whose ends alone meet another's.  A thread's own is also what a pointer to an element at the thread's number leads
to, where it is returned or handed on.  Elements that have a lock each, or are locks, taken at an index or by
functions of their class or of a member's, are locked apart in order to be used apart; so are those with a word that
is changed with the memory order of taking a lock and again with that of giving it back.  And it finds records below a
line that one function allocates one after the other, of which each thread changes the one that the pointer at its
number leads to, or the one that it is started with, where nothing else is allocated between them; and those that
several threads change often under no lock, whatever leads them there.  It is less where
one of the two is a loop over all elements, which comes to each once under no lock, where threads are known to do
other things with elements far more often, or where few elements end at a place where the two meet.  Nothing is said
where all threads are known and no two of them run at once.

Why is this bad?  Each thread has an element of its own and still shares lines with its neighbours: those on which one
element ends and the next one begins.  Larger elements only make it rarer, and it comes and goes with each member.

Example:

    struct worker { unsigned long done; char name[56]; unsigned long failed; };   // 72 bytes
    static struct worker workers[MAX_THREADS];   // failed of one beside done of the next

Use instead: a type that is aligned to the line, which rounds its size up.

    struct worker { unsigned long done; char name[56]; unsigned long failed; } __attribute__((aligned(64)));
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import product

from sharing.basics.positions import steps_lost
from sharing.model.facts import RecordBits
from sharing.model.finding import Remedy, Severity, Verdict
from sharing.model.profile import Heat
from sharing.rules import numbers
from sharing.rules.declaration.base import (
    DeclarationRule,
    SourceContext,
    SourceDraft,
    SourceParticipant,
    aligned_record,
    related,
    rounded,
    users,
    wrapper,
)
from sharing.rules.declaration.element_ends import Begins, Place, begins_of, by_share, place_of, share_of
from sharing.rules.declaration.heap_alignment import aligns_itself
from sharing.rules.declaration.own_elements import Elements, array_places, own_elements
from sharing.rules.declaration.started_objects import loop_made_objects, started_objects, starts_threads
from sharing.source.declarations import element, language, record_of, shown_name, source_position
from sharing.source.program import Program
from sharing.source.rooms import in_vectors
from sharing.source.uses import Use

_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")


def check(program: Program, ctx: SourceContext) -> Iterator[SourceDraft]:
    """1. arrays with an element for each thread; 2. of no multiple of a line; 3. busy at both ends."""
    seen: set[str] = set()
    allocators = dict((*_in_vectors(program, ctx.line_size), *_allocators(program, ctx.line_size)))
    off_lines = {*allocators, *_in_records(program, ctx.line_size)}
    places = array_places(program)
    for found in own_elements(program, ctx):
        key, size = found.record.facts.key, found.record.facts.size
        if key in seen or size <= 0 or _one_at_a_time(program, found, ctx):
            continue
        begins = begins_of(program, found, off_lines, places.get(key, []), ctx.line_size)
        met = _meeting(program, found, size, places.get(key, []), begins, ctx)
        if met is not None:
            seen.add(key)
            arrays = list(dict.fromkeys(identity for identity, _ in places.get(key, [])))
            allocator = None if begins.linked else allocators.get(key, "")
            draft = _draft(program, ctx, found, *met, allocator, arrays[0] if len(arrays) == 1 else "")
            if not _of_own_elements(program, found, met, ctx):
                draft = dataclasses.replace(draft, severity=draft.severity.lowered(numbers.LESS))
            yield by_share(draft, share_of(size, *met, begins, ctx.line_size), begins)
    for small, leads, severity in (
        (_side_by_side, "each thread changes the one that the pointer at its number leads to", Severity.MEDIUM),
        (started_objects, "each thread changes the one that it is started with", Severity.MEDIUM),
        (loop_made_objects, "several threads change them under no lock", Severity.LOW),
    ):
        for found, api, maker in small(program, ctx):
            if found.record.facts.key not in seen and not _one_at_a_time(program, found, ctx):
                seen.add(found.record.facts.key)
                yield dataclasses.replace(_draft_of_small(program, ctx, found, api, maker, leads), severity=severity)


def _one_at_a_time(program: Program, found: Elements, ctx: SourceContext) -> bool:
    """Is one thread alone known to use the elements, or one after the other?"""
    variable = program.variables.get(found.identity)
    return ctx.alone(found.identity, 0, variable.facts.type.size if variable else found.record.facts.size)


def _side_by_side(program: Program, ctx: SourceContext) -> Iterator[tuple[Elements, str, str]]:
    """Records below a line that one function allocates in a loop, of which each thread changes the one at its number.

    With what allocates them, and the name of that function.
    """
    made: dict[str, tuple[str, str]] = {}
    for defined in program.functions.values():
        for fact in defined.facts.allocations:
            record = program.record(defined.unit, fact.record)
            if record is None or not 0 < record.facts.size < ctx.line_size or aligns_itself(fact):
                continue
            uses = ctx.uses.of_record(record.facts.key)
            in_loop = any(u.function == defined.facts.name and u.loop_depth and u.writes for u in uses)
            if in_loop and max(fact.guarantee, record.facts.align) < ctx.line_size:
                made.setdefault(record.facts.key, (fact.api, defined.facts.name))
    for key, (api, maker) in made.items():
        own = tuple(use for use in ctx.uses.of_record(key) if use.own and not use.stride and not use.new)
        busy = (u for u in own if u.writes and (u.loop_depth or ctx.heat(key, u.offset) is not Heat.COLD))
        if any(use.function != maker for use in busy):
            record = program.records[key]
            yield Elements(shown_name(record.facts), key, record, own), api, maker


def _allocators(program: Program, line_size: int) -> Iterator[tuple[str, str]]:
    """Keys of records that an allocator puts where it likes, with what it is called."""
    for defined in program.functions.values():
        for fact in defined.facts.allocations:
            record = program.record(defined.unit, fact.record)
            if record is not None and max(fact.guarantee, record.facts.align) < line_size and not aligns_itself(fact):
                yield record.facts.key, fact.api


def _in_vectors(program: Program, line_size: int) -> Iterator[tuple[str, str]]:
    """Keys of records that std::vector holds, whose allocator knows no more alignment than the type has."""
    held = in_vectors(program)
    for key, record in program.records.items():
        if record.facts.name in held and record.facts.align < line_size:
            yield key, "std::vector"


def _in_records(program: Program, line_size: int) -> Iterator[str]:
    """Keys of records of which others that need not begin on a line have an array."""
    for whole in program.records.values():
        if whole.facts.align >= line_size or whole.facts.bits & RecordBits.SYSTEM:
            continue  # std::array begins where its variable or member does, which is not known here
        for member in whole.facts.members:
            inner, count = element(member.type)
            record = record_of(program, whole.unit, inner)
            if record is not None and count > 1:
                yield record.facts.key


def _meeting(
    program: Program, found: Elements, size: int, places: list[tuple[str, int]], begins: Begins, ctx: SourceContext
) -> tuple[Use, Use] | None:
    """A use of an element's end and one of its beginning that can be on a line, both busy, one of them writing.

    What a pointer to an element does makes the variable busy at ``places`` where it is known to be one of its elements.
    """
    if not begins.offsets:
        return None
    where = ((found.identity, 0), *(places if found.identity == found.record.facts.key else ()))
    busy = [
        use
        for use in found.uses
        if not use.new
        and not _makes_or_ends(use.function)
        and not any(ctx.idle(identity, at + use.offset, use.function) for identity, at in where)
        and (
            use.loop_depth > use.walks  # a loop that goes through the elements comes to each once
            or any(ctx.heat(identity, at + use.offset) is not Heat.COLD for identity, at in where)
            or (_of_system(found) and use.locks and _runs_often(program, use.function, ctx))
        )
    ]
    functions: dict[Place, set[str]] = defaultdict(set)
    for use in busy:
        functions[place_of(use)].add(use.function)
    met = {
        (end, begin)
        for end, begin in product(functions, functions)
        if (end.writes or begin.writes)
        and (found.locked or not end.under & begin.under)
        and share_of(size, end, begin, begins, ctx.line_size)
    }
    if not met:
        return None
    often = _often(program, set().union(*(functions[place] for pair in met for place in pair)), ctx)
    walked = {(use.function, use.loop_depth) for use in found.uses if use.walks}  # of taking a lock nothing else tells
    told: dict[tuple[Place, bool, bool], Use] = {}  # of uses that say the same the first is named
    for use in busy:
        told.setdefault((place_of(use), _is_steady(use, often), (use.function, use.loop_depth) not in walked), use)
    heat = {
        place: max(ctx.heat(identity, at + place.offset) for identity, at in where)
        for place in {place for pair in met for place in pair}
    }

    def said(pair: tuple[tuple[Place, bool, bool], tuple[Place, bool, bool]]) -> tuple[float, ...]:
        """Of several pairs the one that is named: where it decides the severity the likeliest, then what is hottest.

        What a loop does with one element after the other says less of how they are used than what uses one of them.
        """
        (end, *of_end), (begin, *of_begin) = pair
        share = share_of(size, end, begin, begins, ctx.line_size)
        likely = share if begins.linked else steps_lost(share) < numbers.MUCH_LESS
        (steady, apart), written = map(sum, zip(of_end, of_begin, strict=True)), end.writes + begin.writes
        return (likely, steady, written, apart, heat[end] + heat[begin], share)

    named = max((pair for pair in product(told, told) if (pair[0][0], pair[1][0]) in met), key=said)
    return told[named[0]], told[named[1]]


def _of_own_elements(program: Program, found: Elements, met: tuple[Use, Use], ctx: SourceContext) -> bool:
    """Is each of the two what threads do again and again with one element?

    Where it is known of some of what is done that threads do it often, the rest is what they do seldom.
    """
    if found.locked and any(map(_goes_through, met)):
        return False
    often = _often(program, {use.function for use in found.uses}, ctx)
    return True not in often.values() or all(_is_steady(use, often) for use in met)


def _is_steady(use: Use, often: dict[str, bool]) -> bool:
    return often.get(use.function, use.loop_depth > _goes_through(use))


def _goes_through(use: Use) -> bool:
    """Does a loop come there to each of the elements once, under no lock that says whose it is for the time being?"""
    return use.walks and use.loop_depth == 1 and not use.under


def _makes_or_ends(function: str) -> bool:
    """Is it a constructor or a destructor?  What these do, to what they move from as well, is no work on elements."""
    plain = function
    while plain != (plain := _TEMPLATE_ARGUMENTS.sub("", plain)):
        pass
    owner, _, name = plain.rpartition("::")
    return bool(owner) and (name.startswith("~") or name == owner.rpartition("::")[2])


def _of_system(found: Elements) -> bool:
    """Bare locks of a library: types of system headers are not judged as objects, so that they have no heat."""
    return bool(found.record.facts.bits & RecordBits.SYSTEM)


def _runs_often(program: Program, name: str, ctx: SourceContext) -> bool:
    return any(
        ctx.often(d.facts.symbol or d.facts.identity) for d in program.functions.values() if d.facts.name == name
    )


def _often(program: Program, names: set[str], ctx: SourceContext) -> dict[str, bool]:
    """Of these functions, whether all that one does is done again and again, or none; the loops of others tell.

    What starts threads sets up what they are started with.
    """
    found: dict[str, bool] = {}
    for defined in program.functions.values():
        name = defined.facts.name
        if name in names and starts_threads(program, ctx, defined):
            found[name] = False
        elif name in names and ctx.often(defined.facts.symbol or defined.facts.identity):
            found.setdefault(name, True)
    return found


def _draft_of_small(
    program: Program, ctx: SourceContext, found: Elements, api: str, maker: str, leads: str
) -> SourceDraft:
    """``leads`` says which object is a thread's own, or that each has others."""
    facts, unit = found.record.facts, found.record.unit
    spoken, each = language(program, unit), rounded(facts.size, ctx.line_size)
    written = tuple(use for use in found.uses if use.writes)
    advice = "" if api.startswith(("new", "std::")) else f", and allocate it with aligned_alloc, as {api} does not know"
    mine = SourceParticipant(
        found.name,
        0,
        facts.size,
        "object of a thread",
        source_position(program, unit, facts),
        found.identity,
        found.name,
        found.uses,
    )
    return SourceDraft(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        verdict=Verdict.FALSE_SHARING,
        participants=(mine,),
        message=(
            f"{found.name} has {facts.size} bytes, of which {maker} allocates one after the other, and {leads}, by "
            f"{users(written)}: allocators put objects of one size side by side, so that neighbours share a line: "
            f"align the type{advice}"
        ),
        evidence=(f"{facts.size} bytes each, {each} in whole lines",),
        remedies=(
            _padded(
                f"align {found.name} to {ctx.line_size} bytes, which rounds it up to {each} bytes{advice}",
                aligned_record(found.name, spoken, ctx),
                spoken,
                each - facts.size,
            ),
        ),
        score=float(len(found.uses)),
        related=related(found.name, found.uses),
    )


def _draft(
    program: Program,
    ctx: SourceContext,
    found: Elements,
    end: Use,
    begin: Use,
    allocator: str | None,
    array: str,
) -> SourceDraft:
    """``allocator``: what puts the elements where it likes, "" where that is not known, None for a linker.

    ``array``: the one variable that has elements of the type, if there is one: its name says more.
    """
    facts, unit = found.record.facts, found.record.unit
    spoken, each = language(program, unit), rounded(facts.size, ctx.line_size)
    bare = _of_system(found)
    source = begin.source if bare else source_position(program, unit, facts)
    role = "element with a lock" if found.locked else "element of a thread"
    advice = f", which rounds it up to {each} bytes" if each > facts.size else ""
    if allocator and not allocator.startswith(("new", "std::")):  # which ask the type
        advice += f", and allocate it with aligned_alloc, as {allocator} does not know of it"
    elif each == facts.size:
        advice += "" if allocator is None else ", and allocate it so"

    name = found.name
    if array and found.identity == facts.key:
        declared = program.variables[array]
        name, source = declared.facts.name, source_position(program, declared.unit, declared.facts)

    def part(use: Use) -> SourceParticipant:
        return SourceParticipant(name, use.offset, max(use.size, 1), role, source, found.identity, found.name, (use,))

    return SourceDraft(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        verdict=Verdict.FALSE_SHARING,
        participants=(part(end), part(begin)),
        line_at=end.offset,
        message=_message(found, end, begin, advice, ctx),
        evidence=(
            f"{facts.size} bytes each, {each} in whole lines",
            *((f"{name} is the array of them in static storage",) if name != found.name else ()),
            *((found.why,) if found.why else ()),
        ),
        remedies=(
            _padded(
                f"{'wrap' if bare else 'align'} {found.name} to {ctx.line_size} bytes{advice}",
                wrapper(_unqualified(found.name), found.name, spoken, ctx)
                if bare
                else aligned_record(found.name, spoken, ctx),
                spoken,
                each - facts.size,
            ),
        ),
        score=float(len(found.uses)),
        related=related(found.name, (end, begin)),
    )


def _padded(text: str, edit: str, spoken: str, added: int) -> Remedy:
    """Elements of whole lines; ``added`` bytes each."""
    return Remedy(
        kind="pad-element",
        text=text,
        edit=edit,
        language=spoken,
        cost_bytes=added,
        breaks_abi=False,
        protects_tail=True,
        objects=0,
        each_bytes=added,
    )


def _message(found: Elements, end: Use, begin: Use, advice: str, ctx: SourceContext) -> str:
    size = found.record.facts.size
    if _of_system(found):
        taken = tuple(use for use in found.uses if use.locks)
        return (
            f"elements of {found.name}, {size} bytes each, are taken at a computed index by {users(taken)}: a line of "
            f"{ctx.line_size} bytes holds parts of {-(-ctx.line_size // size)} of them, so threads that take different "
            f"elements still take the line from each other: give the elements a type that aligns them{advice}"
        )
    why = "each element a lock of its own" if found.locked else "each thread an element of its own"
    return (
        f"{found.name} has {size} bytes, and {why}: the end of one, {_verb(end)} by {users((end,))}, shares a line "
        f"with the beginning of the next, {_verb(begin)} by {users((begin,))}: align the type{advice}"
    )


def _unqualified(name: str) -> str:
    return name.partition("<")[0].rpartition("::")[2]


def _verb(use: Use) -> str:
    return "locked" if use.locks else "written" if use.writes else "read"


RULE = DeclarationRule(
    id="thread-elements-meet",
    among_objects=True,
    name="Elements of threads meet on a line",
    summary="An array has an element for each thread, whose size is no multiple of a line: neighbours share a line.",
    severity=Severity.MEDIUM,
    page=__doc__,
    check=check,
    said_by=frozenset({"packed-thread-slots"}),
)
