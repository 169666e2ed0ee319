"""Comparisons that must not guess: other architectures, one side stripped, files of two programs; and real servers."""

from __future__ import annotations

import dataclasses
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.explain import identity
from sharing.explain.compare import ExplainOptions, compare, explain
from sharing.explain.match import match_functions, match_variables
from sharing.explain.sections import section_shifts
from sharing.explain.shifts import account_for
from sharing.knowledge import default_knowledge
from sharing.model import LinemateError
from sharing.model.comparison import CauseKind
from tests.builders.image import AARCH64, Builder
from tests.explain.conftest import BuildTableCache, Explain
from tests.explain.layouts import Var, laid

SLOW = ("-DEXTRA_SYSVAR",)


def test_two_architectures_are_refused_in_words() -> None:
    old, new = Builder(), Builder(arch=AARCH64)
    with pytest.raises(LinemateError, match=r"x86-64 .* aarch64.*cannot be compared"):
        explain(old.image(), new.image(), default_knowledge(), ExplainOptions())


def test_two_programs_are_asked_about() -> None:
    old, new = laid({".bss": [Var("a"), Var("b"), Var("c")]}), laid({".bss": [Var("x"), Var("y"), Var("c")]})
    found = explain(old, new, default_knowledge(), ExplainOptions())
    assert any("only 1 of 3 named variables are in both files" in note for note in found.coverage.notes)


def stripped(program: Path, tmp_path: Path) -> Path:
    out = tmp_path / f"{program.parent.name}-stripped"
    subprocess.run(["strip", "-o", str(out), str(program)], check=True)
    return out


def test_stripped_builds_are_matched_by_what_touches_what(
    table_cache: BuildTableCache, explained: Explain, tmp_path: Path
) -> None:
    """Functions by their bodies, objects by who touches them: the pair and its distance, no name invented."""
    found = explained(stripped(table_cache(), tmp_path), stripped(table_cache(*SLOW), tmp_path))
    first = found.causes[0]
    assert (first.kind, first.symbols) == (CauseKind.LAYOUT, ())
    assert {m.shift for m in first.moved} == {"0xe0"}
    assert first.new_line_mates[0].first_role == "mutex"
    assert "something without a symbol moved them by 0xe0" in first.summary
    assert found.changes == ()
    assert set(found.functions.how) == {"body"}


def test_what_a_stripped_side_cannot_name_is_not_called_removed(
    table_cache: BuildTableCache, explained: Explain, tmp_path: Path
) -> None:
    for old, new in (
        (table_cache(), stripped(table_cache(*SLOW), tmp_path)),
        (stripped(table_cache(), tmp_path), table_cache(*SLOW)),
    ):
        found = explained(old, new)
        assert {c.kind.value for c in found.changes} & {"added", "removed"} == set()
        assert sum(": stripped: variables without a name" in note for note in found.coverage.notes) == 1
        assert all(c.share.value not in ("added", "removed") for r in found.runs for c in r.contributions)


def test_relocatable_files_have_no_moving_sections(table_cache: BuildTableCache) -> None:
    image = laid({".bss": [Var("a"), Var("b")]})
    old = dataclasses.replace(image, synthetic=True)
    new = dataclasses.replace(laid({".bss": [Var("a"), Var("b")]}, start=0x50000), synthetic=True)
    found = explain(old, new, default_knowledge(), ExplainOptions())
    assert found.coverage.counts["runs_moved"] == 0


@pytest.mark.parametrize("name", ["redis-server", "memcached", "postgres", "mariadbd"])
def test_a_server_against_itself_shows_nothing(name: str, server: Callable[[str], Path]) -> None:
    image = next(iter(read_images(str(server(name)))))
    start = time.process_time()
    found = explain(image, image, default_knowledge(), ExplainOptions())
    # Not how fast it is, which scripts/bench tells, but that nothing grows with the square of a server: a few seconds.
    assert time.process_time() - start < 60
    assert [c.kind for c in found.causes] == [CauseKind.NONE]
    assert (found.changes, found.runs, found.straddles) == ((), (), ())
    assert (found.coverage.counts["line_mates_gained"], found.coverage.counts["line_mates_lost"]) == (0, 0)


def test_most_of_a_server_is_matched_with_itself(server: Callable[[str], Path]) -> None:
    image = next(iter(read_images(str(server("redis-server")))))
    builds = compare(image, image, default_knowledge(), ExplainOptions())
    assert (builds.variables.pairs["old"] == builds.variables.pairs["new"]).all()
    assert (builds.functions.pairs["old"] == builds.functions.pairs["new"]).all()


def test_a_kernel_is_laid_along_itself_in_a_moment(vmlinux: Path) -> None:
    image = next(iter(read_images(str(vmlinux), types=False, access=False)))
    start = time.process_time()
    words = identity.Vocabulary()
    functions = match_functions(identity.functions(image, words), identity.functions(image, words))
    variables = match_variables(identity.variables(image, words), identity.variables(image, words), functions)
    shifts = account_for(variables, section_shifts(image, image, words))
    assert time.process_time() - start < 3
    assert len(variables.pairs) == len(image.variables)
    assert not shifts.shift.any()
