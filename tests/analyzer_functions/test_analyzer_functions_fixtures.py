"""Every access, call, thread start and allocation of the annotated programs, and nothing else.

Owns running the fixtures; what each shows stands in its comments (grammar: facts_in_words).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyzer_functions.facts_in_words import directives, disagreements, expectations, tool

FIXTURES = sorted(p for p in (Path(__file__).parent / "fixtures").iterdir() if p.suffix in (".c", ".cpp"))
RUNS = [(path, flags) for path in FIXTURES for flags in directives(path.read_text(), "args")]

pytestmark = pytest.mark.skipif(tool() is None, reason="linemate-facts is not built")


@pytest.mark.parametrize(("path", "flags"), RUNS, ids=[f"{p.name} {' '.join(f)}" for p, f in RUNS])
def test_the_facts_are_those_that_the_comments_name(path: Path, flags: list[str]) -> None:
    assert "\n".join(disagreements(path, flags)) == ""


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.name)
def test_every_fixture_runs_and_expects_something(path: Path) -> None:
    assert directives(path.read_text(), "args")
    assert len(expectations(path.read_text())) >= 5
