"""Facts judged: what is near, where it may start, who holds which lock, and what lives on the heap.

The programs are made by hand and small enough to be read; the real tool's facts are judged in tests/check_programs.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharing.judge.static import Judgement, JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import Image, SectionKind, Severity, Verdict
from sharing.model.arch import find_architecture, x86
from sharing.source.addressing import exact, predicted
from sharing.source.emission import Contribution, Placed
from sharing.source.image import source_image
from sharing.source.merge import assemble
from sharing.source.program import Program
from tests.builders.units import LONG, MUTEX, UnitMaker, access, call, lock, start, through

ARCH = find_architecture(x86.EM_X86_64, 64, "little")
Parts = Sequence[tuple[str, int, int]]


def bss(*members: tuple[str, int, int], alignment: int = 32) -> Contribution:
    """(identity, offset, size) of each member."""
    size = max(offset + length for _, offset, length in members)
    return Contribution(".bss", SectionKind.WRITABLE, alignment, size, tuple(Placed(*m) for m in members))


def image_of(program: Program, *contributions: Contribution) -> Image:
    units = {index: (c,) for index, c in enumerate(contributions)}
    return source_image(
        program, "test", ARCH, default_knowledge(), lambda keys: predicted(program, lambda u: units.get(u, ()), keys)
    )


def judged(image: Image) -> Judgement:
    return judge(image, JudgeOptions(64, 128), default_knowledge())


def server(path: str = "/src/server.c", *, under: tuple[str, ...] = ("lock",), reader: bool = True) -> UnitMaker:
    """A lock that workers take in a loop, a list head that they change under it and another thread reads."""
    unit = UnitMaker(path)
    unit.variable("lock", MUTEX)
    unit.variable("head", LONG)
    loop = {"loop": 1}
    head = access("rmw", "head", size=8, under=under, **loop)
    unit.function("worker", lock("lock", **loop), head, lock("lock", "unlock", **loop))
    unit.function("watch", access("load", "head", size=8, loop=2))
    threads = [call("pthread_create", (3, 0), (3, 0), (4, "worker"), loop=1)]
    threads += [call("pthread_create", (3, 0), (3, 0), (4, "watch"))] if reader else []
    unit.function("main", *threads)
    return unit


def test_a_pair_that_meets_at_half_of_the_positions_keeps_its_severity() -> None:
    image = image_of(assemble([server().build()]), bss(("lock", 0, 40), ("head", 40, 8)))
    (finding,) = judged(image).findings
    assert (finding.rule, finding.severity) == ("hot-lock-shares-line", Severity.HIGH)
    assert any("1 of the 2 offsets" in e.text and "(50%)" in e.text for e in finding.evidence)
    assert finding.message.endswith("; they do so at 1 of the 2 offsets at which this unit's part of .bss can start")
    assert finding.line.place == "a line of .bss"


def test_a_lock_that_lies_on_two_lines_meets_what_is_on_either() -> None:
    # The lock is written up to byte 16, and the head ends at 64: on one line where the lock starts a line, and where a
    # line starts within what is written of it, 8 bytes from its begin.
    image = image_of(assemble([server().build()]), bss(("lock", 0, 40), ("head", 56, 8), alignment=8))
    (finding,) = judged(image).findings
    assert finding.severity is Severity.MEDIUM
    assert any("2 of the 8 offsets" in e.text for e in finding.evidence)


def counters(distance: int) -> Image:
    """Two counters of two threads in static storage."""
    unit = UnitMaker("/src/counters.c")
    for name, function in (("in", "receive"), ("out", "send")):
        unit.variable(name, LONG)
        unit.function(function, access("rmw", name, size=8, loop=2, atomic=5))
    unit.function("main", *(call("pthread_create", (3, 0), (3, 0), (4, n)) for n in ("receive", "send")))
    return image_of(assemble([unit.build()]), bss(("in", 0, 8), ("out", distance, 8), alignment=8))


def test_a_pair_that_meets_at_one_position_in_eight_loses_two_severities() -> None:
    (near,) = judged(counters(8)).findings
    (finding,) = judged(counters(56)).findings
    assert (near.severity, finding.severity) == (Severity.HIGH, Severity.LOW)
    assert any("1 of the 8 offsets" in e.text for e in finding.evidence)


def test_a_line_apart_never_meets() -> None:
    image = image_of(assemble([server().build()]), bss(("lock", 0, 40), ("head", 64, 8)))
    assert not judged(image).findings


def test_what_is_aligned_to_the_line_is_judged_at_one_position() -> None:
    image = image_of(assemble([server().build()]), bss(("lock", 0, 40), ("head", 56, 8), alignment=64))
    (finding,) = judged(image).findings
    assert finding.severity is Severity.HIGH
    assert any("always share a line" in e.text for e in finding.evidence)
    assert "offsets at which" not in finding.message


def test_places_of_accesses_and_the_locks_held_there_are_named() -> None:
    image = image_of(assemble([server().build()]), bss(("lock", 0, 40), ("head", 40, 8)))
    (finding,) = judged(image).findings
    assert {(r.name, r.function, r.verb, r.under) for r in finding.related} == {
        ("lock", "worker", "locks", ()),
        ("head", "worker", "updates", ("lock",)),
        ("head", "watch", "reads", ()),
    }
    assert all(r.source.startswith("/src/server.c:") and r.source.endswith(":3") for r in finding.related)
    assert [p.identity for p in finding.participants] == ["lock", "head"]


def test_guards_come_with_their_support() -> None:
    image = image_of(assemble([server(reader=False).build()]), bss(("lock", 0, 40), ("head", 40, 8)))
    (finding,) = judged(image).findings
    assert any(e.text == "head: 1 of 1 accesses under lock" for e in finding.evidence)


def test_without_the_lock_no_guard_is_claimed() -> None:
    image = image_of(assemble([server(under=()).build()]), bss(("lock", 0, 40), ("head", 40, 8)))
    assert not any("accesses under" in e.text for f in judged(image).findings for e in f.evidence)


def test_callees_hold_what_all_their_callers_hold() -> None:
    unit = UnitMaker("/src/a.c")
    unit.variable("lock", MUTEX)
    unit.variable("head", LONG)
    unit.function("link", access("rmw", "head", size=8, loop=1), static=True)
    for name in ("get", "put"):
        unit.function(
            name, lock("lock", loop=1), call("link@/src/a.c", under=("lock",)), lock("lock", "unlock", loop=1)
        )
    unit.function("main", *(call("pthread_create", (3, 0), (3, 0), (4, name), loop=1) for name in ("get", "put")))
    image = image_of(assemble([unit.build()]), bss(("lock", 0, 40), ("head", 40, 8)))
    (finding,) = judged(image).findings
    assert [r.under for r in finding.related if r.function == "link"] == [("lock",)]


def test_a_caller_without_the_lock_takes_it_from_the_callee() -> None:
    unit = UnitMaker("/src/a.c")
    unit.variable("lock", MUTEX)
    unit.variable("head", LONG)
    unit.function("link", access("rmw", "head", size=8, loop=1), static=True)
    unit.function("get", lock("lock", loop=1), call("link@/src/a.c", under=("lock",)), lock("lock", "unlock", loop=1))
    unit.function("peek", call("link@/src/a.c"))
    unit.function("main", *(call("pthread_create", (3, 0), (3, 0), (4, name), loop=1) for name in ("get", "peek")))
    image = image_of(assemble([unit.build()]), bss(("lock", 0, 40), ("head", 40, 8)))
    (finding,) = judged(image).findings
    assert [r.under for r in finding.related if r.function == "link"] == [()]


def test_lock_wrappers_of_another_unit_are_followed() -> None:
    wrappers = UnitMaker("/src/lock.c")
    wrappers.variable("lock", MUTEX)
    wrappers.function("take", lock("lock"), acquires=("lock",))
    wrappers.function("give", lock("lock", "unlock"), releases=("lock",))
    user = UnitMaker("/src/user.c")
    user.variable("head", LONG)
    user.function(
        "worker",
        call("take", loop=1, order=1),
        access("rmw", "head", size=8, loop=1, order=2),
        call("give", loop=1, order=3),
        access("load", "head", size=8, loop=1, order=4),
    )
    user.function("main", call("pthread_create", (3, 0), (3, 0), (4, "worker"), loop=1))
    program = assemble([wrappers.build(), user.build()])
    image = image_of(program, bss(("lock", 0, 40), ("head", 40, 8)))
    (finding,) = judged(image).findings
    assert {(r.verb, r.under) for r in finding.related if r.name == "head"} == {("updates", ("lock",)), ("reads", ())}


def test_a_pair_of_two_units_is_possible_not_certain() -> None:
    owner, user = UnitMaker("/src/owner.c"), UnitMaker("/src/user.c")
    owner.variable("lock", MUTEX)
    owner.function("take", lock("lock", loop=1), lock("lock", "unlock", loop=1))
    user.variable("head", LONG)
    user.function("spin", access("rmw", "head", size=8, loop=2, atomic=6))
    entries = ("take", "spin")
    user.function("main", *(call("pthread_create", (3, 0), (3, 0), (4, name), loop=1) for name in entries))
    program = assemble([owner.build(), user.build()])
    image = image_of(program, bss(("lock", 0, 40)), bss(("head", 0, 8), alignment=8))
    (finding,) = judged(image).findings
    assert (finding.severity, finding.verdict) == (Severity.LOW, Verdict.FRAGILE)
    assert any("order of the object files" in e.text for e in finding.evidence)


def ring(*, padded: bool = False) -> UnitMaker:
    """A queue for one producer and one consumer: both indexes are written, each by its own thread."""
    unit = UnitMaker("/src/ring.c")
    tail = 64 if padded else 8
    unit.record("ring", ("head", 0, LONG), ("tail", tail, LONG), size=128 if padded else 16)
    key = f"ring#{128 if padded else 16}"
    hot = {"size": 8, "loop": 2, "atomic": 4}
    unit.function("produce", through("store", key, tail, **hot))
    unit.function("consume", through("store", key, 0, **hot))
    unit.function("main", *(call("pthread_create", (3, 0), (3, 0), (4, n)) for n in ("produce", "consume")))
    return unit


def test_members_of_a_record_on_the_heap_are_judged_on_one_instance() -> None:
    (finding,) = judged(image_of(assemble([ring().build()]))).findings
    assert finding.rule == "independent-writers"
    assert {p.full_name for p in finding.participants} == {"struct ring.head", "struct ring.tail"}
    assert finding.participants[0].identity == "ring#16"


def test_members_a_line_apart_are_not() -> None:
    assert not judged(image_of(assemble([ring(padded=True).build()]))).findings


def test_threads_of_cxx_objects_are_roots() -> None:
    unit = UnitMaker("/src/t.cc", language="C++")
    unit.function("body")
    unit.function("main", start("body"), start("body"))
    assert "threads: main, body (several)" in judged(image_of(assemble([unit.build()]))).notes


def test_no_thread_no_finding() -> None:
    unit = server()
    unit = UnitMaker("/src/alone.c")
    unit.variable("lock", MUTEX)
    unit.variable("head", LONG)
    unit.function("main", lock("lock", loop=1), access("rmw", "head", size=8, loop=2))
    assert not judged(image_of(assemble([unit.build()]), bss(("lock", 0, 40), ("head", 40, 8)))).findings


def test_at_link_addresses_the_line_is_exact() -> None:
    program = assemble([server().build()])
    linked = image_of(program, bss(("lock", 0, 40), ("head", 40, 8), alignment=64))
    section = linked.sections[0]
    addresses = {"lock": section.address, "head": section.address + 40}
    image = source_image(
        program, "a.out", ARCH, default_knowledge(), lambda keys: exact(program, addresses, [section], keys)
    )
    (finding,) = judged(image).findings
    assert finding.line.address == f"{section.address:#x}"
    assert not finding.line.place


def test_a_program_of_which_no_unit_could_be_read_has_no_findings() -> None:
    assert not judged(image_of(assemble([]))).findings


def three_members(limit: int) -> UnitMaker:
    """Two counters of two threads before what a third reads; the first counter is the busier one."""
    unit = UnitMaker("/src/store.c")
    unit.record("store", ("requests", 0, LONG), ("answers", 16, LONG), ("limit", limit, LONG), size=limit + 8)
    key = f"store#{limit + 8}"
    unit.function("serve", through("rmw", key, 0, size=8, loop=3, atomic=5))
    unit.function("report", through("rmw", key, 16, size=8, loop=2, atomic=5))
    unit.function("watch", through("load", key, limit, size=8, loop=3))
    unit.function("main", *(call("pthread_create", (3, 0), (3, 0), (4, n)) for n in ("serve", "report", "watch")))
    return unit


def positions_of(limit: int, *names: str) -> str:
    """At how many positions a pair is said to meet."""
    findings = judged(image_of(assemble([three_members(limit).build()]))).findings
    named = [f"struct store.{name}" for name in names]
    (found,) = (f for f in findings if [p.full_name for p in f.participants] == named)
    (text,) = (e.text for e in found.evidence if e.text.startswith("on one line at"))
    return text


def test_the_positions_are_those_of_the_pair_that_is_named_first() -> None:
    # The other counter, which would disturb the reader as well, meets it at one more.
    assert "at 3 of the 4 offsets" in positions_of(24, "requests", "limit", "answers")
    assert "at 2 of the 4 offsets" in positions_of(40, "requests", "limit", "answers")


def test_a_position_counts_only_where_the_pair_meets() -> None:
    assert "at 3 of the 4 offsets" in positions_of(72, "requests", "answers")
    assert "at 1 of the 4 offsets" in positions_of(72, "answers", "limit")
