"""The number by which source tells threads that end at once: it moves a verdict when it moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.basics import numbers as shared
from sharing.model.errors import LinemateError

PROGRAMS = Path(__file__).parents[1] / "check_programs" / "programs"


def rules(source: Path) -> set[str]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    request = FactsRequest(sources=(str(source),), flags=("-O2", "-std=c++17"))
    return {found.rule for found in check_program(read_program(CheckOptions(facts=request)), CheckOptions()).findings}


def test_a_thread_that_loses_less_is_brief(monkeypatch: pytest.MonkeyPatch) -> None:
    brief, long = PROGRAMS / "brief_threads.cc", PROGRAMS / "long_threads.cc"
    assert rules(brief) == set()
    assert rules(long) == {"packed-thread-slots"}
    monkeypatch.setattr(shared, "BRIEF_NS", 1e5)
    assert rules(brief) == {"packed-thread-slots"}
    monkeypatch.setattr(shared, "BRIEF_NS", 1e12)
    assert rules(long) == set()
