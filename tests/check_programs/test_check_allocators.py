"""Where objects begin is known by what another unit's function promises that allocates them."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model.errors import LinemateError

PROGRAM = Path(__file__).parent / "programs" / "ends_of_pages.c"
OTHER = """\
#include <stdlib.h>
void *line_alloc(size_t size) {{
  void *p = 0;
  {made}
  return p;
}}
"""


def pairs(folder: Path, made: str) -> set[str]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    text = PROGRAM.read_text()
    declared = text.replace("static struct ends *ends;", "void *line_alloc(unsigned long);\nstatic struct ends *ends;")
    (folder / "main.c").write_text(declared.replace("memory(sizeof *ends)", "line_alloc(sizeof *ends)"))
    (folder / "memory.c").write_text(OTHER.format(made=made))
    request = FactsRequest(sources=(str(folder / "main.c"), str(folder / "memory.c")), flags=("-O2",))
    return {
        finding.rule for finding in check_program(read_program(CheckOptions(facts=request)), CheckOptions()).findings
    }


def test_of_an_allocator_of_lines(tmp_path: Path) -> None:
    assert pairs(tmp_path, "if (posix_memalign(&p, 64, size)) return 0;") == set()


@pytest.mark.parametrize(
    "made",
    [
        "p = malloc(size);",
        "if (posix_memalign(&p, 32, size)) return 0;",
        "if (size > 4096) p = malloc(size); else if (posix_memalign(&p, 64, size)) return 0;",
    ],
)
def test_of_one_that_promises_less(tmp_path: Path, made: str) -> None:
    assert pairs(tmp_path, made) == {"independent-writers"}
