"""Which object is which: names, source files, suffixes, neighbours and accesses, and what stays ambiguous."""

from __future__ import annotations

import numpy as np
import pytest

from sharing.explain import identity
from sharing.explain.identity import COLD, PART, WHOLE, base_name, part_of_function
from sharing.explain.match import MatchBasis, Matching, match_functions, match_variables
from sharing.model import Image
from tests.builders.image import Address, Builder
from tests.explain.layouts import Var, laid


def matched(old: Image, new: Image) -> dict[str, tuple[str, MatchBasis]]:
    """Old label → (new label, how)."""
    return named(variables(old, new))


def variables(old: Image, new: Image) -> Matching:
    words = identity.Vocabulary()
    functions = match_functions(identity.functions(old, words), identity.functions(new, words))
    return match_variables(identity.variables(old, words), identity.variables(new, words), functions)


def named(matching: Matching) -> dict[str, tuple[str, MatchBasis]]:
    return {
        matching.old.label(int(p["old"])): (matching.new.label(int(p["new"])), MatchBasis(int(p["how"])))
        for p in matching.pairs
    }


def of_bss(*variables: Var) -> Image:
    return laid({".bss": variables})


def rows(matching: Matching) -> list[tuple[int, int]]:
    return [(int(p["old"]), int(p["new"])) for p in matching.pairs]


def test_statics_of_one_name_are_told_apart_by_their_file() -> None:
    old = of_bss(Var("count", unit="a.c", static=True), Var("count", unit="b.c", static=True))
    new = of_bss(Var("count", unit="b.c", static=True), Var("count", unit="a.c", static=True))
    assert rows(variables(old, new)) == [(0, 1), (1, 0)]


def test_the_folder_of_the_build_does_not_matter() -> None:
    old = of_bss(Var("n", unit="/build/one/src/a.c", static=True), Var("n", unit="/build/one/lib/a.c", static=True))
    new = of_bss(Var("n", unit="/tmp/two/lib/a.c", static=True), Var("n", unit="/tmp/two/src/a.c", static=True))
    assert rows(variables(old, new)) == [(0, 1), (1, 0)]


def test_a_static_that_left_one_file_is_not_the_one_that_came_in_another() -> None:
    old, new = of_bss(Var("state", unit="a.c", static=True)), of_bss(Var("state", unit="b.c", static=True))
    assert rows(variables(old, new)) == []


def test_statics_of_a_renamed_file_are_the_same() -> None:
    """Most of them have their names in one file that only the new build has; half of them are not most."""
    old = of_bss(*(Var(name, unit="a.c", static=True) for name in ("state", "count", "gone")))
    renamed = of_bss(*(Var(name, unit="b.c", static=True) for name in ("count", "state", "come")))
    assert rows(variables(old, renamed)) == [(0, 1), (1, 0)]
    other = of_bss(*(Var(name, unit="b.c", static=True) for name in ("count", "state", "come", "more")))
    assert rows(variables(old, other)) == []
    both = of_bss(*(Var(name, unit="b.c", static=True) for name in ("count", "state")), Var("kept", unit="a.c"))
    assert rows(variables(old, both)) == []


def test_a_global_that_moved_to_another_file_is_still_the_same() -> None:
    old, new = of_bss(Var("state", unit="a.c")), of_bss(Var("state", unit="b.c"))
    assert rows(variables(old, new)) == [(0, 0)]


def test_without_debug_information_neighbours_tell_statics_apart() -> None:
    """Three called ``buf`` before, four now: the new one stands between other neighbours than each of the old."""
    old = of_bss(Var("a"), Var("buf", 16), Var("b"), Var("buf", 16), Var("c"), Var("buf", 16), Var("d"))
    new = of_bss(Var("a"), Var("buf", 16), Var("b"), Var("buf", 16), Var("c"), Var("buf", 16), Var("d"), Var("buf", 16))
    assert rows(variables(old, new)) == [(i, i) for i in range(7)]


def test_what_stays_ambiguous_stays_unmatched() -> None:
    old = of_bss(Var("buf", 16), Var("buf", 16))
    new = of_bss(Var("buf", 16), Var("buf", 16), Var("buf", 16))
    assert rows(variables(old, new)) == []


def test_numbered_local_statics_are_matched_by_what_they_are_numbers_of() -> None:
    assert matched(of_bss(Var("cache.12")), of_bss(Var("cache.15"))) == {"cache.12": ("cache.15", MatchBasis.SUFFIX)}


def test_a_name_that_became_an_alias_leads_to_its_object() -> None:
    old, new = of_bss(Var("environ")), of_bss(Var("__environ", alias="environ"))
    assert matched(old, new) == {"environ": ("__environ", MatchBasis.ALIAS)}


def test_different_names_are_different_objects() -> None:
    assert matched(of_bss(Var("one")), of_bss(Var("other"))) == {}


@pytest.mark.parametrize(
    ("name", "base", "part"),
    [
        ("f", "f", WHOLE),
        ("f.constprop.0", "f", WHOLE),
        ("f.isra.0.part.3", "f", PART),
        ("f.part.0.cold", "f", COLD),
        ("f.cold", "f", COLD),
        ("f.llvm.1234567890", "f", WHOLE),
        ("counter.17", "counter", WHOLE),
        ("_ZN1A1bE.lto_priv.0", "_ZN1A1bE", WHOLE),
        (".hidden", ".hidden", WHOLE),
        ("a.b", "a.b", WHOLE),
    ],
)
def test_suffixes_of_compilers_are_known(name: str, base: str, part: int) -> None:
    assert (base_name(name), part_of_function(name)) == (base, part)


def test_a_clone_is_its_function_and_a_part_is_not() -> None:
    old, new = Builder(), Builder()
    for name in ("f", "g", "g.part.0", "h"):
        old.function(name)
    for name in ("f.constprop.0", "g.isra.0", "g.part.1", "h", "h.cold"):
        new.function(name)
    words = identity.Vocabulary()
    found = named(match_functions(identity.functions(old.image(), words), identity.functions(new.image(), words)))
    assert {a: b for a, (b, _) in found.items()} == {
        "f": "f.constprop.0", "g": "g.isra.0", "g.part.0": "g.part.1", "h": "h",
    }  # fmt: skip


def program(*, hits: str, misses: str) -> Image:
    b = Builder()
    b.function("reader").load(hits, 4).load(misses, 8)
    b.function("writer").store(hits, 4).rmw(misses, 8)
    b.variable(hits, 8)
    b.variable(misses, 8)
    return b.image()


def test_a_renamed_variable_is_known_by_who_touches_which_bytes() -> None:
    found = matched(program(hits="hits", misses="misses"), program(hits="hits", misses="failures"))
    assert found["hits"] == ("hits", MatchBasis.NAME)
    assert found["misses"] == ("failures", MatchBasis.ACCESS)


def test_equal_bodies_without_names_are_matched_and_others_are_not() -> None:
    def stripped(first: int, second: int) -> Image:
        b = Builder()
        b.function("a").load(Address(0x20000).value, first).store(0x20040, 8)
        b.function("b").load(0x20080, second)
        image = b.image()
        functions = image.functions.copy()
        functions["name"] = -1
        import dataclasses

        return dataclasses.replace(image, functions=functions)

    words = identity.Vocabulary()
    sides = [identity.functions(image, words) for image in (stripped(4, 8), stripped(4, 2))]
    found = match_functions(*sides)
    assert rows(found) == [(0, 0)]
    assert found.pairs["how"].tolist() == [MatchBasis.BODY]


def test_many_variables_are_matched_in_a_moment() -> None:
    """46,000 names of which every tenth has a namesake; the time is held by the suite's own limit on a test."""
    rng = np.random.default_rng(1)
    words = [f"v{i // 2 if i % 10 == 0 else i}" for i in range(46_000)]
    old = of_bss(*(Var(w, int(s)) for w, s in zip(words, rng.integers(1, 64, len(words)), strict=True)))
    found = variables(old, old)
    assert len(found.pairs) == len(words)
    assert (found.pairs["old"] == found.pairs["new"]).all()
