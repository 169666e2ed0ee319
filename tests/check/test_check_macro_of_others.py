"""A macro that headers of other projects expect, and that is not defined where a unit includes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity

HEADER = """
struct queue { long head; } __pool_cache_aligned;
struct pool { struct { long tail; } __pool_cache_aligned_tail; long size; struct { char bytes[8]; } __align; };
"""


def names(folder: Path, *, defined: str = "", given: str = "-isystem") -> dict[str, Severity]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    (folder / "theirs").mkdir(exist_ok=True)
    (folder / "theirs" / "pool.h").write_text(HEADER)
    source = folder / "mine.cc"
    source.write_text(f"#include <thread>\n{defined}\n#include <pool.h>\nlong size(pool *p) {{ return p->size; }}\n")
    flags = (given, str(folder / "theirs"))
    options = CheckOptions(
        facts=FactsRequest(sources=(str(source),), flags=flags), min_severity=Severity.NOTE, edits=False
    )
    found = check_program(read_program(options), options).findings
    return {one.participants[0].name: one.severity for one in found if one.rule == "alignment-macro-as-name"}


def test_a_header_of_another_project(tmp_path: Path) -> None:
    """It is not the user's to mend."""
    both = ("__pool_cache_aligned", "__pool_cache_aligned_tail")
    assert names(tmp_path) == dict.fromkeys(both, Severity.NOTE)


def test_a_header_of_the_project(tmp_path: Path) -> None:
    found = names(tmp_path, given="-I")
    assert {found[name] for name in ("__pool_cache_aligned", "__pool_cache_aligned_tail")} == {Severity.MEDIUM}


def test_its_macro_is_defined(tmp_path: Path) -> None:
    both = "#define __pool_cache_aligned\n#define __pool_cache_aligned_tail"
    assert names(tmp_path, defined=both) == {}
