"""What stripped files allow to say: one build with and without its names, and what was not recognised."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sharing.explain.causes.layout import doubted
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Confidence
from tests.explain.conftest import BuildTableCache, Explain

Strip = Callable[[Path, str], Path]


@pytest.fixture(scope="module")
def stripped(tmp_path_factory: pytest.TempPathFactory) -> Strip:
    """``stripped(program, "--strip-debug")``."""

    def strip(program: Path, how: str) -> Path:
        if shutil.which("strip") is None:
            pytest.skip("no strip")
        out = tmp_path_factory.mktemp("stripped") / "program"
        subprocess.run(["strip", how, "-o", str(out), str(program)], check=True)
        return out

    return strip


def excluded(found: Comparison) -> set[CauseKind]:
    return {r.kind for r in found.ruled_out}


@pytest.mark.parametrize("how", ["--strip-debug", "--strip-all"])
def test_one_build_with_and_without_its_names_has_no_cause(
    table_cache: BuildTableCache, explained: Explain, stripped: Strip, how: str
) -> None:
    full = table_cache()
    bare = stripped(full, how)
    for old, new, label in ((full, bare, "new"), (bare, full, "old")):
        found = explained(old, new)
        assert [c.kind for c in found.causes] == [CauseKind.NONE]
        assert f"the same build; the {label} file is stripped" in found.causes[0].summary
        assert (found.changes, found.findings) == ((), ())
        assert excluded(found) == set(CauseKind) - {CauseKind.NONE, CauseKind.CONTENTION}


def test_another_build_of_the_same_layout_is_not_the_same_build(
    table_cache: BuildTableCache, explained: Explain
) -> None:
    """Other instructions at the same places: the bytes are compared, not the sections."""
    found = explained(
        table_cache(), table_cache(edit={"main.cc": ("unsigned long threads = 2;", "unsigned long threads = 3;")})
    )
    assert "the same build" not in found.causes[0].summary


def test_flags_are_compared_where_both_builds_have_them(
    table_cache: BuildTableCache, explained: Explain, stripped: Strip
) -> None:
    """Only the old build has its flags: that says nothing of the new one's."""
    full, other = table_cache(), table_cache("-DEXTRA_SYSVAR")
    found = explained(full, stripped(other, "--strip-debug"))
    assert CauseKind.TOOLCHAIN not in {c.kind for c in found.causes} | excluded(found)
    assert any("flags are not recorded" in note for note in found.coverage.notes)
    assert CauseKind.TOOLCHAIN in excluded(explained(full, other))


def test_what_was_not_recognised_rules_nothing_out(
    table_cache: BuildTableCache, explained: Explain, stripped: Strip
) -> None:
    """Of two stripped builds at two levels hardly any function has a counterpart; with names all have."""
    one, other = table_cache(), table_cache(flags="-O1 -g")
    found = explained(stripped(one, "--strip-all"), stripped(other, "--strip-all"))
    assert not excluded(found) & {CauseKind.LAYOUT, CauseKind.CODE}
    candidates = next(c for c in found.causes if c.kind is CauseKind.CODE)
    assert any("not recognised" in text for text in (candidates.summary, *candidates.evidence))
    named = next(c for c in explained(one, other).causes if c.kind is CauseKind.CODE)
    assert not any("not recognised" in text for text in (named.summary, *named.evidence))


def test_two_stripped_files_that_are_recognised_do_rule_out(
    table_cache: BuildTableCache, explained: Explain, stripped: Strip
) -> None:
    """Without names, but with every function and variable found again."""
    one = table_cache()
    two = table_cache(flags="-O2 -g -Wl,--build-id=0x12345678")
    found = explained(stripped(one, "--strip-all"), stripped(two, "--strip-all"))
    assert "the same build" not in found.causes[0].summary
    assert excluded(found) >= {CauseKind.LAYOUT, CauseKind.CODE}


def test_data_that_only_changed_code_touches_is_known_where_nothing_moved(
    table_cache: BuildTableCache, explained: Explain, stripped: Strip
) -> None:
    """The function that changed is not recognised; the lists that it alone empties stay where they were."""
    one, other = (
        stripped(table_cache(edit=edit), "--strip-all")
        for edit in (None, {"main.cc": ("unsigned long threads = 2;", "unsigned long threads = 300;")})
    )
    found = explained(one, other)
    assert found.variables.matched == min(found.variables.old, found.variables.new)
    assert CauseKind.LAYOUT in excluded(found)


def test_a_layout_is_as_strong_as_the_share_of_variables_that_were_recognised() -> None:
    cause = Cause(CauseKind.LAYOUT, Confidence.STATIC, 0.9, "two met")
    found = doubted(cause, missing=45, of=60)
    assert found.strength == pytest.approx(0.225)
    assert found.evidence == ("45 of 60 variables that one build can write could not be matched",)
