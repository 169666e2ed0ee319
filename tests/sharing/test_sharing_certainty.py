"""How severe a finding may be, by which threads are seen to do what: each limit with what is just not enough for it."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from sharing.judge.severitylimit import limit, limited
from sharing.model.finding import Confidence, Severity, Verdict
from sharing.model.profile import Access, Actor, FrequentUse, Heat, LineProfile, Role
from sharing.rules.line.base import Context, Draft
from sharing.rules.meeting import BARELY, CALLERS, GUESSED, OF_EACH, SELDOM_CALLED, UNKNOWN

ONE, OTHER, MANY = 1, 2, 4  # two threads, and one of which several run


def concurrent(a: int, b: int) -> bool:
    return bool(a and b) and (bool(a & b & MANY) or a != b or a.bit_count() > 1)


CONTEXT = Context(64, 128, Confidence.STATIC, concurrent, 7, lambda mask: (), lambda a, b: 8)


def actor(often: FrequentUse | None, *, by: int = ONE | OTHER, heat: Heat = Heat.HOT) -> Actor:
    access = Access("f", 10.0, by, writes=True, reads=True, atomic=False, locks=False)
    return Actor("a", "a", (0, 8), (0, 8), ((0, 8),), Role.WRITTEN, accesses=(access,), write_heat=heat, often=often)


SURE_ONE = FrequentUse(ONE, ONE, ONE, ONE)
SURE_OTHER = FrequentUse(OTHER, OTHER, OTHER, OTHER)
OFTEN_ONE = FrequentUse(ONE, ONE)
OFTEN_OTHER = FrequentUse(OTHER, OTHER)
MAYBE_OTHER = FrequentUse(maybe_writes=OTHER, maybe_uses=OTHER)
FAR_ONE = FrequentUse(ONE, ONE, far_writes=ONE, far_uses=ONE)
FAR_OTHER = FrequentUse(OTHER, OTHER, far_writes=OTHER, far_uses=OTHER)
RAISED = dataclasses.replace(actor(SURE_OTHER), raised=True)
RAISED_FAR = dataclasses.replace(actor(FAR_OTHER), raised=True)
OF_LIBRARY = dataclasses.replace(actor(SURE_OTHER), of_library=True)
LIBRARY_PERHAPS = dataclasses.replace(actor(FAR_OTHER), of_library=True)


def atomic(one: Actor) -> Actor:
    return dataclasses.replace(one, role=Role.ATOMIC)


PACED_OTHER = actor(FrequentUse(OTHER, OTHER, OTHER, OTHER, paced_writes=OTHER, paced_uses=OTHER))
BOTH = OTHER | MANY
PACED_AND_SURE = actor(FrequentUse(BOTH, BOTH, BOTH, BOTH, paced_writes=OTHER, paced_uses=OTHER))


@pytest.mark.parametrize(
    ("first", "second", "most"),
    [
        pytest.param(actor(SURE_ONE), actor(SURE_OTHER), Severity.CRITICAL, id="both sure, on two threads"),
        pytest.param(actor(SURE_ONE), actor(SURE_ONE), Severity.NOTE, id="both sure, on one thread alone"),
        pytest.param(
            actor(FrequentUse(MANY, MANY, MANY, MANY)),
            actor(FrequentUse(MANY, MANY, MANY, MANY)),
            Severity.CRITICAL,
            id="both sure, on threads of one kind",
        ),
        pytest.param(actor(SURE_ONE), actor(FrequentUse(OTHER, OTHER)), Severity.MEDIUM, id="one of them less sure"),
        pytest.param(actor(SURE_ONE), PACED_OTHER, Severity.MEDIUM, id="both sure, one once each time that it waits"),
        pytest.param(
            atomic(actor(SURE_ONE)), atomic(PACED_OTHER), Severity.CRITICAL, id="atomics that count what is handed over"
        ),
        pytest.param(atomic(actor(SURE_ONE)), PACED_OTHER, Severity.MEDIUM, id="and one of them plain"),
        pytest.param(
            actor(OFTEN_ONE), PACED_OTHER, Severity.NOTE, id="one less sure, one once each time that it waits"
        ),
        pytest.param(
            atomic(actor(OFTEN_ONE)), atomic(PACED_OTHER), Severity.MEDIUM, id="and both atomics, one of them less sure"
        ),
        pytest.param(
            actor(OFTEN_ONE), PACED_AND_SURE, Severity.MEDIUM, id="one less sure, and a third thread that never waits"
        ),
        pytest.param(actor(SURE_ONE), RAISED, Severity.LOW, id="one of them busy in its own loop only"),
        pytest.param(actor(FrequentUse(ONE, ONE)), RAISED, Severity.NOTE, id="and the other one less sure"),
        pytest.param(
            PACED_OTHER, dataclasses.replace(actor(SURE_ONE), raised=True), Severity.NOTE, id="and the other one waits"
        ),
        pytest.param(actor(FAR_ONE), RAISED_FAR, Severity.NOTE, id="and neither of them sure, both far"),
        pytest.param(
            atomic(actor(OFTEN_ONE)),
            atomic(RAISED),
            Severity.NOTE,
            id="one in its own loop only, one less sure, atomics",
        ),
        pytest.param(
            actor(FrequentUse(ONE, ONE)), actor(FrequentUse(OTHER, OTHER)), Severity.NOTE, id="neither of them sure"
        ),
        pytest.param(actor(FAR_ONE), actor(FAR_OTHER), Severity.LOW, id="neither of them sure, both far"),
        pytest.param(actor(FAR_ONE), actor(FrequentUse(OTHER, OTHER)), Severity.NOTE, id="one of them far"),
        pytest.param(atomic(actor(FAR_ONE)), atomic(actor(FAR_OTHER)), Severity.MEDIUM, id="both far, both atomic"),
        pytest.param(atomic(actor(FAR_ONE)), actor(FAR_OTHER), Severity.LOW, id="both far, one of them plain"),
        pytest.param(
            atomic(actor(FAR_ONE)), atomic(actor(FrequentUse(OTHER, OTHER))), Severity.NOTE, id="only one of them far"
        ),
        pytest.param(
            atomic(actor(SURE_ONE)), atomic(RAISED), Severity.MEDIUM, id="one in its own loop only, both atomic"
        ),
        pytest.param(OF_LIBRARY, OF_LIBRARY, Severity.NOTE, id="both of a library that nobody here edits"),
        pytest.param(actor(SURE_ONE), OF_LIBRARY, Severity.CRITICAL, id="one of them of such a library"),
        pytest.param(actor(SURE_ONE), LIBRARY_PERHAPS, Severity.LOW, id="and that one by estimate, however busy"),
        pytest.param(actor(SURE_ONE), actor(FAR_OTHER), Severity.MEDIUM, id="the same of the program's own"),
        pytest.param(atomic(actor(SURE_ONE)), atomic(LIBRARY_PERHAPS), Severity.LOW, id="atomics of both"),
        pytest.param(actor(FrequentUse(uses=ONE)), actor(FrequentUse(uses=OTHER)), Severity.NOTE, id="both only read"),
        pytest.param(actor(SURE_ONE), actor(MAYBE_OTHER), Severity.NOTE, id="the other one maybe"),
        pytest.param(actor(SURE_ONE), atomic(actor(MAYBE_OTHER)), Severity.NOTE, id="and an atomic that changes"),
        pytest.param(actor(SURE_ONE), atomic(actor(OFTEN_OTHER)), Severity.MEDIUM, id="an atomic that often changes"),
        pytest.param(
            actor(FrequentUse(ONE, ONE)), actor(MAYBE_OTHER), Severity.NOTE, id="one less sure, the other one maybe"
        ),
        pytest.param(actor(MAYBE_OTHER), actor(MAYBE_OTHER), Severity.NOTE, id="both only maybe"),
        pytest.param(actor(SURE_ONE), actor(FrequentUse()), Severity.NOTE, id="the other one can, and is not seen to"),
        pytest.param(
            actor(SURE_ONE), actor(FrequentUse(), by=ONE), Severity.NOTE, id="the other one only on that thread"
        ),
        pytest.param(actor(SURE_ONE), actor(FrequentUse(), heat=Heat.COLD), Severity.NOTE, id="the other one is cold"),
        pytest.param(actor(FrequentUse()), actor(FrequentUse()), Severity.NOTE, id="neither is seen to be busy"),
    ],
)
def test_limit(first: Actor, second: Actor, most: Severity) -> None:
    assert limit((first, second), CONTEXT)[0] is most
    assert limit((second, first), CONTEXT)[0] is most


def test_a_lock_that_a_round_takes_on_one_of_two_ways_is_low_beside_what_is_read() -> None:
    taken = dataclasses.replace(actor(SURE_ONE), role=Role.LOCK)
    chosen = dataclasses.replace(actor(FrequentUse(ONE, ONE, ONE, ONE, chosen_writes=ONE)), role=Role.LOCK)
    read = actor(FrequentUse(uses=OTHER, sure_uses=OTHER))
    assert limit((taken, read), CONTEXT)[0] is Severity.CRITICAL
    assert limit((chosen, read), CONTEXT)[0] is Severity.LOW
    assert limit((chosen, actor(OFTEN_OTHER)), CONTEXT)[0] is Severity.LOW


@pytest.mark.parametrize(("chosen", "most"), [(0, Severity.MEDIUM), (ONE, Severity.LOW)])
def test_a_lock_that_is_taken_more_seldom_still_is_low_beside_what_is_sure(chosen: int, most: Severity) -> None:
    """It is no surer than one that is taken so often."""
    lock = dataclasses.replace(actor(FrequentUse(ONE, ONE, chosen_writes=chosen)), role=Role.LOCK)
    for other in (actor(FrequentUse(uses=OTHER, sure_uses=OTHER)), actor(FrequentUse(OTHER, OTHER, OTHER, OTHER))):
        assert limit((lock, other), CONTEXT)[0] is limit((other, lock), CONTEXT)[0] is most


@pytest.mark.parametrize(
    ("stride", "role", "most"),
    [(8, Role.ATOMIC, Severity.MEDIUM), (8, Role.WRITTEN, Severity.NOTE), (0, Role.ATOMIC, Severity.NOTE)],
)
def test_atomic_elements_that_only_their_threads_make_busy_are_medium(stride: int, role: Role, most: Severity) -> None:
    """One side sure, the other less sure: of two that are no elements of one array that is a second doubt."""
    access = Access("f", 10.0, MANY, writes=True, reads=True, atomic=True, locks=False, stride=stride)
    often = FrequentUse(MANY, MANY, sure_uses=MANY)
    one = dataclasses.replace(actor(often), role=role, raised=True, accesses=(access,))
    assert limit((one,), CONTEXT)[0] is most


@pytest.mark.parametrize(("own", "stride", "most"), [(True, 8, Severity.MEDIUM), (False, 8, Severity.LOW)])
def test_own_elements_that_only_their_threads_make_busy_are_medium(own: bool, stride: int, most: Severity) -> None:
    access = Access("f", 10.0, MANY, writes=True, reads=True, atomic=False, locks=False, stride=stride, own=own)
    one = dataclasses.replace(actor(FrequentUse(MANY, MANY, MANY, MANY)), raised=True, accesses=(access,))
    assert limit((one,), CONTEXT)[0] is most
    assert limit((one, dataclasses.replace(one, span=(8, 16))), CONTEXT)[0] is Severity.LOW  # two of one element


def elements(often: FrequentUse, **more: bool | int) -> Actor:
    """Such that each thread updates one at an index that code computes."""
    access = Access("f", 10.0, MANY, writes=True, reads=True, atomic=False, locks=False, stride=8)
    return dataclasses.replace(actor(often, by=MANY), accesses=(msgspec.structs.replace(access, **more),))


def test_elements_that_threads_update_often_by_one_estimate_are_low() -> None:
    often, few = FrequentUse(MANY, MANY), FrequentUse(ONE, MANY | ONE)
    assert limit((elements(often),), CONTEXT) == (Severity.LOW, OF_EACH)
    assert limit((elements(often, stride=0),), CONTEXT) == (Severity.NOTE, BARELY)
    assert limit((elements(few),), CONTEXT) == (Severity.NOTE, BARELY)  # one thread writes, and others read
    stored = elements(often, reads=False)
    assert limit((stored,), CONTEXT) == (Severity.NOTE, BARELY)  # the next place of a queue as likely
    assert limit((elements(often, reads=False, own=True),), CONTEXT) == (Severity.LOW, OF_EACH)
    guarded = dataclasses.replace(elements(often), write_guards=frozenset({"lock"}))
    assert limit((guarded,), CONTEXT) == (Severity.NOTE, BARELY)
    assert limit((dataclasses.replace(guarded, striped=True),), CONTEXT) == (Severity.LOW, OF_EACH)


def test_what_a_declaration_says_of_threads_is_no_estimate() -> None:
    one = actor(FrequentUse())
    line = LineProfile(0, 64, (one,), (), "a line")
    guess = Draft("packed-thread-slots", Severity.HIGH, Verdict.FALSE_SHARING, line, (one,), (one,), "", (), 1.0)
    assert [draft.severity for draft in limited([guess], CONTEXT)] == [Severity.NOTE]
    assert limited([dataclasses.replace(guess, declared=True)], CONTEXT)[0].severity is Severity.HIGH


def test_one_actor_is_met_by_itself_on_another_thread() -> None:
    several = actor(FrequentUse(MANY, MANY, MANY, MANY), by=MANY)
    alone = actor(SURE_ONE, by=ONE)
    assert limit((several,), CONTEXT)[0] is Severity.CRITICAL
    assert limit((alone,), CONTEXT)[0] is Severity.NOTE


@pytest.mark.parametrize(
    ("wrote", "used", "most"),
    [
        pytest.param(MANY, MANY, Severity.LOW, id="only with another one of its kind"),
        pytest.param(MANY, ONE, Severity.CRITICAL, id="with a thread of another kind"),
        pytest.param(ONE, MANY, Severity.CRITICAL, id="the other way round"),
        pytest.param(MANY, MANY | OTHER, Severity.CRITICAL, id="with both"),
    ],
)
def test_a_thread_of_which_callers_may_start_a_second_one_surely_meets_others_alone(
    wrote: int, used: int, most: Severity
) -> None:
    pair = (actor(FrequentUse(wrote, wrote, wrote, wrote)), actor(FrequentUse(used, used, used, used)))
    assert limit(pair, dataclasses.replace(CONTEXT, perhaps_many=MANY))[0] is most
    assert limit(pair, CONTEXT)[0] is Severity.CRITICAL  # several are seen to be started


def test_the_two_that_are_named_count_and_nobody_else_of_the_line() -> None:
    assert limit((actor(SURE_ONE), actor(SURE_OTHER), actor(FrequentUse())), CONTEXT)[0] is Severity.CRITICAL
    assert limit((actor(SURE_ONE), actor(FrequentUse()), actor(SURE_OTHER)), CONTEXT)[0] is Severity.NOTE


def test_what_others_do_to_each_other_is_not_what_a_finding_says_of_the_first() -> None:
    assert limit((actor(FrequentUse()), actor(SURE_ONE), actor(SURE_OTHER)), CONTEXT)[0] is Severity.NOTE


def test_without_a_rate_nothing_is_more_than_low_and_says_so() -> None:
    assert limit((actor(None), actor(SURE_OTHER)), CONTEXT) == (Severity.LOW, UNKNOWN)


ELSEWHERE = dataclasses.replace(CONTEXT, thread_mask=0)
LIBRARY = dataclasses.replace(ELSEWHERE, anybody=MANY)
WITH_THREADS = dataclasses.replace(CONTEXT, thread_mask=ONE, anybody=MANY)


OFTEN = FrequentUse(MANY, MANY)
FAR = FrequentUse(MANY, MANY, far_writes=MANY, far_uses=MANY)


@pytest.mark.parametrize(
    ("context", "often", "far"),
    [
        pytest.param(
            ELSEWHERE,
            (Severity.MEDIUM, UNKNOWN),
            (Severity.MEDIUM, UNKNOWN),
            id="source, whose author says that threads run it",
        ),
        pytest.param(
            LIBRARY, (Severity.NOTE, SELDOM_CALLED), (Severity.LOW, UNKNOWN), id="a library in which no thread starts"
        ),
        pytest.param(
            WITH_THREADS,
            (Severity.NOTE, SELDOM_CALLED),
            (Severity.LOW, CALLERS),
            id="a library with a thread of its own elsewhere",
        ),
        pytest.param(
            CONTEXT, (Severity.NOTE, BARELY), (Severity.LOW, GUESSED), id="a program, whose threads were seen"
        ),
    ],
)
def test_what_is_only_estimated_to_be_often_is_a_note_and_what_is_far_too_often_is_low(
    context: Context, often: tuple[Severity, str], far: tuple[Severity, str]
) -> None:
    assert limit((actor(OFTEN, by=MANY),) * 2, context) == often
    assert limit((actor(FAR, by=MANY),) * 2, context) == far


def test_what_is_estimated_to_be_far_too_often_is_low_and_says_why() -> None:
    assert limit((actor(FAR_ONE), actor(FAR_OTHER)), CONTEXT) == (Severity.LOW, GUESSED)


def test_callers_of_a_library_and_a_thread_of_its_own_are_low_however_sure_the_thread_is() -> None:
    callers = actor(FAR, by=MANY)
    assert limit((actor(SURE_ONE), callers), WITH_THREADS) == (Severity.LOW, CALLERS)
    assert limit((actor(SURE_ONE), callers), CONTEXT)[0] is Severity.MEDIUM
    assert limit((actor(SURE_ONE), actor(OFTEN, by=MANY)), WITH_THREADS) == (Severity.NOTE, SELDOM_CALLED)
    assert limit((actor(SURE_ONE), actor(OFTEN, by=MANY)), CONTEXT)[0] is Severity.MEDIUM


@pytest.mark.parametrize(
    ("often", "context", "said"),
    [
        (FrequentUse(MANY, MANY, MANY), CONTEXT, Severity.LOW),
        (OFTEN, CONTEXT, Severity.NOTE),
        (FrequentUse(maybe_writes=MANY, uses=MANY), CONTEXT, Severity.NOTE),
        (OFTEN, dataclasses.replace(CONTEXT, thread_mask=0), Severity.NOTE),  # a library that starts no thread
        (None, CONTEXT, Severity.LOW),  # a kernel
    ],
)
def test_safe_by_luck_is_a_warning_where_threads_would_often_meet(
    often: FrequentUse | None, context: Context, said: Severity
) -> None:
    pair = (actor(often, by=MANY), actor(often, by=MANY))
    draft = Draft("safe-by-luck", Severity.LOW, Verdict.FRAGILE, LineProfile(0, 64, pair), pair, pair, "", (), 1.0)
    assert limited([draft], context)[0].severity is said


SLOTS = actor(FrequentUse(MANY | ONE, MANY | ONE, 0, MANY | ONE))
NEIGHBOUR = dataclasses.replace(actor(OFTEN_OTHER), span=(8, 16))


@pytest.mark.parametrize(
    ("actors", "drafted", "said"),
    [
        pytest.param((actor(SURE_ONE), NEIGHBOUR), Severity.LOW, Severity.NOTE, id="an estimate, and one merely warm"),
        pytest.param((actor(SURE_ONE), NEIGHBOUR), Severity.MEDIUM, Severity.MEDIUM, id="an estimate alone"),
        pytest.param((SLOTS,), Severity.LOW, Severity.LOW, id="an estimate of elements of one array"),
        pytest.param(
            (actor(SURE_ONE), dataclasses.replace(NEIGHBOUR, often=SURE_OTHER)),
            Severity.LOW,
            Severity.LOW,
            id="both sure",
        ),
    ],
)
def test_an_estimate_of_two_bears_no_second_doubt(actors: tuple[Actor, ...], drafted: Severity, said: Severity) -> None:
    line = LineProfile(0, 64, actors)
    draft = Draft("hot-lock-shares-line", drafted, Verdict.FALSE_SHARING, line, actors, actors, "", (), 1.0)
    assert limited([draft], CONTEXT)[0].severity is said


def under(lock: str, one: Actor) -> Actor:
    return dataclasses.replace(one, guards=frozenset({lock}))


ALONE = actor(SURE_ONE, by=ONE)
BESIDE = dataclasses.replace(actor(SURE_OTHER, by=OTHER), span=(8, 16))
BY_BOTH = dataclasses.replace(actor(SURE_OTHER), span=(8, 16))
PACED_BESIDE = dataclasses.replace(PACED_OTHER, span=(8, 16))


@pytest.mark.parametrize(
    ("actors", "said"),
    [
        pytest.param((ALONE, BESIDE), Severity.LOW, id="each by a thread of its own"),
        pytest.param((ALONE, BY_BOTH), Severity.LOW, id="one of two threads uses one alone"),
        pytest.param((actor(SURE_ONE), BY_BOTH), Severity.NOTE, id="both threads use both"),
        pytest.param((under("a", ALONE), under("b", BESIDE)), Severity.LOW, id="under two locks"),
        pytest.param((under("a", ALONE), under("a", BESIDE)), Severity.NOTE, id="under one lock"),
        pytest.param((ALONE, dataclasses.replace(BESIDE, role=Role.LOCK)), Severity.NOTE, id="a lock"),
        pytest.param((ALONE, NEIGHBOUR), Severity.NOTE, id="one is an estimate"),
        pytest.param((ALONE, PACED_BESIDE), Severity.NOTE, id="once each time that a thread waits"),
        pytest.param((ALONE, actor(SURE_OTHER)), Severity.NOTE, id="one thing, which is true sharing"),
    ],
)
def test_what_a_thread_is_seen_to_use_without_the_other_is_low_whatever_a_rule_takes_off(
    actors: tuple[Actor, ...], said: Severity
) -> None:
    line = LineProfile(0, 64, actors)
    draft = Draft("any", Severity.NOTE, Verdict.READ_MOSTLY_DISTURBED, line, actors, actors, "", (), 1.0)
    (one,) = limited([draft], CONTEXT)
    assert one.severity is said
    assert any(text.startswith("low at least: ") for text in one.evidence) == (said is Severity.LOW)
