"""The numbers of the static judgement: when one moves, another verdict is given on a small program."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sharing.basics import numbers as shared
from sharing.basics.numbers import described
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import AccessKind, FunctionFlag, ImageKind, SiteFlag
from sharing.static import numbers
from tests.builders.image import BSS, Body, Builder, Param

FAR = BSS + 1024


class Program(Builder):
    """Threads ``left`` and ``right``, each of which writes a word of its own, ``mine`` and ``theirs``, on one line."""

    def __init__(self, *entries: str, apart: int = 8, loop: int = 0) -> None:
        super().__init__()
        self.main = self.function("main")
        for entry in entries or ("left", "right"):
            self.main.call("pthread_create", None, None, entry, loop=loop)
        self.variable("mine", 8, BSS)
        self.variable("theirs", 8, BSS + apart)

    def counts(self, function: str, word: str, loop: int = 1, flags: int = 0) -> Body:
        """A function that counts in a word."""
        return atomic(self.function(function, flags), word, loop)

    def ends(self) -> Program:
        """The program with the other thread at work."""
        self.counts("right", "theirs")
        return self


def atomic(body: Body, word: str, loop: int = 0) -> Body:
    return body.rmw(word, loop=loop, flags=SiteFlag.ATOMIC)


def counters(apart: int = 8) -> Builder:
    b = Program(apart=apart)
    b.counts("left", "mine")
    return b.ends()


def halves() -> Builder:
    """Each thread counts in its half of a word without a type."""
    b = Program("left", "right", apart=64)
    for function, half in (("left", "mine"), ("right", "mine+0x4")):
        b.function(function).access(AccessKind.RMW, half, 4, loop=1, flags=SiteFlag.ATOMIC)
    return b


def unlikely() -> Builder:
    b = Program()
    b.function("left").access(AccessKind.RMW, "mine", loop=1, rarity=16, flags=SiteFlag.ATOMIC)
    return b.ends()


def by_name(name: str) -> Builder:
    """The function that counts is called like this, in a loop that may wait."""
    b = Program()
    b.function("left").call("someone_elses", loop=1).call(name, loop=1)
    b.counts(name, "mine")
    return b.ends()


def set_aside() -> Builder:
    """A function that counts is one that gcc takes to be seldom run."""
    b = Program()
    b.function("left").call("count", loop=1)
    b.counts("count", "mine", flags=FunctionFlag.ASIDE)
    return b.ends()


def by_one_kind_of_thread() -> Builder:
    """Threads that are started in a loop, at one entry, whose work counts in two functions."""
    b = Program("worker", loop=1)
    b.function("worker").call("first", loop=1).call("second", loop=1)
    b.counts("first", "mine", 0)
    b.counts("second", "theirs", 0)
    return b


def in_main(others: int = 200) -> Builder:
    """Main counts in what it calls in a loop; the other thread calls so many functions."""
    b = Program("right")
    b.main.call("work", loop=1)
    b.counts("work", "mine", 0)
    right = b.counts("right", "theirs")
    for number in range(others):
        right.call(f"f{number}")
        b.function(f"f{number}")
    return b


def in_a_cycle() -> Builder:
    b = Program()
    b.function("left").call("visit", loop=1)
    b.function("visit").call("descend")
    b.counts("descend", "mine", 0).call("visit").load("mine")
    return b.ends()


def through_a_pointer(calls: int = 0) -> Builder:
    """What counts is called through a pointer, and may call as many through pointers in its loops."""
    b = Program()
    b.function("left").call("step", loop=1)
    b.function("step").call(None, rarity=30)
    handler = b.counts("handler", "mine", 0, FunctionFlag.ADDRESS_TAKEN)
    for _ in range(calls):
        handler.call(None, loop=3)
    return b.ends()


def through_one_of_few_pointers() -> Builder:
    """The same in the loop of the thread itself."""
    b = Program()
    b.function("left").call(None, loop=1)
    b.counts("handler", "mine", 0, FunctionFlag.ADDRESS_TAKEN)
    return b.ends()


def beside_sleep() -> Builder:
    b = Program()
    b.counts("left", "mine").call("usleep", loop=1)
    return b.ends()


def beside_naps(microseconds: int, rarity: int = 0) -> Builder:
    """A thread that sleeps for so long in its loop, in every round or on a way."""
    b = Program()
    b.counts("left", "mine").call("usleep", microseconds, loop=1, rarity=rarity, order=1)
    return b.ends()


def at_the_end_of_a_chain() -> Builder:
    b = Program()
    b.function("left").call("near", loop=1)
    b.function("near").call("far")
    b.counts("far", "mine", 0)
    return b.ends()


def before_the_loop() -> Builder:
    """The loop in which a thread counts is in what its entry calls once."""
    b = Program()
    b.function("left").call("near")
    b.function("near").call("far", loop=1)
    b.counts("far", "mine", 0)
    return b.ends()


def beside_long_work(instructions: int, loop: int = 1, flags: int = 0) -> Builder:
    """A thread that runs so many other instructions in its loop, or before."""
    b = Program()
    b.function("left").call("compute", loop=loop)
    atomic(b.functions["left"], "mine", 1)
    b.function("compute", flags).statements = instructions
    return b.ends()


def beside_a_loop_of_work() -> Builder:
    b = Program()
    b.function("left").call("work", loop=1)
    atomic(b.function("work").call("compute", loop=1), "mine")
    b.function("compute").statements = 500
    return b.ends()


def beside_a_stub() -> Builder:
    b = Program()
    atomic(b.function("left").call("elsewhere", loop=1), "mine", 1)
    b.function("elsewhere", flags=FunctionFlag.STUB)
    return b.ends()


def beside_busier(functions: int = 1) -> Builder:
    """So many functions count in one of the words; other words are counted in far more often."""
    b = Program()
    left = b.function("left").call("busy", loop=1)
    for number in range(functions):
        left.call(f"count{number}", loop=1)
        b.counts(f"count{number}", "mine", 0)
    b.counts("busy", "busier", 3)
    atomic(b.counts("right", "theirs"), "busiest", 3)
    b.variable("busier", 8, FAR)
    b.variable("busiest", 8, FAR + 64)
    return b


def many_pairs(pairs: int = 20) -> Builder:
    """Two threads with many words each, every one a little less busy than the one before."""
    b = Program()
    left, right = b.function("left"), b.function("right")
    for number in range(pairs):
        left.call(f"l{number}", loop=1, rarity=number // 4)
        right.call(f"r{number}", loop=1, rarity=number // 4)
        b.counts(f"l{number}", f"mine{number}")
        b.counts(f"r{number}", f"theirs{number}")
        b.variable(f"mine{number}", 8, FAR + 128 * number)
        b.variable(f"theirs{number}", 8, FAR + 128 * number + 8)
    return b


def through_arguments() -> Builder:
    b = Program()
    b.function("left").call("outer", "mine", loop=1)
    b.function("outer").call("inner", Param(0))
    b.function("inner").through(0, 0, AccessKind.RMW)
    return b.ends()


def slots() -> Builder:
    """Threads of one kind count in a table, at an index that code computes."""
    b = Program("worker", loop=1)
    b.function("worker").access(AccessKind.RMW, "slots", loop=1, stride=8, flags=SiteFlag.ATOMIC)
    b.variable("slots", 64, FAR)
    return b


def beside_a_table() -> Builder:
    """One thread reads anywhere in a large table, the other counts in a word on its first line."""
    b = Program(apart=16 + 64)
    b.function("left").access(AccessKind.LOAD, "table", loop=1, stride=8)
    b.counts("right", "word")
    b.variable("word", 8, FAR)
    b.variable("table", 32 * 1024, FAR + 8)
    return b


def behind_a_lock() -> Builder:
    """Both threads count behind a call that takes a lock and releases it again."""
    b = Program()
    for thread, word in (("left", "mine"), ("right", "theirs")):
        b.function(thread).call("look", "lock", loop=1).rmw(word, loop=1)
    b.function("look").call("pthread_mutex_lock", Param(0)).call("pthread_mutex_unlock", Param(0))
    b.variable("lock", 40, FAR)
    return b


def cleared_whole() -> Builder:
    """A buffer that is cleared as a whole ends on the line of two words."""
    b = Program(apart=72)
    b.function("left").store("buffer", 72, loop=1)
    atomic(b.counts("right", "theirs"), "other", 1)
    b.variable("buffer", 72, BSS)
    b.variable("other", 8, BSS + 80)
    return b


def straddling() -> Builder:
    b = Program(apart=60)
    b.counts("left", "theirs")
    return b.ends()


def lock_of_a_wrapper() -> Builder:
    """A function of the program takes the lock, beside a word."""
    b = Program(apart=64 + 40)
    b.function("left").call("take", "lock", loop=1)
    b.function("take").call("pthread_mutex_lock", Param(0))
    b.variable("lock", 40, BSS + 64)
    return b.ends()


def lock_with_room() -> Builder:
    """A lock in a variable without a type, and a word behind it that those who take the lock count in."""
    b = Program()
    for side in ("left", "right"):
        atomic(b.function(side).call("pthread_mutex_lock", "lock", loop=1), "lock+0x28", 1)
    b.variable("lock", 48, FAR)
    return b


def under_a_callers_lock() -> Builder:
    b = Program()
    for side, word in (("left", "mine"), ("right", "theirs")):
        b.function(side).call(f"{side}_work", loop=1)
        b.function(f"{side}_work").call("pthread_mutex_lock", "lock").call(f"{side}_add")
        b.function(f"{side}_add").store(word)
    b.variable("lock", 40, FAR)
    return b


def started_by_a_wrapper() -> Builder:
    b = Program("right")
    b.main.call("spawn", "left")
    b.function("spawn").call("pthread_create", None, None, Param(0))
    b.counts("left", "mine")
    return b.ends()


def counted_around_a_start() -> Builder:
    """A loop that starts threads by a function counts them beside what these count."""
    b = Program("right")
    b.main.call("spawn", loop=1)
    atomic(b.main, "mine", loop=1)
    b.function("spawn").call("pthread_create", None, None, "left", None)
    b.function("left")
    return b.ends()


def once(*, wrapped: bool = False) -> Builder:
    """One of the threads counts in what it has run once, by a function of its own or of the library."""
    b = Program()
    b.counts("left", "mine")
    b.function("right").call("only_once" if wrapped else "pthread_once", None, "prepare")
    b.function("only_once").call("pthread_once", None, Param(1))
    b.counts("prepare", "theirs", 2, FunctionFlag.ADDRESS_TAKEN)
    return b


def set_by_name() -> Builder:
    """One of the threads sets a word in a function that compares a text with eight others."""
    b = Program()
    b.counts("left", "mine")
    body = b.function("right")
    for _ in range(8):
        body.call("strcmp")
    body.store("theirs", loop=2)
    return b


def elements() -> Builder:
    """Each thread counts in its element of one array."""
    b = Program()
    b.counts("left", "words")
    b.counts("right", "words+0x8")
    b.variable("words", 64, FAR, type=b.array(b.base("long", 8), 8))
    return b


def read_often(loads: int, stores: int, rarity: int = 0) -> Builder:
    """A word is read and written in so many loops, the latter not always, beside a counter."""
    b = Program()
    b.function("left").load("mine", loop=loads).store("mine", loop=stores, rarity=rarity)
    b.counts("right", "theirs", 2)
    return b


def plain() -> Builder:
    b = Program()
    b.function("left").rmw("mine", loop=1)
    return b.ends()


def lock_across_lines() -> Builder:
    """A lock alone whose bytes lie on two lines."""
    b = Program("left", "right", apart=FAR - BSS)
    for function in ("left", "right"):
        b.function(function).call("pthread_mutex_lock", "lock", loop=1)
    b.variable("lock", 40, BSS + 120)
    return b


def in_a_library() -> Builder:
    """Functions that a library exports count, each in its own word."""
    b = Builder(ImageKind.SHARED)
    for at, name in enumerate(("mine", "theirs")):
        b.variable(name, 8, BSS + at * 8)
        atomic(b.function(f"count_{name}", FunctionFlag.EXPORTED), name, 1)
    return b


def called_by_seldom_code() -> Builder:
    """A kernel's counters, one of which is counted by what two functions call that hardly ever run, and modules may."""
    b = Builder(ImageKind.KERNEL)
    for at, name in enumerate(("mine", "theirs")):
        b.variable(name, 8, BSS + at * 8)
        atomic(b.function(f"count_{name}", FunctionFlag.EXPORTED), name, 1)
    for caller in ("first", "second"):
        b.function(caller, FunctionFlag.COLD).call("count_mine")
    return b


Row = tuple[str, float, Callable[[], Builder]]
ROWS: list[Row] = [
    ("IMPLAUSIBLE_LOOPS", 1, counters),
    ("MAX_LOOPS", 0, counters),
    ("IMPLAUSIBLE_STARTS", 1, by_one_kind_of_thread),
    ("MAX_FREQUENCY", 0.1, counters),
    ("MANY_THREADS", 0.1, by_one_kind_of_thread),
    ("DISPATCHED", 0.1, through_a_pointer),
    ("RECURSION", 0.0, in_a_cycle),
    ("BIG_PROGRAM", 1000, in_main),
    ("SET_UP", 1.0, in_main),
    ("COLD", 0.01, lambda: by_name("init_table")),
    ("ASIDE", 1.0, set_aside),
    ("LAST_WORDS", 1.0, lambda: by_name("panic")),
    ("THREAD_LOOP", 30.0, beside_a_loop_of_work),
    ("CALL_SHARE", 1.0, lambda: beside_long_work(2000)),
    ("POINTER_SHARE", 1.0, through_a_pointer),
    ("FEW_TARGETS", 0.0, through_one_of_few_pointers),
    ("AGAIN_MOST", 0.0, lambda: through_a_pointer(calls=2)),
    ("STEADY", 1.0, lambda: beside_long_work(10_000, loop=0)),
    ("STUB_INSTRUCTIONS", 1e5, beside_a_stub),
    ("CALLS_FOLLOWED", 1, at_the_end_of_a_chain),
    ("FAINT", 0.9, before_the_loop),
    ("CALLERS_SHARE", 1e-6, in_a_library),
    ("SURE_FACTOR", 1e6, counters),
    ("UNOPTIMIZED", 1.0, lambda: beside_long_work(4000, flags=FunctionFlag.UNOPTIMIZED)),
    ("EACH_TIME", -1, counters),
    ("EVERY_ROUND", 0, beside_sleep),
    ("REST_NS", 1e3, lambda: beside_naps(10)),
    ("NAP_NS", 1e4, lambda: beside_naps(40, rarity=4)),
    ("INLINED", 0.0, at_the_end_of_a_chain),
    ("WARM_WEIGHT", 100.0, counters),
    ("LINE_WEIGHT", 1e6, counters),
    ("LOCK_EXTENT", 1, lock_across_lines),
    ("ONE_PIECE", 4, halves),
    ("HOT_RANK", 1, many_pairs),
    ("HOT_SHARE", 1.0, many_pairs),
    ("HOT_DECADES", 1.0, beside_busier),
    ("FUNCTION_SCORE", 0.0, lambda: beside_busier(functions=4)),
    ("VIA_CALL_WEIGHT", 0.1, through_arguments),
    ("INDEXED_WEIGHT", 0.05, slots),
    ("TABLE_BYTES", 1 << 20, beside_a_table),
    ("UNBOUNDED", 16, cleared_whole),
    ("MAX_LINES", 0, counters),
    ("MAX_EXTRA_LINES", 0, straddling),
    ("MAX_HOTTEST", 0, lambda: counters(apart=64)),
    ("LOCK_WRAPPERS", 1, lock_of_a_wrapper),
    ("RELEASED", 2.0, behind_a_lock),
    ("ENTRY_WRAPPERS", 1, started_by_a_wrapper),
    ("START_DEPTH", 0, counted_around_a_start),
    ("ONCE_WRAPPERS", 0, lambda: once(wrapped=True)),
    ("SEVERAL_CALLERS", 3, called_by_seldom_code),
    ("MANY_NAMES", 9, set_by_name),
    ("PARAM_ROUNDS", 0, through_arguments),
    ("MAX_CALLERS", 0, under_a_callers_lock),
    ("MAX_CALLERS_UP", 0, under_a_callers_lock),
    ("GUARD_SHARE", 2.0, under_a_callers_lock),
    ("WRAPPER_BYTES", 0, lock_with_room),
    ("MAX_ELEMENTS", 0, elements),
    ("READ_MOSTLY", 1.0, lambda: read_often(2, 2, 12)),
    ("SELDOM_WRITTEN", 1000.0, lambda: read_often(1, 1, 12)),
    ("COUNTER_FROM", 1.1, plain),
]
SHARED: list[Row] = [
    ("LOW_FROM", 0.5, lambda: beside_long_work(1500)),
    ("TRANSFER_NS", 0.01, counters),
    ("INSTRUCTION_NS", 1e3, counters),
    ("INSTRUCTION_BYTES", 1e-4, counters),
    ("LOOP_FACTOR", 1.0, counters),
    ("RARITY_STEPS", 100.0, unlikely),
    ("SELDOM", 0, once),
]


def said(b: Builder) -> list[tuple[object, ...]]:
    """Rule, severity, and by name and role the objects of each finding."""
    findings = judge(b.image(), JudgeOptions(64, 128, edits=False), default_knowledge()).findings
    return [(f.rule, f.severity, tuple((p.full_name, p.role) for p in f.participants)) for f in findings]


@pytest.mark.parametrize(("name", "other", "program"), ROWS, ids=[row[0] for row in ROWS])
def test_a_number_of_the_code_decides_a_verdict(
    monkeypatch: pytest.MonkeyPatch, name: str, other: float, program: Callable[[], Builder]
) -> None:
    before = said(program())
    monkeypatch.setattr(numbers, name, other)
    assert said(program()) != before


@pytest.mark.parametrize(("name", "other", "program"), SHARED, ids=[row[0] for row in SHARED])
def test_a_number_that_rooms_share_decides_a_verdict(
    monkeypatch: pytest.MonkeyPatch, name: str, other: float, program: Callable[[], Builder]
) -> None:
    before = said(program())
    monkeypatch.setattr(shared, name, other)
    assert said(program()) != before


def test_every_number_of_the_code_is_shown_to_decide_something() -> None:
    of_starts = {"START_WAYS", "LIFE_BEGINS"}  # test_sharing_start_arms.py, test_sharing_checks_before_life.py
    assert set(described(numbers)) == {row[0] for row in ROWS} | of_starts


def test_every_number_that_rooms_share_is_shown_to_decide_something() -> None:
    of_samples = {"Z_95", "SCALAR_BYTES", "LIKELY", "UNLIKELY"}  # tests/sampled, tests/rules
    assert set(described(shared)) == {row[0] for row in SHARED} | of_samples
