"""The numbers of ``explain``: when one moves, small builds or measurements are told apart otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from sharing.basics.numbers import described
from sharing.explain import numbers
from sharing.explain.activity import observe
from sharing.explain.behind import Reach, Touch, behind
from sharing.explain.bench import over_conditions
from sharing.explain.bodychanges import Bodies, sorted_out
from sharing.explain.causes.base import ranked
from sharing.explain.causes.fewerlocks import Locks, are_fewer, cause_of
from sharing.explain.causes.functions import may_be_lines
from sharing.explain.causes.grown import grown
from sharing.explain.causes.layout import severity_of
from sharing.explain.compare import ExplainOptions, compare, explain
from sharing.explain.contention import of_machine
from sharing.explain.dispersion import BLOCKS
from sharing.explain.exercised import exercised
from sharing.explain.growth import Growth
from sharing.explain.losses import loss_of
from sharing.explain.moves import Moves
from sharing.explain.records import Record
from sharing.explain.samecode import numbers_of
from sharing.explain.samples import Profile, compare_profiles, raised, with_profiles
from sharing.explain.signature import read_signature
from sharing.explain.statistics import Effect, compare_counts, compare_samples
from sharing.explain.tables.base import Measurement
from sharing.explain.variablesamples import variable_samples
from sharing.explain.work import Work
from sharing.knowledge import default_knowledge
from sharing.model.comparison import Cause, CauseKind, Comparison, FileTraits, SegmentTrait
from sharing.model.finding import Confidence
from sharing.model.image import AccessKind, Image, Section, SectionKind, SiteFlag
from sharing.model.instructions import INSTRUCTION_DTYPE
from sharing.model.profile import Heat
from tests.builders.image import BSS, Builder, threads
from tests.builders.recorded import Recorded, attribution, ticks
from tests.explain import test_explain_bylevels as trends
from tests.explain.layouts import Var, laid
from tests.explain.test_explain_added import ADD, COUNTS, LOAD, RETURN, only
from tests.explain.test_explain_estimated import estimated
from tests.explain.test_explain_suspects import asked, needing

GCC, OLD_GCC = "GNU C17 12.2.0 -O2", "GNU C17 11.4.0 -O2"


def told(found: Comparison) -> object:
    """The causes with their strength, what is ruled out and what is noted."""
    causes = [(c.kind, c.strength, c.summary, c.evidence) for c in found.causes]
    return causes, [r.kind for r in found.ruled_out], [r.kind for r in found.not_ruled_out], found.coverage.notes


def of(old: Image, new: Image) -> object:
    return told(explain(old, new, default_knowledge(), ExplainOptions(demangle=lambda names: names)))


def counters(apart: int = 8, start: int = BSS, extra: str = "", size: int = 8) -> Image:
    """Two threads, each with a word of its own; the one writes so many bytes from its word on."""
    b = Builder()
    threads(b, "left", "right")
    b.function("left").access(AccessKind.RMW, "mine", size, loop=1, flags=SiteFlag.ATOMIC)
    b.function("right").rmw("theirs", loop=1, flags=SiteFlag.ATOMIC)
    b.variable("mine", size, start)
    if apart:
        b.variable("theirs", 8, start + apart)
    if extra:
        b.variable(extra, 8, BSS + 4096)
    return b.image()


def met(**how: int) -> object:
    """What comes of it that the two share a line now."""
    return of(counters(256, **how), counters(**how))


def plain(apart: int, *, guarded: bool = False) -> Image:
    """The same with plain words, which a lock may guard."""
    b = Builder()
    threads(b, "left", "right")
    for name, word in (("left", "mine"), ("right", "theirs")):
        body = b.function(name)
        if guarded:
            body.call("pthread_mutex_lock", "lock", loop=1)
        body.rmw(word, loop=1)
    b.variable("mine", 8, BSS)
    b.variable("theirs", 8, BSS + apart)
    b.variable("lock", 40, BSS + 1024)
    return b.image()


def uneven(apart: int) -> Image:
    """One of two words is far busier than the other one."""
    b = Builder()
    threads(b, "left", "right")
    b.function("left").call("deep", loop=2)
    b.function("deep").rmw("mine", loop=3, flags=SiteFlag.ATOMIC)
    b.function("right").rmw("theirs", loop=1, flags=SiteFlag.ATOMIC)
    b.variable("mine", 8, BSS)
    b.variable("theirs", 8, BSS + apart)
    return b.image()


def in_one_function(apart: int) -> Image:
    """Two words that threads write in the same function."""
    b = Builder()
    threads(b, "left", "right")
    for name in ("left", "right"):
        b.function(name).rmw("mine", loop=1, flags=SiteFlag.ATOMIC).rmw("theirs", loop=1, flags=SiteFlag.ATOMIC)
    b.variable("mine", 8, BSS)
    b.variable("theirs", 8, BSS + apart)
    return b.image()


def built(old: str, new: str) -> object:
    return told(asked(needing(units=(old,)), needing(units=(new,)), FileTraits(), FileTraits()))


def needed(old: tuple[str, ...], new: tuple[str, ...]) -> object:
    return told(asked(needing(*old), needing(*new), FileTraits(), FileTraits()))


def traits(old: FileTraits, new: FileTraits) -> object:
    return told(asked(needing("libc.so.6"), needing("libc.so.6"), old, new))


def segments() -> object:
    old, new = (
        FileTraits(comments=("GCC: 12.2.0",), segments=(SegmentTrait("RW", 0x4000, 100, align),))
        for align in (0x1000, 0x200000)
    )
    return traits(old, new)


def linked(one: str, other: str, relro: str = "full") -> object:
    old, new = (
        FileTraits(comments=("GCC: 12.2.0",), linker=linker, modes={"relro": said})
        for linker, said in ((one, "full"), (other, relro))
    )
    return traits(old, new)


def versions() -> object:
    old = FileTraits(versions=("libc.so.6:GLIBC_2.17",))
    return traits(old, FileTraits(versions=("libc.so.6:GLIBC_2.17", "libc.so.6:GLIBC_2.34")))


def listings() -> object:
    """Two layouts of which nothing is known but addresses."""
    old, new = (laid({".bss": [Var("a"), *more, Var("b")]}) for more in ([Var("c", 248)], []))
    return of(old, new)


def code(shift: int = 0, seldom: int = 1, *, named: bool = True) -> tuple[Image, FileTraits]:
    """A busy function at another address, one of so many instructions that nothing calls, and their bytes."""
    b = Builder()
    threads(b, "left")
    left = b.function("left")
    work = b.function("work")
    work.address += shift
    left.call("work", loop=1)
    work.rmw("mine", loop=1)
    b.function("seldom").statements = seldom
    b.variable("mine", 8, BSS)
    image = b.image()
    if not named:
        functions = image.functions.copy()
        functions["name"][[image.names[f] == "seldom" for f in functions["name"].tolist()]] = -1
        image = dataclasses.replace(image, functions=functions)
    return image, FileTraits(code=memoryview(bytes(0x7000) + bytes([shift, seldom])))


def of_code(shift: int = 0, seldom: int = 1, *, named: bool = True) -> object:
    (one, of_one), (other, of_other) = code(named=named), code(shift, seldom, named=named)
    return told(explain(one, other, default_knowledge(), ExplainOptions(), of_one, of_other))


def changed(busy: int = 1, loop: int = 1) -> object:
    """So many of the busy functions have another size."""
    images = []
    for statements in (4, 9):
        b = Builder()
        threads(b, "left")
        left = b.function("left")
        for number in range(3):
            left.call(f"work{number}", loop=loop)
            b.function(f"work{number}").rmw("mine", loop=loop).statements = statements if number < busy else 4
        b.variable("mine", 8, BSS)
        images.append(b.image())
    return of(*images)


def samples() -> object:
    old = Profile("", {"a": 1000, "b": 300}, 10_000)
    new = Profile("", {"a": 1300, "b": 330}, 10_000)
    return [(f.function, f.change.significant, round(f.change.high, 3)) for f in compare_profiles(old, new)]


def several() -> object:
    """Three recordings of each build."""
    rng = np.random.default_rng(3)
    totals = np.where(np.arange(BLOCKS) < 3, 1000, 0)
    made = []
    for share in (0.1, 0.14):
        blocks = {"a": np.where(totals > 0, rng.poisson(share * 1000, BLOCKS), 0)}
        made.append(Profile("", {"a": int(blocks["a"].sum())}, 3000, blocks, totals, 3))
    return [(f.function, round(f.change.high, 3)) for f in compare_profiles(*made)]


def without_a_rise() -> object:
    """The strength of a layout where those who touch the pair are sampled as often as before."""
    found = explain(counters(256), counters(), default_knowledge(), ExplainOptions())
    same = Profile("", {"left": 20_000, "right": 20_000}, 100_000)
    return [c.strength for c in with_profiles(found, same, same).causes]


def placed() -> object:
    """Whether samples with a place are a picture of all."""
    activity = observe(counters(), default_knowledge(), 64, 128, lambda names: names)
    recorded = attribution(Recorded().loop(0, ticks(40), at=0))
    return variable_samples(recorded, 0, "cpu-clock", activity) is None


def cells(count: int) -> object:
    old = [Measurement("tps", 1000.0 + i, (("c", str(2**i)),)) for i in range(count)]
    new = [Measurement("tps", 900.0 + i, (("c", str(2**i)),)) for i in range(count)]
    return len(over_conditions(old, new))


def machine(idle: float, interrupts: float) -> object:
    fast = {"id": 5.0, "in": 100_000.0, "cs": 200_000.0}
    return read_signature(fast, {"id": idle, "in": interrupts, "cs": 2 * interrupts}).reading


def order() -> object:
    """A cause of a slowdown and one of a gain."""
    slower, faster = (
        Cause(kind=CauseKind.CODE, confidence=Confidence.STATIC, strength=s, summary="", improves=improves)
        for s, improves in ((0.35, False), (0.9, True))
    )
    return ranked([slower, faster])


def lost() -> object:
    change = Effect(100.0, 99.0, -0.01, -0.02, 0.01, 0.5, (8, 8))
    return loss_of([("tps", "tps", change)], numbers.MATTERS).answer


def contended() -> object:
    old, new = (Profile("", {"mutex_lock": n, "work": 100_000 - n}, 100_000) for n in (1_000, 9_000))
    found = explain(counters(), counters(), default_knowledge(), ExplainOptions())
    return with_profiles(found, old, new).causes


def waiting() -> object:
    slow = {"id": 30.0, "in": 100_000.0, "cs": 300_000.0}
    return of_machine(read_signature({"id": 5.0, "in": 100_000.0, "cs": 200_000.0}, slow))


def unused() -> object:
    builds = compare(counters(256), counters(), default_knowledge(), ExplainOptions())
    idle = Profile("", {"left": 5_000, "right": 0, "work": 5_000}, 10_000)
    return exercised(builds, idle, idle).gained.pairs[0].severity


def sampled_code() -> object:
    cause = Cause(CauseKind.CODE, Confidence.STATIC, 0.2, "changed", ("left",))
    found = explain(counters(), counters(), default_knowledge(), ExplainOptions())
    profile = Profile("", {"left": 20_000}, 100_000)
    return with_profiles(msgspec.structs.replace(found, causes=(cause,)), profile, profile).causes[0].summary


Row = tuple[str, float, Callable[[], object]]


def programs(common: str = "") -> object:
    """Two programs that share one import of three, and one function and variable of two where it is named."""

    def one(name: str) -> Image:
        b = Builder()
        for known in filter(None, (name, common)):
            b.function(known).rmw(f"{known}_word")
            b.variable(f"{known}_word", 8)
        return dataclasses.replace(b.image(), imports=frozenset({"malloc", f"{name}_of_a_library"}))

    return of(one("one"), one("other"))


def printing() -> object:
    """The same two with one function of two in both, and four of the twenty-five texts that each prints."""
    sides, traits = [], []
    for name in ("one", "other"):
        b = Builder()
        for known in (name, "common"):
            b.function(known).rmw(f"{known}_word")
            b.variable(f"{known}_word", 8)
        texts = [f"{name if n > 3 else 'both'}: text {n}" for n in range(25)]
        data = b"\0".join(text.encode() for text in texts) + b"\0"
        image = b.image()
        constant = Section(99, ".rodata", SectionKind.CONSTANT, 0x100, len(data), 1, 0)
        sides.append(dataclasses.replace(image, sections=(*image.sections, constant)))
        traits.append(FileTraits(code=memoryview(data)))
    old, new = sides
    return explain(old, new, default_knowledge(), ExplainOptions(), traits[0], traits[1]).causes


def on_the_heap() -> object:
    """Two members that two threads use, which share a line at half of the places where an object may begin."""
    builds = compare(counters(), counters(), default_knowledge(), ExplainOptions())
    assert builds.new.context is not None
    mask = builds.new.context.thread_mask
    one = mask & -mask
    touches = tuple(
        Touch(row, path, thread, "conn", path, 0, 8, writes=True)
        for row, (path, thread) in enumerate((("in", one), ("out", mask & ~one)))
    )
    reached = [
        Reach(touches, {"conn": Record("conn", 192, members)})
        for members in ({"in": 0, "out": 128}, {"in": 32, "out": 64})
    ]
    return behind(builds, *reached).causes


def locks(heat: Heat) -> object:
    builds = compare(counters(), counters(), default_knowledge(), ExplainOptions())
    old, new = (Locks(0, "locks", many, heat, frozenset({"left"})) for many in (64, 1))
    return cause_of(builds, old, new, improves=False)


LOADED = frozenset({(20, 33)})
HANDED: dict[int, Moves | None] = {1: Moves(LOADED, handed=LOADED)}


def grew(by: int = 16) -> object:
    """A word of every busy function that reaches three members of a record."""
    members = frozenset((at, at + by) for at in (8, 24, 40))
    moves: dict[int, Moves | None] = {row: Moves(members=members) for row in range(100)}
    moves |= {100 + row: Moves(members=frozenset({(0, by)})) for row in range(3)}
    return [(one.first, one.mostly, sorted(one.functions)) for one in sorted_out(moves).grown]


def strength_of_growth(by: int) -> object:
    builds = compare(counters(), counters(), default_knowledge(), ExplainOptions())
    found = Bodies(np.zeros(0, np.int64), grown=(Growth(8, 8, by, frozenset({0}), of_functions=False),), sizes=(None,))
    return [cause.strength for cause in grown(builds, found)]


def a_line_perhaps() -> object:
    builds = compare(counters(), counters(), default_knowledge(), ExplainOptions())
    return may_be_lines(builds, {"put": "20, now 33"}).strength


def beside_an_access() -> bool:
    return only((LOAD, RETURN), (LOAD, ADD, COUNTS, RETURN))


def of_shapes() -> bool:
    """Whether a function of twenty instructions is known by their kinds."""
    table = np.zeros(20, INSTRUCTION_DTYPE)
    table["shape"] = np.arange(1, 21)
    return numbers_of(table)[1] != 0


LINES = {n: Moves(frozenset({(10 * n, 10 * n + 3)})) for n in (1, 2, 3)}
ROWS: list[Row] = [
    ("LAST_LINE", 20, lambda: sorted_out(LINES).lines),
    ("LINES_MOVED", 4, lambda: sorted_out(LINES).lines),
    ("LINE_MOVE", 5, lambda: sorted_out(HANDED).maybe),
    ("ROUND", 1, lambda: sorted_out(HANDED).maybe),
    ("ROUND_DECIMAL", 1, lambda: sorted_out(HANDED).maybe),
    ("MAY_BE_LINE", 0.3, a_line_perhaps),
    ("GREW_IN", 4, grew),
    ("MEMBERS_MOVED", 5, grew),
    ("GREW_ELSEWHERE", 0.5, grew),
    ("GREW", 0.3, lambda: strength_of_growth(16)),
    ("GREW_BY_LINES", 0.3, lambda: strength_of_growth(64)),
    ("ALPHA", 1e-9, lambda: compare_samples([10.0, 11, 12, 13, 14], [20.0, 21, 22, 23, 24]).significant),
    ("LEVEL", 0.5, samples),
    ("MIN_PAIRS", 100, lambda: cells(8)),
    ("RISE", 1.0001, without_a_rise),
    ("NO_RISE", 0.1, without_a_rise),
    ("RAISED", 0.1, lambda: raised(0.5, single=False)),
    ("RAISED_BY_ONE", 0.1, lambda: raised(0.5, single=True)),
    ("SIDE_PART", 0.001, lambda: compare_counts([4], [100], 10**4, 10**4, work=Work("qps", 2.0, 1.9, 2.1))[0].dearer),
    ("MAIN_PART", 0.05, lambda: compare_counts([900], [900], 9000, 9000, work=Work("qps", 2.0, 1.9, 2.1))[0].as_dear),
    ("MATTERS", 0.01, lost),
    ("CONTENDED", 0.2, contended),
    ("CONTENTION", 0.1, contended),
    ("CONTENTION_OF_MACHINE", 0.1, waiting),
    ("SWITCHES_ROSE", 3.0, waiting),
    ("SAMPLED_CODE", 0.5, sampled_code),
    ("LEAST_PLACED", 2.0, placed),
    ("UNSEEN", 1e-9, unused),
    ("DISPERSION_FLOOR", 1000.0, samples),
    ("FLOOR_WEIGHT", 1000, several),
    ("IDLE_ROSE", 90.0, lambda: machine(60.0, 10_000.0)),
    ("IDLE_SAME", 0.0, lambda: machine(6.0, 90_000.0)),
    ("COLLAPSED", 0.01, lambda: machine(60.0, 10_000.0)),
    ("FEW_MATCHED", 5.0, met),
    ("RECOGNISED", 2.0, lambda: of(counters(), counters())),
    ("SLOT_BYTES", 128, lambda: of(counters(256, size=100), counters(104, size=100))),
    ("PLAUSIBLE", 0.5, order),
    ("OTHER_COMPILER", 0.1, lambda: built(GCC, "clang version 19.1.7")),
    ("OTHER_LEVEL", 0.1, lambda: built(GCC, "GNU C17 12.2.0 -O3")),
    ("LTO", 0.1, lambda: built(GCC, f"{GCC} -flto")),
    ("COMPILER_VERSION", 0.1, lambda: built(OLD_GCC, GCC)),
    ("OTHER_FLAG", 0.1, lambda: built(f"{GCC} -march=native", GCC)),
    ("OTHER_LINKER", 0.1, lambda: linked("GNU ld", "LLD 19.1.7")),
    ("LINKER_VERSION", 0.1, lambda: linked("LLD 18.1.8", "LLD 19.1.7")),
    ("LINK_MODE", 0.2, lambda: linked("GNU ld", "GNU ld", relro="none")),
    ("SEGMENT_ALIGNMENT", 0.1, segments),
    ("ALLOCATOR", 0.1, lambda: needed(("libc.so.6",), ("libjemalloc.so.2", "libc.so.6"))),
    ("OTHER_LIBRARY", 0.1, lambda: needed(("libc.so.6",), ("libfoo.so.1", "libc.so.6"))),
    ("LIBRARY_VERSION", 0.1, lambda: needed(("libssl.so.1.1",), ("libssl.so.3",))),
    ("SYMBOL_VERSION", 0.1, versions),
    ("MET_CRITICAL", 0.99, lambda: severity_of(0.95)),
    ("MET_HIGH", 0.5, met),
    ("MET_MEDIUM", 0.1, lambda: of(uneven(256), uneven(8))),
    ("MET_LOW", 0.1, lambda: of(plain(256, guarded=True), plain(8, guarded=True))),
    ("MET_NOTE", 0.99, met),
    ("MET_COUNTER", 0.1, lambda: of(estimated(256), estimated(8))),
    ("HOT_ONLY", 0.5, lambda: of(in_one_function(256), in_one_function(8))),
    ("ADDED_PAIR", 1.0, lambda: of(counters(0), counters())),
    ("BESIDE_ACCESS", 0, beside_an_access),
    ("SPLIT_NOW", 0.1, lambda: of(counters(256), counters(256, start=BSS + 60))),
    ("BY_LAYOUT", 0.1, listings),
    ("CHANGED_LEAST", 0.1, changed),
    ("CHANGED_MOST", 0.1, changed),
    ("NOT_RECOGNISED", 0.1, lambda: of_code(seldom=40, named=False)),
    ("CHANGED_ELSEWHERE", 0.1, lambda: of_code(seldom=40)),
    ("OTHER_PROGRAM", 1.0, lambda: programs("common")),
    ("OTHER_IMPORTS", 0.1, programs),
    ("OTHER_WITH_LIBRARY", 0.1, printing),
    ("OTHER_TEXTS", 0.01, printing),
    ("CONTAINED_TEXTS", 0.01, printing),
    ("LEAST_TEXTS", 100, printing),
    ("LEAST_SHAPES", 100, of_shapes),
    ("HEAP_STEP", 64, on_the_heap),
    ("HEAP_LIKELY", 0.6, on_the_heap),
    ("FEWER_LOCKS", 3, lambda: are_fewer(64, 32)),
    ("FEWER_LOCKS_HOT", 0.1, lambda: locks(Heat.HOT)),
    ("FEWER_LOCKS_WARM", 0.1, lambda: locks(Heat.WARM)),
    ("MOVED_CODE", 0.5, lambda: of_code(shift=16)),
    ("BUSY_FUNCTIONS", 0, changed),
    ("BUSY_DECADES", -3.0, changed),
    ("FETCH_BYTES", 8, lambda: of_code(shift=16)),
    *trends.NUMBERS,
]


@pytest.mark.parametrize(("name", "other", "outcome"), ROWS, ids=[row[0] for row in ROWS])
def test_a_number_of_explain_decides_what_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, other: float, outcome: Callable[[], object]
) -> None:
    before = outcome()
    monkeypatch.setattr(numbers, name, other)
    assert outcome() != before


def test_every_number_of_explain_is_shown_to_decide_something() -> None:
    assert set(described(numbers)) == {row[0] for row in ROWS}
