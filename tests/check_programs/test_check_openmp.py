"""OpenMP in source: sections of one directive run at one time, each on one thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model import Severity
from sharing.model.errors import LinemateError

SECTIONS = """\
static struct mixer {{ volatile long left, right, more, rate; }} mix __attribute__((aligned(64)));
int main(void)
{{
#pragma omp parallel sections
  {{
    {first}
#pragma omp section
    for (long i = 0; i < 100000000; i++) mix.left++;
{between}
#pragma omp section
    for (long i = 0; i < 100000000; i++) mix.right++;
  }}
  return (int)(mix.left + mix.right);
}}
"""
APART = "  }\n#pragma omp parallel sections\n  {"
PLAIN = "for (long i = 0; i < 100000000; i++) mix.more++;"


def _named(folder: Path, text: str) -> dict[str, Severity]:
    """What findings name, each with the worst severity."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    (folder / "program.c").write_text(text)
    request = FactsRequest(sources=(str(folder / "program.c"),), flags=("-O2", "-fopenmp"))
    options = CheckOptions(min_severity=Severity.LOW)
    found: dict[str, Severity] = {}
    for finding in check_program(read_program(CheckOptions(facts=request)), options).findings:
        for one in finding.participants:
            worst = found.get(one.name, Severity.NOTE)
            found[one.name] = max(worst, finding.severity, key=lambda severity: severity.rank)
    return found


def test_sections_run_at_one_time(tmp_path: Path) -> None:
    named = _named(tmp_path, SECTIONS.format(first="", between=""))
    assert {name for name in named if name.startswith("mix.")} == {"mix.left", "mix.right"}
    assert named["mix.left"].rank >= Severity.MEDIUM.rank


def test_the_first_section_needs_no_directive(tmp_path: Path) -> None:
    named = _named(tmp_path, SECTIONS.format(first=PLAIN, between=""))
    assert {name for name in named if name.startswith("mix.")} == {"mix.left", "mix.right", "mix.more"}


def test_sections_of_two_directives_come_one_after_another(tmp_path: Path) -> None:
    assert not _named(tmp_path, SECTIONS.format(first="", between=APART))
