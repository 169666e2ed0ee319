"""Shifts of hand-made layouts: runs partition the matched variables, and every change of shift adds up exactly."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sharing.explain import blame, identity
from sharing.explain.compare import ExplainOptions, explain
from sharing.explain.match import Matching, match_variables
from sharing.explain.sections import section_shifts
from sharing.explain.shifts import Shifts, account_for
from sharing.knowledge import default_knowledge
from sharing.model import Image
from sharing.model.comparison import Contribution, Share
from tests.explain.layouts import Var, laid


def compared(old: Image, new: Image) -> Shifts:
    words = identity.Vocabulary()
    matching = match_variables(identity.variables(old, words), identity.variables(new, words))
    return account_for(matching, section_shifts(old, new, words))


def of_bss(*variables: Var) -> Image:
    return laid({".bss": variables})


def runs(shifts: Shifts) -> list[tuple[int, int]]:
    """(shift, number of variables) of each run."""
    return [(int(r["shift"]), int(r["count"])) for r in shifts.runs]


def parts(contributions: Sequence[Contribution]) -> set[tuple[Share, str, int]]:
    return {(c.share, c.name, c.bytes) for c in contributions}


A, B, C, D = (Var(n) for n in "abcd")


def test_an_added_variable_starts_a_run() -> None:
    shifts = compared(of_bss(A, B, C), of_bss(A, Var("new", 208), B, C))
    assert runs(shifts) == [(0, 1), (208, 2)]
    assert parts(blame.of_run(shifts, 1)) == {(Share.ADDED, "new", 208)}


def test_alignment_takes_the_rest_up() -> None:
    lock = Var("lock", 48, 32)
    shifts = compared(of_bss(A, lock, B), of_bss(A, Var("new", 8), lock, B))
    # a ends at 8, new at 16: the lock stays at 32.
    assert runs(shifts) == [(0, 3)]
    shifts = compared(of_bss(lock, B), of_bss(Var("new", 8), lock, B))
    assert parts(blame.of_run(shifts, 0)) == {(Share.ADDED, "new", 8), (Share.ALIGNMENT, "", 24)}


def test_a_removed_variable_is_blamed_with_a_negative_size() -> None:
    shifts = compared(of_bss(A, Var("gone", 40), B), of_bss(A, B))
    assert runs(shifts) == [(0, 1), (-40, 1)]
    assert parts(blame.of_run(shifts, 1)) == {(Share.REMOVED, "gone", -40)}


def test_a_variable_that_grew_moves_those_behind_it() -> None:
    shifts = compared(of_bss(A, B, C), of_bss(A, Var("b", 24), C))
    assert parts(blame.of_run(shifts, 1)) == {(Share.RESIZED, "b", 16)}


def test_a_variable_that_went_elsewhere_is_out_of_order_and_blamed_at_both_places() -> None:
    big = Var("big", 64)
    shifts = compared(of_bss(big, A, B, C, D), of_bss(A, B, C, D, big))
    assert runs(shifts) == [(-64, 4), (32, 1)]
    assert not shifts.runs["kept"][1]
    assert parts(blame.of_run(shifts, 0)) == {(Share.LEFT, "big", -64)}


def test_a_section_moves_as_one_and_says_which_section_pushed_it() -> None:
    data, more = [Var("d", 4096 * 2)], [Var("d", 4096 * 3)]
    shifts = compared(laid({".data": data, ".bss": [A, B]}), laid({".data": more, ".bss": [A, B]}))
    assert runs(shifts) == [(0, 1), (4096, 2)]
    assert shifts.runs["jump"].tolist() == [0, 0]  # within .bss nothing happened
    behind = blame.behind_section_start(shifts, 1)
    assert parts(behind) == {(Share.SECTION, ".data", 4096)}
    assert blame.within_section(shifts, 1) == ()


def test_what_made_the_section_in_front_larger_is_told_by_its_name() -> None:
    new = Var("new", 4096)
    shifts = compared(laid({".data": [C], ".bss": [A, B]}), laid({".data": [new, C], ".bss": [A, B]}))
    behind = blame.behind_section_start(shifts, 1)
    assert parts(behind) == {(Share.SECTION, ".data", 4096)}
    assert parts(blame.by_symbols(shifts, behind)) == {(Share.ADDED, "new", 4096)}
    # Its last variable may be what grew, or what came behind it.
    for after, why in (([Var("c", 4097)], (Share.RESIZED, "c", 4089)), ([C, new], (Share.ADDED, "new", 4096))):
        shifts = compared(laid({".data": [C], ".bss": [A]}), laid({".data": after, ".bss": [A]}))
        assert parts(blame.by_symbols(shifts, blame.behind_section_start(shifts, 1))) >= {why}
    # The near miss: the section is larger, and none of its variables.
    old = laid({".data": [C], ".bss": [A]})
    larger = laid({".data": [C, new], ".bss": [A]})
    shifts = compared(old, dataclasses.replace(larger, variables=larger.variables[[0, 2]]))
    behind = blame.behind_section_start(shifts, 1)
    assert blame.by_symbols(shifts, behind) == behind


def test_bytes_that_no_symbol_covers_are_said() -> None:
    """Between a and b lie 512 more bytes than any alignment of b explains."""
    old, new = of_bss(A, B), of_bss(A, Var("ghost", 512), B)
    keep = np.array([0, 2])
    import dataclasses

    new = dataclasses.replace(new, variables=new.variables[keep])
    shifts = compared(old, new)
    assert parts(blame.of_run(shifts, 1)) == {(Share.UNCOVERED, "", 512)}


def test_a_file_against_itself_has_one_run_a_section_and_no_shift() -> None:
    image = laid({".data": [A, B], ".bss": [C, D]})
    assert runs(compared(image, image)) == [(0, 2), (0, 2)]


names = st.text("abcdefgh", min_size=1, max_size=2)
variable = st.builds(Var, names, st.integers(1, 100), st.sampled_from([1, 4, 8, 32, 64]))
section = st.lists(variable, max_size=14, unique_by=lambda v: v.name)


@st.composite
def builds(draw: st.DrawFn) -> tuple[Image, Image]:
    """Two builds of sections whose objects come, go, grow and change places."""
    return (
        laid({".data": draw(section), ".bss": draw(section)}),
        laid({".data": draw(section), ".bss": draw(section)}),
    )


@given(builds())
@settings(max_examples=150, deadline=None)
def test_runs_partition_the_matched_variables(pair: tuple[Image, Image]) -> None:
    shifts = compared(*pair)
    covered = [i for r in shifts.runs for i in range(int(r["first"]), int(r["first"] + r["count"]))]
    assert covered == list(range(len(shifts.matching.pairs)))
    for run in shifts.runs:
        inside = slice(int(run["first"]), int(run["first"] + run["count"]))
        assert set(shifts.shift[inside].tolist()) == {int(run["shift"])}


@given(builds())
@settings(max_examples=150, deadline=None)
def test_contributions_add_up_to_the_change_of_shift(pair: tuple[Image, Image]) -> None:
    shifts = compared(*pair)
    for number, run in enumerate(shifts.runs):
        if run["kept"]:
            for most in (1, 12):
                assert sum(c.bytes for c in blame.of_run(shifts, number, most)) == run["jump"]
    for k, position in enumerate(shifts.kept.tolist()):
        assert sum(c.bytes for c in blame.behind_section_start(shifts, k)) == shifts.shift[position]


@given(builds())
@settings(max_examples=100, deadline=None)
def test_what_one_direction_gains_the_other_loses(pair: tuple[Image, Image]) -> None:
    there = explain(pair[0], pair[1], default_knowledge(), ExplainOptions())
    back = explain(pair[1], pair[0], default_knowledge(), ExplainOptions())
    assert there.coverage.counts["line_mates_gained"] == back.coverage.counts["line_mates_lost"]
    assert there.coverage.counts["line_mates_lost"] == back.coverage.counts["line_mates_gained"]
    assert there.coverage.counts["changes"] == back.coverage.counts["changes"]
    swapped = {"added": "removed", "removed": "added"}
    kinds = sorted((c.kind.value, c.name) for c in there.changes if c.kind.value != "reordered")
    assert kinds == sorted(
        (swapped.get(c.kind.value, c.kind.value), c.name) for c in back.changes if c.kind.value != "reordered"
    )


@given(builds())
@settings(max_examples=100, deadline=None)
def test_matching_is_the_same_from_either_side(pair: tuple[Image, Image]) -> None:
    def named(matching: Matching, *, swapped: bool) -> set[tuple[str, str]]:
        labels = [(matching.old.label(int(p["old"])), matching.new.label(int(p["new"]))) for p in matching.pairs]
        return {(b, a) if swapped else (a, b) for a, b in labels}

    there, back = compared(*pair), compared(*reversed(pair))
    assert named(there.matching, swapped=False) == named(back.matching, swapped=True)
    assert sorted(there.shift.tolist()) == sorted((-back.shift).tolist())


def test_an_alignment_that_changed_is_the_symbols_own() -> None:
    """Nothing came in front of it: its new place alone explains the padding."""
    shifts = compared(of_bss(A, Var("s", 32, 32), B), of_bss(A, Var("s", 32, 64), B))
    assert runs(shifts) == [(0, 1), (32, 2)]
    assert parts(blame.of_run(shifts, 1)) == {(Share.REALIGNED, "s", 32)}
    back = compared(of_bss(A, Var("s", 32, 64), B), of_bss(A, Var("s", 32, 32), B))
    assert parts(blame.of_run(back, 1)) == {(Share.REALIGNED, "s", -32)}


def test_a_symbol_that_grew_into_a_larger_alignment_is_the_origin() -> None:
    shifts = compared(of_bss(Var("a", 16), Var("s", 24, 16), B), of_bss(Var("a", 16), Var("s", 32, 32), B))
    assert parts(blame.of_run(shifts, 1)) == {(Share.REALIGNED, "s", 16)}


def test_bytes_that_no_alignment_explains_are_no_realignment() -> None:
    """64 bytes in front of an object whose place is a multiple of 8 only: something without a symbol came."""
    moved = of_bss(A, Var("hidden", 64), Var("s", 32), B)
    keep = np.array([moved.names[i] != "hidden" for i in moved.variables["name"].tolist()])
    shifts = compared(of_bss(A, Var("s", 32), B), dataclasses.replace(moved, variables=moved.variables[keep]))
    assert parts(blame.of_run(shifts, 1)) == {(Share.UNCOVERED, "", 64)}


def test_padding_and_bytes_without_a_symbol_that_cancel_are_not_told() -> None:
    """What was hidden bytes is padding now: the sum is nothing, whichever of the two it is called."""
    old = of_bss(A, Var("hidden", 24), Var("s", 32, 32), B)
    keep = np.array([old.names[i] != "hidden" for i in old.variables["name"].tolist()])
    new = of_bss(A, Var("s", 32, 32), B)
    same = compared(dataclasses.replace(old, variables=old.variables[keep]), new)
    assert runs(same) == [(0, 3)]
    assert blame.between(same, 0, 2) == ()
    assert parts(blame.between(compared(old, new), 0, 2)) == {
        (Share.REMOVED, "hidden", -24),
        (Share.ALIGNMENT, "", 24),
    }


def test_a_section_that_begins_where_it_did_shields_those_behind_it_from_what_grew_in_front() -> None:
    """Code that grew into padding moved nothing: the variable that was added did."""
    code, more_code = [Var("c", 4000)], [Var("c", 4080)]
    data, more_data = [Var("d", 4000)], [Var("new", 4096), Var("d", 4000)]
    shifts = compared(
        laid({".text": code, ".data": data, ".bss": [A, B]}),
        laid({".text": more_code, ".data": more_data, ".bss": [A, B]}),
    )
    moved = blame.by_symbols(shifts, blame.behind_section_start(shifts, shifts.kept_number(pair_of(shifts, "a"))))
    assert parts(moved) == {(Share.ADDED, "new", 4096)}
    # Where the data moved, too, the code is what moved it.
    pushed = compared(laid({".text": code, ".data": data}), laid({".text": [Var("c", 4100)], ".data": data}))
    moved = blame.by_symbols(pushed, blame.behind_section_start(pushed, pushed.kept_number(pair_of(pushed, "d"))))
    assert [(c.share, c.name) for c in moved if c.name] == [(Share.RESIZED, "c")]


def test_what_took_bytes_away_is_not_named_for_a_move_up() -> None:
    old = laid({".data": [Var("d", 64)], ".got": [Var("g", 4096)], ".bss": [A]})
    new = laid({".data": [Var("d", 4096 * 2 + 8)], ".got": [Var("g", 64)], ".bss": [A]})
    shifts = compared(old, new)
    account = blame.behind_section_start(shifts, shifts.kept_number(pair_of(shifts, "a")))
    moved = blame.by_symbols(shifts, account)
    assert sum(c.bytes for c in moved) == sum(c.bytes for c in account) == 8192
    assert (moved[0].name, moved[-1].name, moved[-1].bytes) == ("d", "g", -4032)


def pair_of(shifts: Shifts, name: str) -> int:
    """The row of ``Matching.pairs`` of a variable by the beginning of its label."""
    new = shifts.matching.new
    return next(i for i, row in enumerate(shifts.matching.pairs["new"].tolist()) if new.label(row).startswith(name))
