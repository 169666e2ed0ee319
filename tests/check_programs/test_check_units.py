"""Pairs of two units: whose parts of a section can lie side by side as the alignment of each allows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity

SOURCES = Path(__file__).parents[2] / "testdata" / "programs" / "table_cache"
UNITS = ("table_cache.cc", "main.cc")


@pytest.fixture
def pairs(tmp_path: Path) -> Callable[..., set[frozenset[str]]]:
    """``pairs(before, after)``: which variables meet where the text says ``after`` in place of ``before``."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))

    def judged(before: str = "", after: str = "") -> set[frozenset[str]]:
        from linemate.pipeline import check_program
        from linemate.source import read_program

        for path in SOURCES.iterdir():
            if path.suffix in (".cc", ".h"):
                text = path.read_text()
                (tmp_path / path.name).write_text(text.replace(before, after) if before else text)
        request = FactsRequest(sources=tuple(str(tmp_path / unit) for unit in UNITS), flags=("-O2", "-std=c++17"))
        findings = check_program(read_program(CheckOptions(facts=request)), CheckOptions(min_severity=Severity.NOTE))
        return {frozenset(who.name for who in finding.participants[:2]) for finding in findings.findings}

    return judged


def test_a_part_that_begins_a_line_shares_none_with_the_unit_in_front(
    pairs: Callable[..., set[frozenset[str]]],
) -> None:
    assert frozenset({"unused_tables", "stop"}) not in pairs()


def test_one_that_does_not_may(pairs: Callable[..., set[frozenset[str]]]) -> None:
    found = pairs("alignas(64)", "alignas(32)")
    assert frozenset({"unused_tables", "stop"}) in found
