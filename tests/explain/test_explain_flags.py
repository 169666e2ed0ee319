"""Flags of two builds: pairs of values, what link-time optimisation adds, which way a flag goes, how to undo it."""

from __future__ import annotations

import pytest

from sharing.explain.causes.flags import changed_flags
from sharing.explain.compare import ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model.comparison import Cause, CauseKind
from tests.explain.conftest import BuildTableCache, Explain
from tests.explain.test_explain_suspects import needing

BASE = "GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2 -fasynchronous-unwind-tables"
LTO = (
    "GNU GIMPLE 12.2.0 -mtune=generic -march=x86-64 -g -O2 -fno-openmp -fno-openacc -fPIC -fcf-protection=none -fltrans"
)


def causes(old: str, new: str) -> list[Cause]:
    found = explain(needing(units=(old,)), needing(units=(new,)), default_knowledge(), ExplainOptions())
    return [c for c in found.causes if c.kind is CauseKind.TOOLCHAIN]


def test_two_values_of_one_flag_are_one_change() -> None:
    (cause,) = causes(BASE, BASE.replace("x86-64", "x86-64-v3"))
    assert cause.evidence == ("flag -march=x86-64, now -march=x86-64-v3",)
    assert "build the new source with gcc 12.2.0 -O2, with -march=x86-64" in cause.confirm
    assert "build the old source with gcc 12.2.0 -O2, with -march=x86-64-v3" in cause.refute


def test_a_flag_and_its_negation_are_one_change() -> None:
    (change,) = changed_flags(frozenset({"-ffast-math"}), frozenset({"-fno-fast-math"}))
    assert change.text == "flag -ffast-math, now -fno-fast-math"


def test_a_new_flag_is_left_out_to_confirm_and_given_to_refute() -> None:
    (cause,) = causes(BASE, f"{BASE} -fno-inline")
    assert "build the new source with gcc 12.2.0 -O2, without -fno-inline" in cause.confirm
    assert "build the old source with gcc 12.2.0 -O2, with -fno-inline" in cause.refute
    assert not cause.improves


def test_what_the_link_step_adds_is_no_flag_of_the_user() -> None:
    (cause,) = causes(BASE, LTO)
    assert cause.evidence == ("flag -flto: only the new build has it",)
    assert causes(LTO, LTO) == []
    assert [c.new for c in changed_flags(frozenset(), frozenset({"-fPIC"}))] == [
        "-fPIC"
    ]  # without it, it is the user's


@pytest.mark.parametrize(
    ("old", "new", "improves"),
    [
        ("-O1", "-O2", True),
        ("-O2", "-O1", False),
        ("-O2", "-Os", False),
        ("-O2 -fno-inline", "-O2", True),
        ("-O2 -funroll-loops", "-O2", False),
    ],
)
def test_what_makes_code_faster_is_an_improvement(old: str, new: str, improves: bool) -> None:
    (cause,) = causes(f"GNU C17 12.2.0 -mtune=generic {old}", f"GNU C17 12.2.0 -mtune=generic {new}")
    assert cause.improves == improves


def test_a_higher_level_does_not_hide_another_flag() -> None:
    worse, better = causes("GNU C17 12.2.0 -mtune=generic -O1", "GNU C17 12.2.0 -mtune=generic -O2 -fno-inline")
    assert (worse.improves, better.improves) == (False, True)
    assert worse.summary == "flag -fno-inline: only the new build has it"


def test_locals_keep_their_file_through_link_time_optimisation(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    """The units of the merged program are no source files; what was static in one is the same variable."""
    found = explained(table_cache(), table_cache(flags="-O2 -g -flto"))
    changed = {c.name: c.kind.value for c in found.changes}
    assert "added" not in changed.values()
    assert found.variables.how.get("name", 0) > 5
