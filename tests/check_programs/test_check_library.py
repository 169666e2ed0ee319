"""A library beside a program that starts no thread: judged where it is written for threads, else not."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity

TOOL = "void hit(int); int main(int n, char **v) { for (int i = 0; i < n; i++) hit(i); return 0; }\n"
OWN = "static __thread unsigned self; static unsigned long hits[16]; void number(unsigned n) { self = n; }\n"
LOOP = "void hit(int n) { for (int i = 0; i < n; i++) hits[%s]++; }\n"
ALONE = "static unsigned long hits[16]; unsigned self; void number(unsigned n) { self = n; }\n"


def rules(folder: Path, library: str) -> list[str]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    sources = (folder / "tool.c", folder / "library.c")
    for path, text in zip(sources, (TOOL, library), strict=True):
        path.write_text(text)
    request = FactsRequest(sources=tuple(map(str, sources)), flags=("-O2",))
    options = CheckOptions(facts=request, min_severity=Severity.LOW)
    return [finding.rule for finding in check_program(read_program(options), options).findings]


def test_a_tool_does_not_make_a_library_single_threaded(tmp_path: Path) -> None:
    assert rules(tmp_path, OWN + LOOP % "self") == ["packed-thread-slots"]


def test_what_nothing_marks_as_made_for_threads_is_the_tools_own(tmp_path: Path) -> None:
    assert rules(tmp_path, ALONE + LOOP % "self") == []
