"""Memory without a declaration: the record that the code's variables lead to, and how a finding names it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sharing.judge.remedy import Style
from sharing.judge.sampled.findings import findings_of
from sharing.judge.sampled.names import Names
from sharing.judge.sampled.verdict import judge_lines
from sharing.model.attribution import Region
from sharing.model.finding import Finding
from sharing.model.image import AccessKind, ImageKind
from sharing.model.locals import Local, Locals, Static
from sharing.model.operands import ORIGIN_DTYPE, WordSet
from sharing.model.types import TypeKind, TypeMember, TypeRecord, TypeTable
from sharing.sampled.heap import Allocation, Frame
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.lineuse.use import LineUse, Site
from sharing.sampled.objects import SeenObject, object_at
from sharing.sampled.reached import Reached, reached
from tests.builders.recorded import Recorded, attribution, ticks
from tests.sampled.test_sampled_verdicts import pair

LONG, STATS, SESSION, TO_SESSION, TO_STATS, SLOTS, TO_LONG, OPEN, TO_OPEN, _, LANE, TO_LANE, ALIAS = range(13)
DI, SI, SP = 5, 4, 7
HERE, BEFORE = 0x1010, 0x1000


def record(name: str, size: int, *members: tuple[str, int, int], line: int = 7) -> TypeRecord:
    told = tuple(TypeMember(member, 8 * offset, kind, 0, False) for member, offset, kind in members)
    return TypeRecord(TypeKind.STRUCT, name, size, 0, -1, -1, told, 0, line)


def to(name: str) -> TypeRecord:
    return TypeRecord(TypeKind.POINTER, f"{name} *", 8, 0, -1, -1, (), -1, 0)


TYPES = TypeTable(
    [
        TypeRecord(TypeKind.BASE, "long", 8, 0, -1, -1, (), -1, 0),
        record("stats", 16, ("hits", 0, LONG), ("misses", 8, LONG)),
        record("session", 40, ("fd", 0, LONG), ("stats", 8, STATS), ("slots", 24, SLOTS), line=12),
        to("session"),
        to("stats"),
        TypeRecord(TypeKind.ARRAY, "", 16, 0, LONG, 2, (), -1, 0),
        to("long"),
        record("message", 8, ("length", 0, LONG), ("text", 8, 9)),
        to("message"),
        TypeRecord(TypeKind.ARRAY, "", -1, 0, LONG, -1, (), -1, 0),
        record("lane", 16, ("done", 0, STATS)),
        to("lane"),
        TypeRecord(TypeKind.TYPEDEF, "holder<stats>::element_type", -1, 0, STATS, -1, (), -1, 0),
    ]
)
POINTEES = {TO_SESSION: SESSION, TO_STATS: STATS, TO_LONG: LONG, TO_OPEN: OPEN, TO_LANE: LANE}


def known(*at_here: Local, before: tuple[Local, ...] = (), statics: tuple[Static, ...] = ()) -> Locals:
    return Locals({HERE: at_here, BEFORE: before}, statics, TYPES, POINTEES, ("net.h",))


def origin(base: int, displacement: int, *, ip: int = HERE, parent: int = -1, indexed: bool = False) -> tuple[Any, ...]:
    return (ip, displacement, 0, parent, base, indexed, 0, 0, 0)


def rows(*origins: tuple[Any, ...]) -> npt.NDArray[Any]:
    return np.array(list(origins), ORIGIN_DTYPE)


def one(locals_: Locals, *origins: tuple[Any, ...]) -> tuple[str, int, bool] | None:
    found = reached(rows(*origins), locals_).get(0)
    return (TYPES.name(found.type), found.offset, found.exact) if found is not None else None


def pointer(name: str, register: int, kind: int = TO_SESSION, offset: int = 0) -> Local:
    return Local(name, "serve", kind, register, offset, in_memory=False)


def test_a_pointer_in_a_register_says_the_record() -> None:
    assert one(known(pointer("s", DI)), origin(DI, 16)) == ("session", 16, True)
    assert one(known(pointer("s", SI)), origin(DI, 16)) is None, "another register"
    assert one(known(pointer("s", DI, offset=8)), origin(DI, 16)) == ("session", 8, True), "8 bytes before the pointer"


def test_of_two_pointers_the_one_to_the_larger_record_says_more() -> None:
    assert one(known(pointer("t", DI, TO_STATS, 8), pointer("s", DI)), origin(DI, 16)) == ("session", 16, True)


def test_of_two_pointers_to_records_of_one_size_the_outer_one_says_more() -> None:
    """What a library calls its own argument, inlined, is a member of what the program calls so."""
    inner, outer = pointer("self", DI, TO_STATS), pointer("lane", DI, TO_LANE)
    for both in ((inner, outer), (outer, inner)):
        assert one(known(*both), origin(DI, 8)) == ("lane", 8, True)


def test_pointers_to_plain_numbers_and_beyond_an_open_end_say_nothing() -> None:
    assert one(known(pointer("n", DI, TO_LONG)), origin(DI, 0)) is None
    assert one(known(pointer("m", DI, TO_OPEN)), origin(DI, 24)) is None


def test_a_value_that_is_still_where_it_was_read_from_is_no_variable_of_the_frame() -> None:
    """``long fd = s->fd;`` of which the compiler makes no copy: that the variable is in memory there says no more."""
    copy = Local("fd", "serve", LONG, DI, 16, in_memory=True)
    assert one(known(copy, pointer("s", DI)), origin(DI, 16)) == ("session", 16, True)
    assert one(known(pointer("s", DI), copy), origin(DI, 16)) == ("session", 16, True)
    assert one(known(copy), origin(DI, 16)) == ("long", 0, True), "no pointer is known to be there"


def test_what_is_behind_a_record_is_one_like_it() -> None:
    assert one(known(pointer("t", DI, TO_STATS)), origin(DI, 24)) == ("stats", 8, True)


def test_elements_that_an_index_chooses_are_known_as_such() -> None:
    assert one(known(pointer("t", DI, TO_STATS)), origin(DI, 40, indexed=True)) == ("stats", 8, False)


def test_an_index_from_this_leads_to_the_array_in_the_object() -> None:
    """The compiler may have put the array's own offset into the index."""
    assert one(known(pointer("this", DI)), origin(DI, 0, indexed=True)) == ("session", 24, False)
    assert one(known(pointer("s", DI)), origin(DI, 0, indexed=True)) == ("session", 0, False), "of an array of sessions"
    assert one(known(pointer("this", DI, TO_STATS)), origin(DI, 0, indexed=True)) is None, "it has no array"


def test_an_address_that_was_loaded_is_followed_to_the_variable() -> None:
    slot = Local("s", "serve", TO_SESSION, SP, 24, in_memory=True)
    chain = origin(DI, 8), origin(SP, 24, ip=BEFORE, parent=0)
    assert one(known(before=(slot,)), *chain) == ("session", 8, True)
    elsewhere = Local("s", "serve", TO_SESSION, SP, 32, in_memory=True)
    assert one(known(before=(elsewhere,)), *chain) is None
    table = known(statics=(Static("current", 0x4000, TO_SESSION),))
    assert one(table, origin(DI, 8), origin(-1, 0x4000, ip=BEFORE, parent=0)) == ("session", 8, True)
    assert one(table, origin(-1, 0x4000)) is None, "the variable itself has its name"


def test_a_pointer_in_the_threads_own_storage_says_the_record() -> None:
    """What lies at the same place of the file is another variable."""
    mine = (Static("mine", 16, TO_SESSION),)
    told, elsewhere = dataclasses.replace(known(), own=mine), known(statics=mine)

    def through(place: int) -> npt.NDArray[Any]:
        return rows(origin(0, 8), (HERE, place, 0, 0, -1, False, int(WordSet.OWN), 0, 0))

    found = reached(through(16), told)[0]
    assert (TYPES.name(found.type), found.offset, found.variable.name) == ("session", 8, "mine")
    assert reached(through(24), told) == {}
    assert reached(through(16), elsewhere) == {}
    assert reached(rows((HERE, 16, 0, -1, -1, False, int(WordSet.OWN), 0, 0)), told) == {}, "the pointer itself"


def test_a_variable_of_the_frame_is_the_object_itself() -> None:
    frame = Local("local", "serve", SESSION, SP, 16, in_memory=True)
    found = reached(rows(origin(SP, 24)), known(frame))[0]
    assert (found.offset, found.local, found.variable) == (8, True, frame)
    assert reached(rows(origin(SP, 16 + 40)), known(frame)) == {}


def test_a_word_of_the_frame_is_of_the_variable_that_is_there() -> None:
    """An index stays in its array, and what lies beside an array is another variable."""
    array = TypeRecord(TypeKind.ARRAY, "", 16, 0, TO_SESSION, 2, (), -1, 0)
    types = TypeTable([*(TYPES[row] for row in range(len(TYPES))), array])
    mine = Local("mine", "serve", len(TYPES), SP, 16, in_memory=True)
    told = dataclasses.replace(known(before=(mine,)), types=types)
    for place, indexed, said in ((24, False, True), (16, True, True), (32, False, False), (0, True, False)):
        chain = origin(DI, 8), origin(SP, place, ip=BEFORE, parent=0, indexed=indexed)
        assert (reached(rows(*chain), told) != {}) == said, (place, indexed)


def test_what_a_function_returns_is_known_by_its_type() -> None:
    told = dataclasses.replace(known(), results={0x2000: TO_SESSION})

    def of(callee: int, indexed: bool = False) -> npt.NDArray[Any]:
        return rows((callee, 8, 0, -1, -1, indexed, int(WordSet.RETURNED), 0, 0))

    found = reached(of(0x2000), told)[0]
    assert (TYPES.name(found.type), found.offset, found.exact) == ("session", 8, True)
    assert not reached(of(0x2000, indexed=True), told)[0].exact
    assert reached(of(0x3000), told) == {}
    assert reached(of(8), known(statics=(Static("current", 8, TO_SESSION),))) == {}


def line(*sites: tuple[int, int]) -> LineUse:
    """Of (first byte, instruction)."""
    seen = [Site("/bin/s", ip, "serve", start, start + 8, AccessKind.RMW, 10) for start, ip in sites]
    return LineUse(0x5000, 64, Region.HEAP, (), (), sites=tuple(seen))


def names(use: LineUse, at: int, known_: Mapping[tuple[str, int], tuple[Reached, Locals]]) -> tuple[str, int, str]:
    found = object_at(use, at, at + 8, known_)
    assert found is not None
    return found.type_name, found.address, found.member.path if found.member is not None else ""


def test_an_object_is_put_together_from_all_instructions_of_a_line() -> None:
    told = known(pointer("s", DI))
    use = line((8, 1), (16, 2))
    outer, inner = Reached(SESSION, 8, True, pointer("s", DI)), Reached(STATS, 8, True, pointer("t", DI))
    both = {("/bin/s", 1): (outer, told), ("/bin/s", 2): (inner, told)}
    assert names(use, 8, both) == ("session", 0x5000, "stats.hits")
    assert names(use, 16, both) == ("session", 0x5000, "stats.misses"), "the record around it"
    assert names(use, 24, both) == ("session", 0x5000, "slots"), "which no instruction of its own leads to"
    assert names(use, 16, {("/bin/s", 2): (inner, told)}) == ("stats", 0x5008, "misses")
    assert object_at(use, 48, 56, both) is None
    assert object_at(use, 8, 16, {}) is None


def test_the_function_of_a_local_variable_knows_its_name_and_others_only_its_type() -> None:
    told = known(pointer("s", DI))
    by_pointer = Reached(SESSION, 8, True, pointer("s", DI))
    own = Reached(SESSION, 16, True, Local("mine", "main", SESSION, SP, 0, in_memory=True), local=True)
    both = {("/bin/s", 1): (by_pointer, told), ("/bin/s", 2): (own, told)}
    for sites in (((8, 1), (16, 2)), ((16, 2), (8, 1))):
        found = object_at(line(*sites), 8, 16, both)
        assert found is not None
        assert (found.by, found.function, found.local) == ("mine", "main", True)


def test_an_element_of_unknown_number_has_no_address() -> None:
    told = known(pointer("t", DI, TO_STATS))
    some = {("/bin/s", 1): (Reached(STATS, 8, False, pointer("t", DI)), told)}
    assert names(line((40, 1)), 40, some) == ("stats", -1, "misses")
    assert object_at(line((40, 1)), 32, 40, some) is None, "it says nothing of other bytes"


@pytest.mark.parametrize(
    ("kind", "offset", "starts", "told"),
    [
        (STATS, 8, (8, 24), ("stats", 0x5010, "misses")),  # whole records apart
        (STATS, 0, (8, 24), ("stats", 0x5018, "hits")),
        (STATS, 8, (16, 24), ("stats", -1, "")),  # half a record apart: the index chose the member
        (SESSION, 24, (0, 40, 24), ("session", -1, "slots")),  # of the array in the record
    ],
)
def test_places_whole_records_apart_say_where_each_record_begins(
    kind: int, offset: int, starts: tuple[int, ...], told: tuple[str, int, str]
) -> None:
    some = {("/bin/s", 1): (Reached(kind, offset, False, pointer("t", DI, TO_STATS)), known())}
    assert names(line(*((start, 1) for start in starts)), 24, some) == told


def test_where_records_begin_their_neighbours_have_names_too() -> None:
    some = {("/bin/s", 1): (Reached(STATS, 8, False, pointer("t", DI, TO_STATS)), known())}
    assert names(line((8, 1), (24, 1)), 16, some) == ("stats", 0x5010, "hits")
    assert object_at(line((8, 1), (24, 1)), 32, 40, some) is None, "no record was seen there"
    assert object_at(line((16, 1), (24, 1)), 8, 16, some) is None, "where records begin is not known"


def test_a_record_has_its_own_name_and_not_that_of_an_alias() -> None:
    aliased = {("/bin/s", 1): (Reached(ALIAS, 8, True, pointer("t", DI, TO_STATS)), known())}
    assert names(line((40, 1)), 40, aliased) == ("stats", 0x5020, "misses")


def finding(objects: Mapping[int, SeenObject], *blocks: Allocation) -> Finding:
    """Of two counters at bytes 0 and 8 of the line 0x5000."""

    def heap(use: LineUse, at: int) -> Allocation | None:
        return next((b for b in blocks if b.address <= use.address + at < b.address + b.size), None)

    run = profile_lines(attribution(pair()), 64)
    lines = judge_lines(run, Names(heap=heap, objects=lambda use, start, end: objects.get(start)), 64)
    (only,) = findings_of(lines, run.totals, Style(64, ImageKind.PIE))
    return only


def seen(kind: int, offset: int, address: int = 0x5000, *, local: bool = False) -> SeenObject:
    member = TYPES.leaf(kind, offset)
    return SeenObject(TYPES.name(kind), TYPES.size(kind), address, offset, member, "net.h:7", "s", "serve", local)


def test_members_of_one_object_are_named_and_parted() -> None:
    found = finding({0: seen(STATS, 0), 8: seen(STATS, 8)})
    assert sorted(p.name for p in found.participants) == ["stats.hits", "stats.misses"]
    assert {(p.type, p.source) for p in found.participants} == {("long", "net.h:7")}
    assert sum(e.text == "heap: stats (net.h:7), 16 bytes, which s in serve leads to" for e in found.evidence) == 1
    assert found.remedies[0].text.startswith(("give hits of stats (net.h:7) lines", "give misses of stats (net.h:7)"))
    assert found.remedies[0].edit.startswith("alignas(64) long ")


def parted(*accesses: tuple[int, int, int], align: int = 0) -> list[Finding]:
    """Of (thread, byte, samples): counters of one object that is one line."""
    made = Recorded()
    for number, (thread, at, samples) in enumerate(accesses):
        times = ticks(samples, shift=30_000 * number)
        made = made.loop(thread, times, at=at, function=f"count_{thread}", line=0x5000)
    members = [(f"m{at}", at, LONG) for at in range(0, 64, 8)]
    types = TypeTable([TYPES[LONG], record("tally", 64, *members)])
    run = profile_lines(attribution(made), 64)

    def tally(use: LineUse, start: int, end: int) -> SeenObject:
        return SeenObject("tally", 64, 0x5000, start, types.leaf(1, start), "net.h:7", "s", "serve", False, align=align)

    return findings_of(judge_lines(run, Names(objects=tally), 64), run.totals, Style(64, ImageKind.PIE))


@pytest.mark.parametrize(
    ("accesses", "moved"),
    [
        # Three counters of one thread, and one member that another changes less often.
        (((0, 0, 300), (0, 8, 400), (0, 16, 300), (1, 32, 60)), ["m32"]),
        (((1, 0, 60), (0, 8, 400), (0, 16, 300), (0, 24, 300)), ["m0"]),
        # Two of each: both of one thread have to go.
        (((0, 0, 400), (1, 16, 300), (0, 8, 400), (1, 24, 300)), ["m16", "m24"]),
        # One of each: as before, the one that is named first.
        (((0, 0, 400), (1, 8, 400)), ["m0"]),
    ],
)
def test_the_member_that_others_use_is_moved_and_not_one_of_its_owners(
    accesses: tuple[tuple[int, int, int], ...], moved: list[str]
) -> None:
    (found,) = parted(*accesses)
    said = [re.match(r"give (\w+) of tally \(net\.h:7\) lines of its own", one.text) for one in found.remedies]
    assert sorted(match[1] for match in said if match) == moved
    assert len(said) == len(moved)


@pytest.mark.parametrize(("align", "said"), [(0, True), (32, True), (64, False), (128, False)])
def test_of_a_type_that_asks_for_the_line_nothing_is_said_of_its_allocation(align: int, said: bool) -> None:
    (found,) = parted((0, 0, 400), (1, 8, 400), align=align)
    assert ("aligned_alloc" in found.remedies[0].text) is said


def of_rust(kind: int, offset: int, address: int = 0x5000) -> SeenObject:
    return dataclasses.replace(seen(kind, offset, address), language="Rust")


@pytest.mark.parametrize(
    ("objects", "text", "edit"),
    [
        (
            {0: of_rust(STATS, 0), 8: of_rust(STATS, 8)},
            r"wrap (hits|misses) of stats in a type",
            r"(hits|misses): Line<T>,",
        ),
        (
            {0: of_rust(STATS, 0), 8: of_rust(STATS, 0, 0x5008)},
            r"align stats, of which several",
            r"struct stats \{ … \}",
        ),
        (
            {0: of_rust(SESSION, 24, 0x4FE8), 8: of_rust(SESSION, 32, 0x4FE8)},
            r"wrap the elements of slots of session in",
            r"struct Line<T>\(T\);",
        ),
    ],
)
def test_objects_of_rust_are_wrapped_and_allocated_as_before(
    objects: dict[int, SeenObject], text: str, edit: str
) -> None:
    remedy = finding(objects).remedies[0]
    assert remedy.language == "Rust"
    assert re.search(text, remedy.text)
    assert "CachePadded" in remedy.text
    assert "aligned_alloc" not in remedy.text
    assert remedy.edit.startswith("#[repr(align(64))]\nstruct ")
    assert re.search(edit, remedy.edit)


def in_language(language: str, kind: int, offset: int, address: int = 0x5000) -> SeenObject:
    return dataclasses.replace(seen(kind, offset, address), language=language)


@pytest.mark.parametrize("language", ["C11", "C99", "C17"])
def test_objects_of_c_are_aligned_as_c_writes_it_and_allocated_so(language: str) -> None:
    found = finding({at: in_language(language, STATS, 0, 0x5000 + at) for at in (0, 8)}).remedies[0]
    assert found.language == "C"
    assert found.edit == "struct stats { … } __attribute__((aligned(64)));  /* sizeof is a multiple of 64 */"
    assert "aligned_alloc" in found.text
    assert "new" not in found.text


@pytest.mark.parametrize(
    ("language", "edit"),
    [
        ("C11", r"_Alignas\(64\) long (hits|misses);  /\*"),
        ("C99", r"long (hits|misses) __attribute__\(\(aligned\(64\)\)\);  /\*"),
        ("C_plus_plus_14", r"alignas\(64\) long (hits|misses);  //"),
    ],
)
def test_members_are_aligned_as_their_language_writes_it(language: str, edit: str) -> None:
    found = finding({at: in_language(language, STATS, at) for at in (0, 8)}).remedies[0]
    assert re.match(edit, found.edit)


def test_slots_of_c_get_a_type_of_c() -> None:
    found = finding({at: in_language("C11", SESSION, 24 + at, 0x4FE8) for at in (0, 8)}).remedies[0]
    assert found.edit.startswith("struct Own { T value; } __attribute__((aligned(64)));  /* T:")


@pytest.mark.parametrize("language", ["C_plus_plus_14", ""])
def test_objects_of_cpp_and_of_several_languages_keep_alignas(language: str) -> None:
    found = finding({at: in_language(language, STATS, 0, 0x5000 + at) for at in (0, 8)}).remedies[0]
    assert found.edit.startswith("struct alignas(64) stats {")
    assert "C++17's new" in found.text
    assert found.language == "C/C++"


def test_two_objects_on_a_line_get_lines_of_their_own() -> None:
    block = Allocation(0x5000, 32, 2.0, (Frame("open", "net.c:3", target=True),))
    found = finding({0: seen(STATS, 0), 8: seen(STATS, 0, 0x5008)}, block)
    assert "give each stats (net.h:7) lines of its own: of 16 bytes each" in found.remedies[0].text
    assert found.remedies[0].edit.startswith("struct alignas(64) stats {")
    assert "where open (net.c:3) allocates it" in found.remedies[0].text
    assert {p.name for p in found.participants} == {"stats[0].hits"}, "of a block for several, which one"


@pytest.mark.parametrize(
    ("maker", "name"),
    [
        ("std::make_shared<stats, int&>(int&)", "stats.hits"),
        ("std::allocate_shared<stats, Arena<stats> >", "stats.hits"),
        ("std::make_shared<stats []>", "stats[1].hits"),
        ("make_shared_ring", "stats[1].hits"),
        ("alloc::sync::Arc<stats, alloc::alloc::Global>::new<stats>", "stats.hits"),
        ("alloc::rc::Rc<m::stats<[u8; 4]>>::new", "stats.hits"),
        ("alloc::sync::Arc<[stats]>::new_uninit_slice", "stats[1].hits"),
        ("alloc::vec::Vec<alloc::sync::Arc<stats>>::with_capacity", "stats[1].hits"),
    ],
)
def test_what_is_one_object_behind_its_counts_has_no_number(maker: str, name: str) -> None:
    block = Allocation(0x4FF0, 32, 2.0, (Frame(maker, "memory:3", target=True), Frame("open", "net.c:3", target=True)))
    found = finding({0: seen(STATS, 0), 8: seen(STATS, 8)}, block)
    assert name in {p.name for p in found.participants}


@pytest.mark.parametrize(
    ("objects", "text", "edit"),
    [
        (
            {0: (STATS, 0, 0x5000), 8: (STATS, 8, 0x5000)},
            r"pad (hits|misses) of stats on both sides",
            r"_ \[56\]byte\n(hits|misses) long\n_ \[56\]byte$",
        ),
        ({0: (STATS, 0, 0x5000), 8: (STATS, 0, 0x5008)}, r"keep objects of stats a line apart", r"_ \[56\]byte //"),
        ({0: (SESSION, 24, 0x4FE8), 8: (SESSION, 32, 0x4FE8)}, r"elements of slots", r"_ \[56\]byte //"),
        ({0: (STATS, 0, -1), 8: (STATS, 8, -1)}, r"what count_(in|out) write there", r"_ \[56\]byte //"),
    ],
)
def test_objects_of_go_are_padded_as_go_can(objects: dict[int, tuple[int, int, int]], text: str, edit: str) -> None:
    remedy = finding({at: in_language("Go", *one) for at, one in objects.items()}).remedies[0]
    assert remedy.language == "Go"
    assert re.search(text, remedy.text)
    assert re.match(edit, remedy.edit)
    assert "aligned_alloc" not in remedy.text
    assert "alignas" not in remedy.edit


@pytest.mark.parametrize(
    ("language", "called", "edit"),
    [
        ("Rust", "Rust", "#[repr(align(64))]\nstruct Line<T>(T);"),
        ("C11", "C", "struct Own { T value; } __attribute__((aligned(64)));"),
        ("", "C/C++", "struct alignas(64) Own { T value; };"),
    ],
)
def test_elements_of_unknown_number_get_an_edit_in_their_language(language: str, called: str, edit: str) -> None:
    remedy = finding({at: in_language(language, STATS, at, -1) for at in (0, 8)}).remedies[0]
    assert remedy.language == called
    assert remedy.edit.startswith(edit)


@pytest.mark.parametrize("blocks", [(), (Allocation(0x5000, 40, 2.0, (Frame("open", "", target=True),)),)])
def test_slots_inside_a_record_are_elements(blocks: tuple[Allocation, ...]) -> None:
    found = finding({0: seen(SESSION, 24, 0x4FE8), 8: seen(SESSION, 32, 0x4FE8)}, *blocks)
    assert sorted(p.name for p in found.participants) == ["session.slots[0]", "session.slots[1]"]


@pytest.mark.parametrize("blocks", [(), (Allocation(0x4FF0, 64, 2.0, (Frame("spawn", "", target=True),)),)])
def test_a_local_variable_has_its_own_name(blocks: tuple[Allocation, ...]) -> None:
    """Captured ones may be in a block, beside others."""
    found = finding({0: seen(STATS, 0, local=True), 8: seen(STATS, 8, local=True)}, *blocks)
    assert sorted(p.name for p in found.participants) == ["s.hits in serve", "s.misses in serve"]
