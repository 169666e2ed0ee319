"""Each rule on declarations against programs made by hand: the wrong fix, the right one, and what just misses.

Real source is in ``programs/``; here are the shapes that need other targets, other units or hostile facts.
"""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from sharing.judge.declarations import run_source_rules, source_context
from sharing.knowledge import default_knowledge
from sharing.model import Malformed
from sharing.model.facts import VariableBits
from sharing.rules import DECLARATION_RULES
from tests.source_rules.builder import (
    ATOMIC,
    CHAR,
    EMBEDDED,
    INT,
    LONG,
    MUTEX,
    Unit,
    array,
    found,
    program,
    verdicts,
)


class TestFreeTail:
    def test_an_aligned_lock_leaves_its_tail_to_the_next_variable(self) -> None:
        u = Unit()
        u.variable("lock", MUTEX, align=64)
        u.function("worker", ("lock", "rmw"))
        (finding,) = found(u)
        assert (finding.rule, finding.severity, finding.verdict) == ("aligned-tail-free", "note", "fragile")
        for words in ("lock (mutex)", "aligned to 64", "40 bytes long", "24 bytes", "worker", "64"):
            assert words in finding.message
        assert finding.participants[0].source == "a.c:10:1"
        assert finding.remedies[0].protects_tail

    def test_an_atomic_that_nobody_is_seen_to_use_is_a_note(self) -> None:
        u = Unit()
        u.variable("hits", ATOMIC, align=64)
        assert verdicts(u) == {"aligned-tail-free": "note"}

    def test_plain_data_counts_only_where_it_is_written(self) -> None:
        u = Unit()
        u.variable("limit", LONG, align=64)
        u.function("reader", ("limit", "load"))
        assert verdicts(u) == {}
        u.function("writer", ("limit", "store"))
        assert verdicts(u) == {"aligned-tail-free": "note"}

    @pytest.mark.parametrize(
        ("align", "more"),
        [
            (64, {"size": 64}),
            (64, {"size": 128}),
            (32, {}),
            (64, {"section": ".data..cacheline_aligned"}),
            (64, {"bits": int(VariableBits.THREAD)}),
            (64, {"bits": int(VariableBits.CONSTANT)}),
        ],
        ids=["fills its line", "fills two", "below a line", "a section of aligned objects", "thread_local", "const"],
    )
    def test_it_misses(self, align: int, more: dict[str, int]) -> None:
        u = Unit()
        u.variable("lock", MUTEX, align=align, **more)
        u.function("worker", ("lock", "rmw"))
        assert verdicts(u) == {}

    def test_a_table_aligned_for_its_first_byte_misses(self) -> None:
        u = Unit()
        u.variable("table", array(INT, 100), align=64)
        u.function("fill", ("table", "store", 0, 4))
        assert verdicts(u) == {}

    def test_the_line_is_a_parameter(self) -> None:
        u = Unit()
        u.variable("lock", MUTEX, align=64, size=64)
        u.function("worker", ("lock", "rmw"))
        assert verdicts(u, line_size=128) == {}  # 64 is no attempt at a line of 128
        u.variable("other", MUTEX, align=128, size=64)
        u.function("waiter", ("other", "rmw"))
        assert verdicts(u, line_size=128) == {"aligned-tail-free": "note"}

    def test_where_threads_surely_meet_in_the_last_line_it_is_low(self) -> None:
        u = Unit()
        u.variable("queue", ATOMIC, align=64, size=80)
        u.function("worker", ("queue", "rmw"))
        asked: list[tuple[str, int, int]] = []

        def contested(name: str, offset: int, size: int) -> bool:
            asked.append((name, offset, size))
            return True

        whole = program(u)
        context = source_context(whole, default_knowledge(), 64, 128)
        (finding,) = run_source_rules(whole, dataclasses.replace(context, contested=contested))
        assert (finding.rule, finding.severity) == ("aligned-tail-free", "low")
        assert asked == [("queue", 64, 16)]


class TestArrayAlignment:
    def slots(self, align: int = 64, count: int = 8, **more: int) -> Unit:
        u = Unit()
        counter = u.record("counter", u.member("hits", 0, LONG), **more)
        u.variable("counters", array(counter, count), align=align)
        u.function("worker", ("counters", "rmw", 0, counter.size))
        return u

    def test_elements_smaller_than_a_line_in_an_aligned_array(self) -> None:
        (finding,) = found(self.slots())
        assert (finding.rule, finding.severity) == ("array-aligned-not-element", "medium")
        for words in ("counters", "8 elements", "8 bytes each", "8 per line", "worker", "counter", "64 bytes"):
            assert words in finding.message
        assert finding.remedies[0].cost_bytes == 8 * 56

    def test_padded_elements_miss(self) -> None:
        assert verdicts(self.slots(size=64, align=64, declared_align=64)) == {}

    def test_an_array_that_nobody_aligned_is_the_line_rules_business(self) -> None:
        assert verdicts(self.slots(align=0)) == {}

    def test_a_hash_table_is_not_made_of_slots_of_threads(self) -> None:
        assert verdicts(self.slots(count=4096)) == {}

    def test_one_lock_around_all_writes_misses(self) -> None:
        u = Unit()
        counter = u.record("counter", u.member("hits", 0, LONG))
        u.variable("counters", array(counter, 8), align=64)
        u.function("worker", ("counters", "rmw", 0, 8), under="big_lock")
        assert verdicts(u) == {}

    def test_numbers_count_where_a_name_speaks_of_threads_or_lines(self) -> None:
        u = Unit()
        u.variable("vector", array(INT, 16), align=64)
        u.variable("thread_hits", array(INT, 16), align=64)
        u.variable("hits", array(INT, 16), align=64, macros=("CACHE_ALIGNED",))
        for name in ("vector", "thread_hits", "hits"):
            u.function(f"add_{name}", (name, "rmw", 0, 4))
        assert sorted(f.participants[0].name for f in found(u)) == ["hits", "thread_hits"]

    def test_an_array_that_a_class_wraps_is_one(self) -> None:
        """std::array<std::atomic<long>, 8>."""
        u = Unit(language="C++")
        u.variable("counters", u.record("std::array", u.member("_M_elems", 0, array(ATOMIC, 8))), align=64)
        u.function("worker", ("counters", "rmw", 0, 8))
        assert verdicts(u) == {"array-aligned-not-element": "medium"}

    def test_a_member_array_counts_like_a_variable(self) -> None:
        u = Unit()
        pool = u.record("pool", u.member("state", 0, LONG), u.member("locks", 64, array(MUTEX, 4), align=64), size=256)
        u.function("worker", (pool, "rmw", 64, 40))
        (finding,) = found(u)
        assert (finding.rule, finding.participants[0].name) == ("array-aligned-not-element", "pool.locks")


class TestHeapAlignment:
    def queue(self, *allocates: tuple[str, int], triple: str = "x86_64-pc-linux-gnu", align: int = 64) -> Unit:
        u = Unit(triple=triple)
        q = u.record("queue", u.member("head", 0, ATOMIC, align=align), u.member("tail", align, ATOMIC, align=align))
        u.function("create", allocates=tuple((api, q, guarantee) for api, guarantee in allocates))
        return u

    def test_malloc_promises_sixteen_bytes(self) -> None:
        (finding,) = found(self.queue(("malloc", 0)))
        assert (finding.rule, finding.severity) == ("aligned-type-from-malloc", "medium")
        for words in ("queue", "64 bytes", "malloc in create", "(a.c:21)", "promises 16", "aligned_alloc"):
            assert words in finding.message
        assert finding.related[0].source == "a.c:21:9"

    def test_an_allocator_of_characters_is_known_to_promise_no_more(self) -> None:
        assert verdicts(self.queue(("std::allocator", 0))) == {"aligned-type-from-malloc": "medium"}

    def test_all_places_of_one_record_are_one_finding(self) -> None:
        (finding,) = found(self.queue(("malloc", 0), ("calloc", 0)))
        assert "and 1 more" in finding.message
        assert len(finding.related) == 2

    @pytest.mark.parametrize(
        "allocation",
        [
            ("aligned_alloc", 64),
            ("new", 64),
            ("kmalloc", 0),
            ("kmem_cache_alloc", 0),
            ("xx_alignedMalloc", 0),
            ("memblock_alloc", 0),
        ],
        ids=lambda a: a[0],
    )
    def test_an_allocation_that_keeps_the_alignment_misses(self, allocation: tuple[str, int]) -> None:
        assert verdicts(self.queue(allocation)) == {}

    def test_a_wrapper_may_promise_more_than_malloc(self) -> None:
        assert verdicts(self.queue(("zmalloc", 0))) == {"aligned-type-from-malloc": "low"}
        assert verdicts(self.queue(("zmalloc", 0), ("malloc", 0))) == {"aligned-type-from-malloc": "medium"}

    def test_what_malloc_promises_depends_on_the_machine(self) -> None:
        assert verdicts(self.queue(("malloc", 0), align=16)) == {}
        assert verdicts(self.queue(("malloc", 0), align=16, triple="armv7-linux-gnueabihf")) == {
            "aligned-type-from-malloc": "low"
        }

    def test_alignment_for_vectors_is_below_a_line_and_low(self) -> None:
        assert verdicts(self.queue(("malloc", 0), align=32)) == {"aligned-type-from-malloc": "low"}


class TestPadArithmetic:
    def slot(self, *sizes: int, pad: str, length: int, **more: int) -> Unit:
        u = Unit()
        members, at = [], 0
        for number, size in enumerate(sizes):
            members.append(u.member("abcdef"[number], at, LONG if size == 8 else array(CHAR, size)))
            at += size
        members.append(u.member("pad", at, array(CHAR, length), text=pad))
        u.record("slot", *members, **more)
        return u

    def test_a_member_added_later_pushes_the_padding_over_the_line(self) -> None:
        (finding,) = found(self.slot(8, 8, pad="char pad[64 - sizeof(long)]", length=56))
        assert (finding.rule, finding.severity) == ("pad-misses-line", "low")
        for words in ("slot.pad", "8 bytes behind a line", "does not subtract b", "64 bytes"):
            assert words in finding.message
        assert [p.name for p in finding.participants] == ["slot.pad", "slot.b"]

    def test_too_much_subtracted_lets_the_next_element_in(self) -> None:
        (finding,) = found(self.slot(8, pad="char pad[64 - 2 * sizeof(long)]", length=48))
        assert (finding.severity, finding.verdict) == ("medium", "false sharing")
        assert "8 bytes short" in finding.message

    @pytest.mark.parametrize(
        ("sizes", "pad", "length"),
        [
            ((8,), "char pad[64 - sizeof(long)]", 56),
            ((8, 8), "char pad[64 - 2 * sizeof(long)]", 48),
            ((8, 60, 4), "char pad[128 - sizeof(struct head)]", 56),
            ((8, 8), "char pad[64]", 64),
            ((8, 8), "char pad[40]", 40),
            ((8, 8), "char pad[512 - sizeof(struct header)]", 400),
        ],
        ids=["one", "two", "two lines", "a whole line", "a fixed size", "the rest of a sector"],
    )
    def test_it_misses(self, sizes: tuple[int, ...], pad: str, length: int) -> None:
        assert verdicts(self.slot(*sizes, pad=pad, length=length)) == {}

    def test_runs_between_paddings_are_counted_apart(self) -> None:
        u = Unit()
        u.record(
            "ring",
            u.member("head", 0, LONG),
            u.member("pad0", 8, array(CHAR, 56), text="char pad0[CACHE_LINE - sizeof(long)]", macros=("CACHE_LINE",)),
            u.member("tail", 64, LONG),
            u.member("cached", 72, LONG),
            u.member("pad1", 80, array(CHAR, 56), text="char pad1[CACHE_LINE - sizeof(long)]", macros=("CACHE_LINE",)),
        )
        (finding,) = found(u)
        assert finding.participants[0].name == "ring.pad1"
        assert finding.participants[1].name == "ring.cached"


class TestMacroAsName:
    def embedded(self, name: str, bits: int = EMBEDDED, path: str = "a.c") -> Unit:
        u = Unit(path=path)
        u.variable(name, u.record("counters", u.member("hits", 0, LONG)), bits=bits)
        return u

    @pytest.mark.parametrize(
        "name",
        [
            "__cacheline_aligned",
            "____cacheline_aligned_in_smp",
            "CACHE_ALIGNED",
            "__aligned",
            "cacheline_aligned",
            "_lib_cache_aligned",  # an underscore short of the macro
        ],
    )
    def test_a_variable_named_like_an_attribute(self, name: str) -> None:
        (finding,) = found(self.embedded(name))
        assert (finding.rule, finding.severity) == ("alignment-macro-as-name", "medium")
        assert f"{name} is a variable of 8 bytes" in finding.message
        assert "counters is not aligned" in finding.message

    @pytest.mark.parametrize("name", ["counters", "aligned", "stats_aligned", "aligned_cache", "cache", "__packed"])
    def test_other_names_miss(self, name: str) -> None:
        assert verdicts(self.embedded(name)) == {}

    def test_one_declared_apart_from_its_record_misses(self) -> None:
        assert verdicts(self.embedded("CACHE_ALIGNED", bits=0)) == {}

    def test_one_that_is_used_misses(self) -> None:
        u = self.embedded("CACHE_ALIGNED")
        u.function("worker", ("CACHE_ALIGNED", "load"))
        assert verdicts(u) == {}

    def test_units_that_share_the_header_define_it_each(self) -> None:
        (finding,) = found(self.embedded("CACHE_ALIGNED"), self.embedded("CACHE_ALIGNED", path="b.c"))
        assert "2 units define it" in finding.message

    @pytest.mark.parametrize(("begin", "expected"), [(110, {"alignment-macro-as-name": "medium"}), (20, {})])
    def test_a_member_counts_where_its_record_is_part_of_its_declaration(
        self, begin: int, expected: dict[str, str]
    ) -> None:
        u = Unit()
        inner = u.record("inner", u.member("hits", 0, LONG), begin=begin, end=begin + 30)
        member = u.member("____cacheline_aligned", 0, inner)
        u.record("outer", msgspec.structs.replace(member, begin=103, end=160), begin=100, end=170)
        assert verdicts(u) == expected


CONSTRUCTIVE = "alignas(std::hardware_constructive_interference_size)"


class TestConstructiveInterference:
    def queue(self, text: str, *, tail: bool = True, asked: int = 64) -> Unit:
        u = Unit(language="C++")
        members = [u.member("head", 0, ATOMIC, text=f"{text} std::atomic<long> head", align=asked)]
        if tail:
            members.append(u.member("tail", asked, ATOMIC, text=f"{text} std::atomic<long> tail", align=asked))
        u.record("queue", *members)
        return u

    def test_members_kept_apart_by_the_size_that_keeps_together(self) -> None:
        findings = found(self.queue(CONSTRUCTIVE))
        assert {(f.rule, str(f.severity)) for f in findings} == {("constructive-interference", "low")}
        assert {f.participants[0].name for f in findings} == {"queue.head", "queue.tail"}
        assert all("hardware_destructive_interference_size" in f.message for f in findings)

    def test_below_a_line_of_the_target_it_is_worse(self) -> None:
        assert {str(f.severity) for f in found(self.queue(CONSTRUCTIVE), line_size=128)} == {"medium"}

    def test_through_a_constant_of_the_project(self) -> None:
        u = self.queue("alignas(kLine)")
        text = "constexpr std::size_t kLine = std::hardware_constructive_interference_size"
        u.variable("ns::kLine", LONG, bits=int(VariableBits.CONSTANT), text=text)
        assert {f.rule for f in found(u)} == {"constructive-interference"}
        assert all("through kLine" in f.message for f in found(u))

    def test_the_destructive_size_misses(self) -> None:
        assert verdicts(self.queue("alignas(std::hardware_destructive_interference_size)")) == {}

    def test_a_record_of_several_members_is_held_together_by_it(self) -> None:
        u = Unit(language="C++")
        u.record(
            "pair", u.member("a", 0, LONG), u.member("b", 8, LONG), declared_align=64, align=64, align_text=CONSTRUCTIVE
        )
        assert verdicts(u) == {}


class TestAlignmentBelowLine:
    def stats(self, text: str, asked: int, *macros: str) -> Unit:
        u = Unit()
        u.record(
            "stats",
            u.member("received", 0, ATOMIC, text=f"{text} atomic_long received", align=asked, macros=macros),
            u.member("sent", asked, ATOMIC, text=f"{text} atomic_long sent", align=asked, macros=macros),
        )
        return u

    def test_a_constant_made_for_another_machine(self) -> None:
        (finding,) = found(self.stats("_Alignas(CACHE_LINE_SIZE)", 32, "CACHE_LINE_SIZE"))
        assert (finding.rule, finding.severity) == ("alignment-below-line", "medium")
        for words in ("CACHE_LINE_SIZE", "stats.received, stats.sent", "32 bytes", "64"):
            assert words in finding.message

    def test_a_line_of_64_is_too_small_where_lines_have_128(self) -> None:
        u = self.stats("_Alignas(CACHELINE)", 64, "CACHELINE")
        assert verdicts(u) == {}
        assert verdicts(u, line_size=128) == {"alignment-below-line": "medium"}

    def test_alignment_that_does_not_speak_of_lines_misses(self) -> None:
        assert verdicts(self.stats("_Alignas(32)", 32)) == {}
        assert verdicts(self.stats("_Alignas(VECTOR_BYTES)", 32, "VECTOR_BYTES")) == {}


class TestTwoLayouts:
    def unit(self, path: str, align: int, name: str = "queue", header: str = "queue.h", key: str = "") -> Unit:
        u = Unit(path=path, header=header)
        step = align or 8
        u.record(
            name,
            u.member("head", 0, LONG, align=align, macros=("CACHE_ALIGN",) if align else ()),
            u.member("tail", step, LONG, align=align, macros=("CACHE_ALIGN",) if align else ()),
            key=key or f"{name}-{align}",
        )
        return u

    def test_a_macro_that_is_empty_in_one_unit(self) -> None:
        (finding,) = found(self.unit("a.c", 64), self.unit("b.c", 0))
        assert (finding.rule, finding.severity) == ("alignment-lost-in-unit", "high")
        for words in ("queue", "tail is at byte 64 in a.c", "at byte 8 in b.c", "CACHE_ALIGN"):
            assert words in finding.message

    def test_equal_layouts_miss(self) -> None:
        assert verdicts(self.unit("a.c", 64), self.unit("b.c", 64)) == {}

    def test_two_executables_from_one_header_miss(self) -> None:
        """Each is built with its own flags, and they never meet."""
        server, client = self.unit("server.c", 64), self.unit("client.c", 0)
        for u in (server, client):
            u.function("main")
        assert verdicts(server, client) == {}
        helper = self.unit("helper.c", 0)
        helper.function("help")
        server.symbol("help")
        assert verdicts(server, client, helper) == {"alignment-lost-in-unit": "high"}

    def test_a_file_that_is_compiled_both_ways_misses(self) -> None:
        """For a program, and for its tests: which units are linked with which is not known."""
        both = [self.unit("helper.c", size) for size in (64, 0)]
        tests, helped = self.unit("tests.c", 64), self.unit("tests.c", 64)
        assert verdicts(*both) == verdicts(*both, tests) == {}
        other = self.unit("other.c", 0)
        assert verdicts(*both, helped, other) == {"alignment-lost-in-unit": "high"}

    def test_two_records_that_share_a_name_miss(self) -> None:
        assert verdicts(self.unit("a.c", 64, header="a.c"), self.unit("b.c", 0, header="b.c")) == {}

    def test_a_record_that_differs_in_members_is_another_matter(self) -> None:
        a, b = Unit(path="a.c", header="s.h"), Unit(path="b.c", header="s.h")
        a.record("s", a.member("x", 0, LONG), a.member("debug", 8, LONG), key="s-1")
        b.record("s", b.member("x", 0, LONG), key="s-2")
        assert verdicts(a, b) == {}

    def test_a_declaration_that_promises_more_than_the_definition(self) -> None:
        a, b = Unit(path="a.c"), Unit(path="b.c")
        a.variable("lock", MUTEX, align=64, bits=int(VariableBits.DECLARED_ONLY), size=64)
        b.variable("lock", MUTEX)
        (finding,) = found(a, b)
        assert (finding.rule, finding.severity) == ("alignment-lost-in-unit", "medium")
        assert "64 bytes of alignment in a.c, but b.c defines it with 8" in finding.message


def test_indexes_that_name_nothing_are_refused_by_name() -> None:
    """Facts may come from a damaged file: no rule sees a unit with an index that points out of its table."""

    def unit(**damage: object) -> Unit:
        u = Unit()
        record = u.record("queue", u.member("head", 0, ATOMIC, align=64))
        u.variable("lock", MUTEX, align=64)
        u.function("worker", ("lock", "rmw"), allocates=(("malloc", record, 0),))
        u.functions[0] = msgspec.structs.replace(u.functions[0], **damage)
        return u

    assert {f.rule for f in found(unit())} == {"aligned-tail-free", "aligned-type-from-malloc"}
    accesses = unit().functions[0].accesses
    for column, number in ((1, 10**6), (5, 77), (9, 10**6), (15, 10**6)):
        broken = (*accesses[:column], number, *accesses[column + 1 :])
        with pytest.raises(Malformed, match="function 'worker': accesses: "):
            found(unit(accesses=broken))
    for name, row in {"accesses": (1, 2), "args": (5, 0, 1, 99, 0, 0), "calls": (1,), "lock_ops": (7, 1)}.items():
        with pytest.raises(Malformed, match=f"function 'worker': {name}"):
            found(unit(**{name: row}))


def test_findings_keep_their_names_when_lines_move() -> None:
    def ids(first_line: int) -> list[str]:
        u = Unit(line=first_line)
        u.variable("lock", MUTEX, align=64)
        return [f.id for f in found(u)]

    assert ids(0) == ids(500) != []


@pytest.mark.parametrize("rule", DECLARATION_RULES, ids=lambda r: r.id)
def test_every_rule_of_declarations_says_nothing_about_an_empty_program(rule: object) -> None:
    assert found(Unit()) == []
