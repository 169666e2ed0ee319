"""Which edits are chosen: those that leave nothing, the cheap ones first, and none where none helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import pytest

from sharing.judge.remedies.choice import Conflict, choose, cost_of
from sharing.judge.remedies.editedlayout import Edit, Kind, Layout, touched
from sharing.judge.remedies.paths import Paths
from sharing.judge.remedies.rejudge import conflict_of
from sharing.judge.remedies.spelling import declaration
from sharing.judge.remedy import Style, remedy
from sharing.model import Image, ImageKind, TypeKind, TypeMember
from sharing.model.finding import Severity, Verdict
from sharing.model.image import ALLOCATED
from sharing.model.profile import Actor, LineProfile, Role
from sharing.rules.line.base import Draft
from tests.builders.image import BSS, Builder

LINE = 64
WORD = 8


def actor(
    name: str, owner: str, at: int, size: int = WORD, *, start: int = BSS, whole: int = 0, **more: object
) -> Actor:
    """Bytes of a variable; ``whole`` is the variable's size."""
    span = (start + at, start + at + size)
    return Actor(name, owner, (start, start + (whole or size)), span, (span,), Role.COUNTER, **more)  # type: ignore[arg-type]


def apart(
    actors: Sequence[Actor], wrong: Callable[[str, str], bool] = lambda a, b: True
) -> Callable[..., list[Conflict]]:
    """What is left: pairs (that ``wrong`` says disturb each other) on one line after the edits."""

    def left(layout: Layout, _enough: int) -> list[Conflict]:
        lines = {a: {x // LINE for s, e in touched(layout.after(a)) for x in (s, e - 1)} for a in actors}
        return [
            Conflict((a, b), (a, b))
            for a, b in combinations(actors, 2)
            if wrong(a.name, b.name) and lines[a] & lines[b]
        ]

    return left


def record(b: Builder, *members: tuple[str, int], size: int, name: str = "node") -> int:
    """A struct; members are (name, size), eight bytes aligned, larger ones arrays of words."""
    word = b._type(TypeKind.BASE, "long", WORD)
    made, at = [], 0
    for label, wide in members:
        kind = word if wide == WORD else b._type(TypeKind.ARRAY, "", wide, word, wide // WORD)
        made.append(TypeMember(label, 8 * at, kind, 0, False))
        at += wide
    return b._type(TypeKind.STRUCT, name, size, members=made)


def chosen(
    actors: Sequence[Actor], image: Image | None = None, wrong: Callable[[str, str], bool] = lambda a, b: True
) -> list[tuple[Kind, str]]:
    edits = choose(Conflict(tuple(actors), tuple(actors)), apart(actors, wrong), Paths(image), LINE)
    return [(e.kind, e.actor.name) for e in edits]


def test_of_two_variables_the_first_moves() -> None:
    assert chosen([actor("a", "a", 0), actor("b", "b", 0, start=BSS + 8)]) == [(Kind.WHOLE, "a")]


def read_mostly(*, member: bool = False) -> Actor:
    one = actor("limit", "limit", 0, start=BSS + 8, whole=16 if member else 0)
    return replace(one, role=Role.READ_MOSTLY)


def test_what_a_kernel_can_move_at_no_cost_moves_first() -> None:
    lock, limit = actor("lock", "lock", 0), read_mostly()
    both = (lock, limit)
    for free, moved in ((), "lock"), ((limit,), "limit"):
        (edit,) = choose(Conflict(both, (lock,), free=free), apart(both), Paths(None), LINE)
        assert edit.actor.name == moved
    # A third that the lock disturbs as well would be left: then the lock moves.
    three = (*both, actor("count", "count", 0, start=BSS + 16))
    wrong = apart(three, lambda a, b: "lock" in (a, b))
    (edit,) = choose(Conflict(three, (lock,), free=(limit,)), wrong, Paths(None), LINE)
    assert edit.actor.name == "lock"


@pytest.mark.parametrize(
    ("victim", "kernel", "free"),
    [
        (read_mostly(), True, 1),
        (read_mostly(), False, 0),
        (read_mostly(member=True), True, 0),
        (actor("n", "n", 0), True, 0),
    ],
    ids=["whole", "no kernel", "a member", "a counter"],
)
def test_whole_variables_of_a_kernel_that_are_hardly_written_cost_nothing(
    victim: Actor, kernel: bool, free: int
) -> None:
    lock = actor("lock", "lock", 0)
    line = LineProfile(BSS, LINE, (lock, victim))
    draft = Draft("r", Severity.LOW, Verdict.FALSE_SHARING, line, (lock, victim), (lock,), "", (), 1.0)
    assert conflict_of(draft, kernel=kernel).free == (victim,) * free


def test_where_moves_have_no_end_members_get_lines_of_their_own() -> None:
    """A member that moves comes to others, which move on; near miss: where that is all right it costs nothing."""
    b = Builder()
    kind = record(b, ("first", WORD), ("second", WORD), ("rest", 30 * WORD), size=32 * WORD)
    b.variable("node", 32 * WORD, at=BSS, type=kind)
    size = 32 * WORD
    first, second, last = (
        actor(f"node.{at}", "node", at, whole=size, section=ALLOCATED) for at in (0, WORD, size - WORD)
    )

    def left(layout: Layout, _enough: int, *, to_others: bool) -> list[Conflict]:
        kinds = {edit.kind for edits in layout._edits.values() for edit in edits}
        if Kind.ELSEWHERE in kinds:
            return [Conflict((last,), (last,))] if to_others else []
        return [] if kinds else [Conflict((first, second), (first, second))]

    pair = Conflict((first, second), (first, second))
    for to_others in False, True:
        edits = choose(pair, partial(left, to_others=to_others), Paths(b.image()), LINE)
        assert [edit.kind for edit in edits] == [Kind.MEMBER if to_others else Kind.ELSEWHERE]


def test_of_three_that_disturb_each_other_two_move() -> None:
    three = [actor(name, name, 0, start=BSS + 8 * at) for at, name in enumerate("abc")]
    assert len(chosen(three)) == 2


def test_what_costs_more_is_not_tried_once_nothing_is_left() -> None:
    """Of objects that are allocated there may be any number; near miss: where that one alone helps it is tried."""
    pair = [actor("a", "a", 0, section=ALLOCATED), actor("b", "b", 0, start=BSS + 8)]
    for helps, asked in ("b", ["b"]), ("a", ["b", "a"]):
        tried: list[str] = []

        def left(layout: Layout, enough: int, helps: str = helps, tried: list[str] = tried) -> list[Conflict]:
            tried.append(layout.variables[0][0])
            return [] if tried[-1] == helps else apart(pair)(Layout([], pair, LINE), enough)

        (edit,) = choose(Conflict(tuple(pair), tuple(pair)), left, Paths(None), LINE)
        assert (edit.actor.name, tried) == (helps, asked)


def test_what_leaves_as_much_as_another_edit_is_not_judged_to_its_end() -> None:
    three = [actor(name, name, 0, start=BSS + 8 * at) for at, name in enumerate("abc")]
    bounds: list[int] = []

    def left(layout: Layout, enough: int) -> list[Conflict]:
        bounds.append(enough)
        return apart(three)(layout, enough)

    choose(Conflict(tuple(three), tuple(three)), left, Paths(None), LINE)
    assert min(bounds[1:3]) == 2  # the first edit leaves one pair


def test_one_that_disturbs_all_moves_alone() -> None:
    """Near miss: the other two get on."""
    three = [actor(name, name, 0, start=BSS + 8 * at) for at, name in enumerate("abc")]
    assert chosen(three, wrong=lambda a, b: "b" in (a, b)) == [(Kind.WHOLE, "b")]


def test_the_edit_of_what_the_finding_names_comes_first() -> None:
    """Though `d`, which disturbs all, has to move before the pair is what is left."""
    four = [actor(name, name, 0, start=BSS + 8 * at) for at, name in enumerate("abcd")]
    edits = chosen(four, wrong=lambda a, b: "d" in (a, b) or {a, b} == {"a", "b"})
    assert edits == [(Kind.WHOLE, "a"), (Kind.WHOLE, "d")]


def node_image(size: int = 32, count: int = 1, more: int = 0) -> Image:
    b = Builder()
    kind = record(
        b,
        ("next", 8),
        ("refs", 8),
        ("changes", 8),
        ("rest", size - 24 - more),
        *([("more", more)] if more else []),
        size=size,
    )
    if count > 1:
        kind = b._type(TypeKind.ARRAY, "", size * count, kind, count)
    b.variable("pool", size * count, at=BSS, type=kind)
    return b.image()


def node_pair(size: int = 32, count: int = 1) -> list[Actor]:
    owner = "pool[0]" if count > 1 else "pool"
    return [actor(f"{owner}.{name}", "pool", at, whole=size * count) for name, at in (("refs", 8), ("changes", 16))]


def test_a_pair_inside_of_what_moved_is_separated_too() -> None:
    outside = actor("lone", "lone", 0, start=BSS + 32)
    kinds = chosen([outside, *node_pair()], node_image())
    assert (Kind.MEMBER, "pool.refs") in kinds


def test_members_of_an_element_are_not_separated_by_more_room_between_elements() -> None:
    edits = choose(
        Conflict(tuple(node_pair(32, 64)), tuple(node_pair(32, 64))),
        apart(pair := node_pair(32, 64)),
        Paths(node_image(32, 64)),
        LINE,
    )
    assert [e.kind for e in edits] == [Kind.MEMBER]
    assert (cost_of(edits[0], LINE).each, cost_of(edits[0], LINE).objects) == (160, 64)
    assert pair


def test_elements_are_separated_by_their_size() -> None:
    """Near miss: the same array, and its elements disturb each other."""
    two = [actor(f"pool[{i}].refs", "pool", 32 * i + 8, whole=32 * 64) for i in (0, 1)]
    assert chosen(two, node_image(32, 64)) == [(Kind.ELEMENTS, "pool[0].refs")]


def test_in_many_objects_a_member_moves_within_its_record() -> None:
    assert chosen(node_pair(192, 64), node_image(192, 64, more=88)) == [(Kind.ELSEWHERE, "pool[0].refs")]


def test_not_to_where_the_next_object_is_near() -> None:
    """Near miss: behind the last member stands the first of the next element."""
    assert chosen(node_pair(192, 64), node_image(192, 64)) == [(Kind.MEMBER, "pool[0].refs")]


def test_in_one_object_it_gets_a_line() -> None:
    """Near miss: nothing to save."""
    assert chosen(node_pair(192), node_image(192)) == [(Kind.MEMBER, "pool.refs")]


def test_of_objects_on_the_heap_there_may_be_many() -> None:
    image = node_image(192)
    pair = [actor(a.name, "pool", a.span[0] - BSS, whole=192, section=ALLOCATED) for a in node_pair(192)]
    assert chosen(pair, image) == [(Kind.ELSEWHERE, "pool.refs")]


def test_where_no_edit_helps_there_is_none() -> None:
    same = [actor("a", "a", 0), actor("b", "a", 0)]  # two names for the same bytes
    assert chosen(same) == []


def test_a_large_array_stays_and_its_neighbour_moves() -> None:
    """An element of the array and a flag behind it: whole lines for the flag are enough."""
    image = node_image(32, 64)
    last = actor("pool[63].refs", "pool", 63 * 32 + 8, whole=32 * 64)
    flag = actor("flag", "flag", 0, start=BSS + 32 * 64)
    assert all(kind is Kind.WHOLE for kind, _ in chosen([last, flag], image))


def test_a_declaration_is_written_with_all_of_its_words() -> None:
    b = Builder()
    node = b._type(TypeKind.STRUCT, "node", 16)
    pointer = b._type(TypeKind.POINTER, "struct node *", 8)
    seen = {
        "volatile struct node x": b._type(TypeKind.VOLATILE, "", 16, node),
        "struct node x[4]": (four := b._type(TypeKind.ARRAY, "", 64, node, 4)),
        "struct node x[2][4]": b._type(TypeKind.ARRAY, "", 128, four, 2),
        "struct node *x": pointer,
        "struct node *volatile x": b._type(TypeKind.VOLATILE, "", 8, pointer),
        "_Atomic struct node x": b._type(TypeKind.ATOMIC, "", 16, node),
        "": b._type(TypeKind.STRUCT, "", 16),
    }
    types = b.image().types
    assert {declaration(types, row, "x", "C") for row in seen.values()} == set(seen)
    assert declaration(types, seen["volatile struct node x"], "x", "C++") == "volatile node x"


@pytest.mark.parametrize(
    ("kind", "member", "spoken", "expected"),
    [
        (TypeKind.STRUCT, "std::atomic<long unsigned int>", "", "C++"),
        (TypeKind.CLASS, "long", "", "C++"),
        (TypeKind.STRUCT, "Box<int>", "", "C++"),
        (TypeKind.STRUCT, "long", "C_plus_plus_17", "C++"),
        (TypeKind.STRUCT, "long", "C11", "C"),
        (TypeKind.STRUCT, "long", "", "C"),
        (TypeKind.STRUCT, "word", "", "C"),
    ],
)
def test_what_no_unit_defines_is_edited_in_its_language(
    kind: TypeKind, member: str, spoken: str, expected: str
) -> None:
    """Objects that are allocated: by the language of all units, else by names that C cannot have."""
    b = Builder()
    inner = b._type(TypeKind.BASE if member == "long" else TypeKind.STRUCT, member, 8)
    members = (TypeMember("head", 0, inner, 0, False), TypeMember("tail", 64, inner, 0, False))
    b.variable("Queue", 16, at=BSS, type=b._type(kind, "Queue", 16, members=members))
    both = [actor(f"Queue.{name}", "Queue", at, whole=16) for name, at in (("head", 0), ("tail", 8))]
    paths = Paths(replace(b.image(), record_language=spoken))
    edit = next(e for e in choose(Conflict((*both,), (*both,)), apart(both), paths, LINE) if e.kind is Kind.MEMBER)
    made = remedy(edit, Style(LINE, ImageKind.PIE), paths)
    in_c = f"_Alignas(64) {'' if member == 'long' else 'struct '}{member} head;  /* in struct Queue */"
    assert made.language == expected
    assert made.edit.splitlines()[0] == (in_c if expected == "C" else f"alignas(64) {member} head;  // in Queue")


def test_costs_of_many_objects_are_said_for_each() -> None:
    edit = choose(Conflict(tuple(p := node_pair(32, 64)), tuple(p)), apart(p), Paths(node_image(32, 64)), LINE)[0]
    found = remedy(edit, Style(LINE, ImageKind.PIE), Paths(node_image(32, 64)))
    assert (found.each_bytes, found.objects, found.cost_bytes) == (160, 64, 160 * 64 + 63)
    assert found.edit.splitlines()[0].startswith("_Alignas(64) long refs;  /* in struct node")
    assert "..." not in found.edit
    assert "…" not in found.edit


def test_costs_of_one_object_are_its_own() -> None:
    found = remedy(Edit(Kind.WHOLE, actor("a", "a", 0, owner_type="long")), Style(LINE, ImageKind.PIE))
    assert (found.each_bytes, found.objects) == (0, 1)


@pytest.mark.parametrize(("declared", "before"), [(0, 63), (16, 48), (64, 0), (128, 0)])
def test_what_starts_a_line_already_needs_no_room_in_front(declared: int, before: int) -> None:
    two = [actor(f"pool[{i}].refs", "pool", 32 * i + 8, whole=32 * 4, alignment=declared) for i in (0, 1)]
    costs = cost_of(choose(Conflict((*two,), (*two,)), apart(two), Paths(node_image(32, 4)), LINE)[0], LINE)
    assert (costs.each, costs.objects, costs.once) == (32, 4, before)
    alone = cost_of(Edit(Kind.WHOLE, actor("a", "a", 0, alignment=declared)), LINE)
    assert alone.total == LINE - WORD + before


@pytest.mark.parametrize(("size", "grows"), [(320, 64), (272, 112)])
def test_the_padding_at_the_end_of_a_record_is_room(size: int, grows: int) -> None:
    """Head, tail and 256 bytes: 272 bytes of members, in a record that is aligned to lines or is not."""
    b = Builder()
    ring = record(b, ("head", 8), ("tail", 8), ("slots", 256), size=size, name="ring")
    b.variable("rings", size * 2, at=BSS, type=b._type(TypeKind.ARRAY, "", size * 2, ring, 2))
    pair = [actor(f"rings[0].{name}", "rings", at, whole=size * 2) for name, at in (("head", 0), ("tail", 8))]
    edits = choose(Conflict((*pair,), (pair[1], pair[0])), apart(pair), Paths(b.image()), LINE)
    costs = cost_of(edits[0], LINE)
    assert edits[0].actor.name == "rings[0].tail"
    assert (costs.each, costs.objects) == (grows, 2)  # to a line for the head, one for the tail, four for the slots
