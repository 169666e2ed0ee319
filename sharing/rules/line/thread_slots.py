"""Per-thread slots packed into one line.

What it does: finds a small array whose elements are smaller than a line and are updated, at an index that the
code computes, by functions that several threads run in loops.

Why is this bad?  Giving each thread its own element avoids locks but not the line: eight counters of eight bytes
are one line that all eight threads write.  It looks parallel and runs slower than one thread.

Example:

    static long hits[MAX_THREADS];
    void *worker(void *arg) { for (;;) hits[(long)arg]++; }

Use instead: an element type rounded up to the line.  The attribute belongs to the element; on the array it only
moves the first element.

    struct alignas(64) Slot { long hits; };
    static Slot slot[MAX_THREADS];

Larger elements meet where one ends and the next begins.  In a binary with debug information those are found of arrays
of records in static storage, or behind a static pointer, where each thread is handed an element as it starts or has its
number as the index, and where both ends are busy. So are elements with a lock each that is taken at a computed index,
behind any pointer whose type says so: these are medium at most where there are few of them in static storage, else low.
Records that threads are handed one each, and of which the program allocates one after another, are low: debug
information says what the threads' argument points to, and plain stores under no lock that each of them has its own.
So are small records, however threads come to them, that one loop allocates or code takes out of an array, where several
threads change a member of them under no lock and no others look at it.

In a binary with debug information so are small elements of arrays on the heap that code chooses by data (low), in an
object with a lock or an atomic or behind a static pointer, but not where a loop goes from one to the next. A number
that is loaded from what each thread is handed is the thread's own.

An index that comes from thread-local storage, or in source from a function that tells the number of the running thread
or processor (`sched_getcpu`, `omp_get_thread_num`, `rte_lcore_id`) or from what is named after it (`worker_id`, and
`id` of a `struct worker` that the function was given), makes the element the thread's own: then it needs no further
sign. So does a number that a thread takes from a counter as it begins (`my = next++` under a lock, `fetch_add(1)`), and
in source the number of a round where OpenMP's threads share out as many rounds as there are threads. An array within an
object that is a thread's own is none of threads, and of source it is a note at indexes that data chooses in objects
that the threads which use them allocate, and behind pointers of objects that are one thread's each. In a binary thread-
local storage is seen within a function and what is inlined there, and in what a small function returns that does
nothing else. A pointer in thread-local storage that each thread sets once to an element makes that element its own as
well.

Of a stripped binary nothing says how large an array is. Where more than 16 KiB behind its first element are named by no
code, it is a table, as larger arrays with a size are.

An array whose declaration asks for the alignment of a line, and whose elements are smaller, is meant to keep threads
apart: such a finding of a binary with debug information is as severe as `array-aligned-not-element` is of source.

An array in which code of a binary changes a bit that it chooses by number (`bts`, `word |= 1 << n`) is a set of bits:
its words are no thread's, unless the index is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sharing.knowledge.slotwords import names_slots
from sharing.model.finding import Severity, Verdict
from sharing.model.image import ALLOCATED
from sharing.model.profile import Access, Actor, Heat, LineProfile
from sharing.rules import numbers
from sharing.rules.declared import aligned_as_a_whole, aligned_text, grade_declared
from sharing.rules.line.base import (
    Context,
    Draft,
    LineRule,
    by_several,
    by_threads,
    heat_evidence,
    who,
)
from sharing.static.correlate import warm_element


@dataclass(frozen=True, slots=True)
class _Array:
    """Elements that code updates at a computed index; ``count`` is 0 where their number is not known."""

    name: str
    writers: tuple[Access, ...]
    stride: int
    count: int

    @property
    def own(self) -> bool:
        """Is the index the number of the running thread?"""
        return any(a.own for a in self.writers)

    def text(self) -> str:
        return f"{self.count} elements of {self.stride} bytes" if self.count else f"elements of {self.stride} bytes"


def check(line: LineProfile, ctx: Context) -> Iterator[Draft]:
    """1. arrays updated at an unknown index; 2. few elements below a line; 3. by threads of one kind, no texts."""
    for actor in line.actors:
        array = _array_of(actor, line, ctx.rooms)
        if array is None or _is_guarded(actor) or not by_several(array.writers, ctx):
            continue
        declared = aligned_as_a_whole(actor, ctx) and (array.own or _is_updated(actor, array.writers))
        severity = grade_declared(actor) if declared else _grade(actor, array, ctx)
        if severity is Severity.NOTE and _is_text(actor, array):
            continue
        each = "one at an index that it computes, perhaps its own"
        if array.own:
            each = "the one of its own thread number"
        elif actor.striped:
            each = "the one whose lock it has taken"
        yield Draft(
            rule=RULE.id,
            severity=severity,
            verdict=Verdict.FALSE_SHARING,
            line=line,
            actors=(actor,),
            separate=(actor,),
            message=(
                f"{array.name} is an array: {array.text()}, {_on_line(line.size, array.stride)}. Several threads run "
                f"{who(array.writers)}, and each updates {each}: threads that update neighbouring elements take the "
                f"line from each other"
            ),
            evidence=(
                heat_evidence(actor),
                f"threads: {', '.join(ctx.root_names(actor.mask(writers=True))[:4])}",
                *((aligned_text(actor),) if declared else ()),
            ),
            score=actor.write_weight,
            declared=declared,
        )


def _on_line(line_size: int, stride: int) -> str:
    many = line_size // stride
    return f"{many} per line" if many > 1 else "parts of 2 on a line"


def _is_guarded(actor: Actor) -> bool:
    """Not by what those hold who add up all elements: it is the updates that take the line.

    Nor by a lock that is chosen with the element: whoever chooses the next one has another lock.  One in the element
    itself stands for it: ``two-locks-one-line`` and ``thread-elements-meet`` tell of these.
    """
    of_element = any(lock.startswith((f"{actor.owner}[", f"{actor.owner}.")) for lock in actor.write_guards)
    return bool(actor.guards and actor.write_guards) and (of_element or not actor.striped)


def _array_of(actor: Actor, line: LineProfile, rooms: Mapping[str, int]) -> _Array | None:
    """The busy array of small elements that starts on this line: it is reported once.

    ``rooms`` says how many elements arrays on the heap have.
    """
    writers = tuple(a for a in actor.writers if a.stride and not a.cold and not a.locks and (a.atomic or not a.walks))
    stride = max((a.stride for a in writers), default=0)
    if not 0 < stride < line.size or any(a.bits and not a.own for a in writers):
        return None
    # The words of one lock, of which its own code chooses one, or what is behind it in its record, counted from there.
    if actor.kind and stride < actor.span[1] - actor.span[0]:
        return None
    # Of the elements together: which of them a line holds makes no difference here.
    surely = actor.often is not None and actor.often.sure_writes
    if not surely and sum(a.weight for a in writers) < warm_element():
        return None
    inside = actor.count > 1 and actor.span[1] - actor.span[0] >= numbers.MIN_SLOTS * stride  # an array in a record
    start, end = actor.span if inside else actor.owner_span
    if not inside and actor.stride == stride and actor.count * stride < end - start:  # one of records in a record
        inside, start, end = True, actor.span[0], actor.span[0] + actor.count * stride
    if not line.address <= start < line.end:
        return None
    name = (actor.array or actor.name) if inside else actor.owner
    # One record stands for those on the heap: an index says that there are several, not how many.
    if not actor.sized or (actor.section == ALLOCATED and stride >= end - start):
        # Nothing is said to be larger than it was seen to be, but memory that no code refers to is a table's.
        own = any(a.own for a in writers)
        is_table = not inside and actor.room > numbers.MAX_SLOTS_BYTES and not own
        # Of elements that data chooses it says nothing: tables have constant lengths as often.
        room = rooms.get(actor.identity, 0) if own and stride == end - start else 0
        return None if is_table else _Array(name, writers, stride, room if _are_few(room, room * stride) else 0)
    count = (end - start) // stride
    return _Array(name, writers, stride, count) if _are_few(count, end - start) else None


def _are_few(count: int, size: int) -> bool:
    return numbers.MIN_SLOTS <= count <= numbers.MAX_SLOTS and size <= numbers.MAX_SLOTS_BYTES


def _is_text(actor: Actor, array: _Array) -> bool:
    """Is it made of characters?  Who writes one goes on with the next: no thread has one of its own."""
    characters = actor.owner_type.startswith(("char[", "wchar_t["))
    return characters and not (array.own or names_slots(actor.owner) or any(a.atomic for a in array.writers))


def _grade(actor: Actor, array: _Array, ctx: Context) -> Severity:
    """By how sure it is that threads update elements of their own, and that they do so often."""
    writers, own = array.writers, array.own
    hinted = own or names_slots(actor.owner)
    updates = _is_updated(actor, writers)
    in_loop = any(a.loop_depth for a in writers)
    by_entry = _entry_writes(actor, writers, ctx)
    severity = Severity.HIGH if actor.write_heat is Heat.HOT and in_loop and updates else Severity.MEDIUM
    if not (hinted or updates) or not (array.count or own or (by_entry and in_loop)):
        # That there are several is not known, but where each thread uses its own.
        severity = severity.lowered(numbers.LESS)
    if severity is Severity.HIGH and _are_lines(actor, array, ctx):
        severity = Severity.MEDIUM
    anybodys = not hinted and bool(actor.mask(writers=True) & ctx.anybody)  # callers of a library choose the element
    if severity is Severity.HIGH and (not array.count or anybodys):
        severity = Severity.MEDIUM
    if not by_entry and not hinted:
        severity = severity.lowered(numbers.LESS)
    if not ctx.thread_mask and not own:
        severity = severity.lowered(numbers.LESS)  # no thread entry is known: the index is as likely anything else
    if all(a.walks for a in writers) and not own:
        severity = severity.lowered(numbers.LESS)  # elements of all threads: they themselves are shared as well
    if ctx.chosen and actor.write_heat is Heat.HOT:  # that there are several, and that code chooses one, is known
        severity = max(severity, Severity.LOW, key=lambda one: one.rank)
    if not own and not by_threads(actor, ctx):
        severity = severity.lowered(numbers.TO_NOTE)
    return severity


def _is_updated(actor: Actor, writers: tuple[Access, ...]) -> bool:
    """Does what writes elements go on from what is there?"""
    reading = {a.function for a in actor.readers if a.stride}
    return any(a.atomic or a.function in reading for a in writers)


def _are_lines(actor: Actor, array: _Array, ctx: Context) -> bool:
    """Is each on lines of its own, which are only fetched together with the next?  That costs less than sharing one."""
    own = ctx.own_line
    return bool(own) and array.stride % own == 0 and actor.owner_span[0] % own == 0


def _entry_writes(actor: Actor, writers: tuple[Access, ...], ctx: Context) -> bool:
    """A thread's own entry, or a loop that is its life, indexes the array: the index is most likely the thread's."""
    if actor.often is not None and actor.often.sure_writes & ctx.thread_mask:
        return True
    return any(a.function in ctx.root_names(a.mask) for a in writers)


RULE = LineRule(
    id="packed-thread-slots",
    among_objects=True,
    name="Per-thread slots packed into one line",
    summary="Elements of a small array, smaller than a line, are updated by several threads.",
    severity=Severity.MEDIUM,
    page=__doc__,
    check=check,
    per_object=1,
)
