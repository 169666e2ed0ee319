"""The map of lines: every byte is a member, variable, hole, padding or unknown, and named as a person would."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sharing.model import AccessKind, FunctionFlag, ImageKind, Section, SectionKind, SiteFlag
from sharing.model.linemap import LayoutLine, LayoutSpan, SpanKind
from sharing.static.flow import LOCK_DTYPE
from sharing.static.linemap import LineMap
from tests.lines.images import ABSURD, BSS, CHARS, FLAGS, LONG, MANY, ODD, PAIR, PAIRS, image

TYPES = st.sampled_from([(-1, 12), (LONG, 8), (PAIR, 16), (PAIRS, 128), (CHARS, 96), (FLAGS, 8), (ODD, 16), (PAIR, 24)])


def spans(line: LayoutLine) -> list[tuple[int, int, str, str]]:
    return [(span.start, span.end, span.kind.value, span.name) for span in line.spans]


def span_at(lines: list[LayoutLine], name: str) -> LayoutSpan:
    return next(span for line in lines for span in line.spans if span.name == name)


@given(st.lists(st.tuples(st.integers(0, 400), TYPES), max_size=10), st.sampled_from([32, 64, 128, 256]), st.booleans())
def test_every_byte_of_every_line_has_one_kind(
    placed: list[tuple[int, tuple[int, int]]], line_size: int, local: bool
) -> None:
    variables = [(f"v{i}", BSS + at, size, type_row) for i, (at, (type_row, size)) in enumerate(placed)]
    lines = LineMap(image(variables, local=local), line_size).lines(range(BSS, BSS + 512, line_size))
    kinds: dict[int, SpanKind] = {}
    for line in lines:
        assert [b for span in line.spans for b in range(span.start, span.end)] == list(range(line_size))
        kinds |= {int(line.address, 16) + b: span.kind for span in line.spans for b in range(span.start, span.end)}
    for address, kind in kinds.items():
        owned = any(start <= address < start + size for _, start, size, _ in variables)
        assert owned == (kind in (SpanKind.MEMBER, SpanKind.VARIABLE, SpanKind.HOLE))


def test_members_are_flattened_and_holes_named() -> None:
    line = LineMap(image([("config", BSS, 16, PAIR)]), 64).lines(range(BSS, BSS + 64, 64))[0]
    assert spans(line) == [
        (0, 4, "member", "config.key"),
        (4, 8, "hole", "config"),
        (8, 16, "member", "config.value"),
        (16, 64, "unknown", ""),
    ]


def test_the_tail_of_a_type_is_a_hole_too() -> None:
    line = LineMap(image([("odd", BSS, 16, ODD), ("next", BSS + 16, 8, LONG)]), 64).lines(range(BSS, BSS + 64, 64))[0]
    assert spans(line)[:4] == [
        (0, 8, "member", "odd.first"),
        (8, 12, "member", "odd.last"),
        (12, 16, "hole", "odd"),
        (16, 24, "member", "next"),
    ]


def test_a_gap_that_alignment_explains_is_padding_and_a_wide_one_is_unknown() -> None:
    variables = [("a", BSS, 8, LONG), ("b", BSS + 32, 8, LONG), ("c", BSS + 128, 8, LONG)]
    first, second, third = LineMap(image(variables), 64).lines(range(BSS, BSS + 192, 64))
    assert spans(first)[1] == (8, 32, "padding", "")
    assert spans(first)[3] == (40, 64, "unknown", "")
    assert spans(second) == [(0, 64, "unknown", "")]
    assert spans(third)[0] == (0, 8, "member", "c")


def test_a_gap_between_exported_names_only_is_unknown() -> None:
    variables = [("a", BSS, 8, LONG), ("b", BSS + 16, 8, LONG)]
    line = LineMap(image(variables, local=False), 64).lines(range(BSS, BSS + 64, 64))[0]
    assert spans(line)[1] == (8, 16, "unknown", "")


def test_elements_of_an_array_of_records_are_numbered() -> None:
    lines = LineMap(image([("slots", BSS + 32, 128, PAIRS)]), 64).lines(range(BSS, BSS + 192, 64))
    assert spans(lines[1])[:3] == [
        (0, 4, "member", "slots[2].key"),
        (4, 8, "hole", "slots"),
        (8, 16, "member", "slots[2].value"),
    ]
    assert span_at(lines, "slots[7].value").offset == 120


def test_elements_of_a_plain_array_are_numbered_by_range() -> None:
    lines = LineMap(image([("counts", BSS, 96, CHARS)]), 64).lines(range(BSS, BSS + 128, 64))
    assert [spans(line)[0][3] for line in lines] == ["counts[0..15]", "counts[16..23]"]
    assert not span_at(lines, "counts[0..15]").split


def test_long_arrays_are_named_to_their_end() -> None:
    made = image([("slots", BSS, 16 * 8, PAIRS), ("many", BSS + 0x1000, 16 * 5000, MANY)])
    lines = LineMap(made, 256).lines(range(BSS + 0x1000, BSS + 0x1000 + 16 * 5000, 256))
    assert span_at(lines, "many[4999].value").end == 128
    assert not any(span.kind is SpanKind.HOLE and span.end - span.start > 4 for line in lines for span in line.spans)


def test_a_type_with_absurdly_many_members_counts_as_untyped() -> None:
    made = image([("absurd", BSS, 4096, ABSURD)])
    lines = LineMap(made, 64).lines(range(BSS, BSS + 4096, 64))
    assert {span.kind for line in lines for span in line.spans} == {SpanKind.VARIABLE}


def test_bit_fields_that_share_a_byte_are_one_span() -> None:
    line = LineMap(image([("f", BSS, 8, FLAGS)]), 64).lines(range(BSS, BSS + 64, 64))[0]
    assert spans(line)[:3] == [
        (0, 1, "member", "f.ready:1, state:3"),
        (1, 4, "hole", "f"),
        (4, 8, "member", "f.rest"),
    ]


def test_a_member_over_the_boundary_is_marked_on_both_lines() -> None:
    lines = LineMap(image([("p", BSS + 52, 16, PAIR)]), 64).lines(range(BSS, BSS + 128, 64))
    values = [span for line in lines for span in line.spans if span.name == "p.value"]
    assert [(span.start, span.end, span.split) for span in values] == [(60, 64, True), (0, 4, True)]
    assert not span_at(lines, "p.key").split


def test_an_element_over_the_boundary_is_marked() -> None:
    lines = LineMap(image([("counts", BSS + 2, 96, CHARS)]), 64).lines(range(BSS, BSS + 128, 64))
    assert [span.split for line in lines for span in line.spans if span.object == "counts"] == [True, True]


def test_bytes_beyond_what_the_type_describes_are_the_variable_not_a_hole() -> None:
    line = LineMap(image([("grown", BSS, 24, PAIR)]), 64).lines(range(BSS, BSS + 64, 64))[0]
    assert (16, 24, "variable", "grown+0x10") in spans(line)
    assert (4, 8, "hole", "grown") in spans(line)  # what the type describes has its holes all the same


def test_without_a_type_the_touched_bytes_stand_for_members() -> None:
    sites = [(BSS + 8, 8, AccessKind.LOAD, 0), (BSS + 8, 4, AccessKind.STORE, 1), (BSS, 256, AccessKind.STORE, 1)]
    line = LineMap(image([("server", BSS, 256, -1)], sites=sites), 64).lines(range(BSS, BSS + 64, 64))[0]
    assert spans(line) == [
        (0, 8, "variable", "server"),
        (8, 12, "variable", "server+0x8"),
        (12, 16, "variable", "server+0xc"),
        (16, 64, "variable", "server+0x10"),
    ]
    assert [span.writers for span in line.spans] == [("writer",)] * 4
    assert [span.readers for span in line.spans] == [(), ("reader",), ("reader",), ()]


def test_lock_operations_are_named_apart_from_accesses() -> None:
    locks = np.zeros(2, LOCK_DTYPE)
    locks["address"] = [BSS + 8, BSS + 16]
    locks["function"] = [1, 0]
    made = LineMap(image([("p", BSS, 16, PAIR)]), 64, locks=locks)
    assert made.describe(0).lockers == ("writer",)
    assert span_at(made.lines(range(BSS, BSS + 64, 64)), "p.value").lockers == ("writer",)


def test_accessors_are_named_per_span_most_sites_first() -> None:
    sites = [
        (BSS, 4, AccessKind.LOAD, 0),
        (BSS + 8, 8, AccessKind.STORE, 1),
        (BSS + 8, 8, AccessKind.RMW, 1),
        (BSS + 8, 8, AccessKind.STORE, 0),
        (BSS + 8, 8, AccessKind.ADDRESS, 0),
    ]
    made = LineMap(image([("p", BSS, 16, PAIR)], sites=sites), 64)
    lines = made.lines(range(BSS, BSS + 64, 64))
    assert span_at(lines, "p.key").readers == ("reader",)
    assert span_at(lines, "p.key").writers == ()
    assert span_at(lines, "p.value").writers == ("writer", "reader")
    described = made.describe(0)
    assert (described.readers, described.writers, described.takers) == (("reader",), ("writer", "reader"), ("reader",))


def in_array(kind: AccessKind, target: int, size: int, stride: int, *variables: tuple[str, int, int, int]) -> LineMap:
    """A map of variables of which ``writer`` accesses one element, or with a stride any."""
    made = image(variables, sites=[(target, size, kind, 1)])
    made.sites["flags"] = SiteFlag.INDEXED if stride else 0
    made.sites["stride"] = stride
    return LineMap(made, 64)


def written(lines: list[LayoutLine]) -> list[str]:
    return [span.name for line in lines for span in line.spans if span.writers]


def test_a_computed_index_may_choose_any_element_of_its_array() -> None:
    slots, behind = ("slots", BSS, 128, PAIRS), ("behind", BSS + 128, 16, PAIR)
    for first in (0, 48):  # of slots[i].value and of slots[i + 3].value
        made = in_array(AccessKind.STORE, BSS + first + 8, 8, 16, slots, behind)
        assert written(made.lines(range(BSS, BSS + 192, 64))) == [f"slots[{n}].value" for n in range(8)]
    # A line further on alone, as it is asked for.
    assert written(made.lines(range(BSS + 64, BSS + 128, 64))) == [f"slots[{n}].value" for n in range(4, 8)]
    fixed = in_array(AccessKind.STORE, BSS + 8, 8, 0, slots, behind)
    assert written(fixed.lines(range(BSS, BSS + 192, 64))) == ["slots[0].value"]


def test_a_step_that_is_none_of_an_arrays_says_nothing_of_other_places() -> None:
    """Records one behind the other that a pointer walks through, or an index into something of another size."""
    one = in_array(AccessKind.STORE, BSS, 4, 16, ("one", BSS, 16, PAIR), ("two", BSS + 16, 16, PAIR))
    assert written(one.lines(range(BSS, BSS + 64, 64))) == ["one.key"]
    other = in_array(AccessKind.STORE, BSS, 4, 12, ("slots", BSS, 128, PAIRS))
    assert written(other.lines(range(BSS, BSS + 128, 64))) == ["slots[0].key"]


def test_a_variable_without_a_type_is_an_array_where_its_size_and_the_place_say_so() -> None:
    def lines_written(size: int, target: int) -> list[bool]:
        made = in_array(AccessKind.RMW, BSS + target, 8, 16, ("table", BSS, size, -1))
        return [any(span.writers for span in line.spans) for line in made.lines(range(BSS, BSS + 192, 64))]

    assert lines_written(192, 8) == [True, True, True]
    assert lines_written(188, 8) == [True, False, False]  # no number of such elements
    assert lines_written(192, 24) == [True, False, False]  # not the first: a member before it is passed over


def test_locks_in_an_array_are_all_taken() -> None:
    locks = np.zeros(1, LOCK_DTYPE)
    locks["address"], locks["function"], locks["stride"] = BSS, 1, 16
    made = LineMap(image([("slots", BSS, 128, PAIRS)]), 64, locks=locks)
    taken = [span.name for line in made.lines(range(BSS, BSS + 128, 64)) for span in line.spans if span.lockers]
    assert taken == [f"slots[{n}].key" for n in range(8)]


def test_thread_local_variables_are_on_lines_of_their_own() -> None:
    sections = [
        Section(0, ".bss", SectionKind.WRITABLE, BSS, 0x1000, 32, None),
        Section(1, ".tbss", SectionKind.TLS, BSS, 0x100, 8, None),
    ]
    made = image([("shared", BSS, 8, LONG), ("mine", BSS, 8, LONG)], sections=sections)
    made.variables["section"][1] = 1
    assert LineMap(made, 64).lines(range(BSS, BSS + 64, 64))[0].spans[0].name == "shared"
    own = LineMap(made, 64, thread_local=True).lines(range(BSS, BSS + 64, 64))[0]
    assert (own.section, own.spans[0].name) == (".tbss", "mine")


def test_the_summary_counts_lines_with_two_objects_and_objects_over_a_boundary() -> None:
    variables = [
        ("a", BSS, 8, LONG),
        ("b", BSS + 8, 8, LONG),
        ("over", BSS + 60, 8, LONG),
        ("big", BSS + 128, 256, -1),
        ("last", BSS + 384, 8, LONG),
    ]
    made = LineMap(image(variables), 64)
    (row,) = made.summaries()
    assert (row.lines, row.objects, row.shared_lines, row.straddling) == (64, 5, 1, 1)
    (crowded,) = made.crowded(10)
    assert (crowded.address, crowded.objects) == (f"{BSS:#x}", ("a", "b", "over"))


def test_a_line_has_the_name_of_the_section_whose_objects_it_holds() -> None:
    """What a linker puts in front, as a table of addresses, has no objects of its own."""
    table = Section(0, ".got.plt", SectionKind.WRITABLE, BSS - 128, 136, 8, 0x1000)
    data = Section(1, ".data", SectionKind.WRITABLE, BSS + 8, 24, 8, 0x1088)
    bss = Section(2, ".bss", SectionKind.WRITABLE, BSS + 32, 480, 8, None)
    ends = image([("set", BSS + 8, 8, LONG), ("zero", BSS + 32, 8, LONG)], sections=(table, data, bss))
    alone = image([("zero", BSS + 32, 8, LONG)], sections=(table, data, bss))
    for made, named in ((ends, ".data, .bss"), (alone, ".bss")):
        before, line, after = LineMap(made, 64).lines(range(BSS - 64, BSS + 128, 64))
        assert (before.section, line.section, after.section) == (".got.plt", named, ".bss")
        assert LineMap(made, 64).describe(len(made.variables) - 1).section == ".bss"


def test_code_of_a_kernels_boot_alone_uses_nothing() -> None:
    sites = [(BSS, 8, AccessKind.STORE, 0), (BSS, 8, AccessKind.LOAD, 1)]
    made = image([("v", BSS, 8, LONG)], sites=sites, functions=("clear_all", "reader"))
    made.functions["flags"][0] |= FunctionFlag.INIT
    locks = np.zeros(2, LOCK_DTYPE)
    locks["address"], locks["function"] = BSS, [0, 1]

    def users(kind: ImageKind) -> tuple[tuple[str, ...], ...]:
        found = LineMap(dataclasses.replace(made, kind=kind), 64, locks=locks)
        span = span_at(found.lines(range(BSS, BSS + 64, 64)), "v")
        object_ = found.describe(0)
        assert (object_.lockers, object_.writers) == (span.lockers, span.writers)
        return span.lockers, span.writers, span.readers

    assert users(ImageKind.KERNEL) == (("reader",), (), ("reader",))
    assert users(ImageKind.MODULE) == users(ImageKind.KERNEL)
    # Of a program it is what runs before main, which a user of the map wants to see.
    assert users(ImageKind.PIE) == (("clear_all", "reader"), ("clear_all",), ("reader",))
