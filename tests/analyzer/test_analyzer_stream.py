"""Hostile streams of facts end in one clear error.

Owns the reader; what the tool writes is tested beside this.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.run import run_facts
from analyzer.stream import read_facts
from linemate.options import FactsRequest
from sharing.model import LinemateError, Malformed
from sharing.model.facts import FACTS_SCHEMA, FactsEnd
from sharing.model.project import ProjectConfig
from sharing.model.vocabulary import LockRow, ThreadRow
from tests.analyzer.units import tool, variables

HEADER = b'{"kind":"header","schema":"%s","tool":"1","clang":"19"}\n' % FACTS_SCHEMA.encode()
END = b'{"kind":"end","units":0,"failed":0,"cached":0}\n'


def test_a_whole_stream_is_read() -> None:
    *_, last = read_facts(HEADER + END)
    assert last == FactsEnd(0, 0, 0)


@pytest.mark.parametrize(
    ("stream", "offset", "why"),
    [
        (b"", 0, "no end line"),
        (HEADER, len(HEADER), "no end line"),
        (HEADER + END[:-1], len(HEADER), "cut off"),
        (END, 0, "without a header"),
        (HEADER + HEADER + END, len(HEADER), "second header"),
        (HEADER + END + END, len(HEADER + END), "behind the end"),
        (HEADER + b"\xff\xfe\n" + END, len(HEADER), "not a line of facts"),
        (HEADER + b'{"kind":"unit"}\n' + END, len(HEADER), "not a line of facts"),
        (HEADER + b'{"kind":"other"}\n' + END, len(HEADER), "not a line of facts"),
        (HEADER + b"[" * 100_000 + b"\n" + END, len(HEADER), "nested too deeply|not a line of facts"),
        (HEADER + b'{"kind":"end","units":"x","failed":0,"cached":0}\n', len(HEADER), "units"),
    ],
)
def test_a_broken_stream_says_where(stream: bytes, offset: int, why: str) -> None:
    with pytest.raises(Malformed, match=why) as error:
        list(read_facts(stream))
    assert error.value.offset == offset


def test_another_schema_is_named() -> None:
    with pytest.raises(LinemateError, match="linemate-facts-99"):
        list(read_facts(HEADER.replace(FACTS_SCHEMA.encode(), b"linemate-facts-99") + END))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LinemateError, match="gone"):
        list(read_facts(tmp_path / "gone"))


def test_a_request_is_run(tmp_path: Path) -> None:
    tool()
    (tmp_path / "a.c").write_text("int x;\n")
    stream = run_facts(FactsRequest(sources=(str(tmp_path / "a.c"),), flags=("-O2",), cache=str(tmp_path / "c")))
    unit = next(line for line in read_facts(stream) if line.__class__.__name__ == "UnitFacts")
    assert variables(unit).keys() == {"x"}  # type: ignore[arg-type]


def test_a_tool_that_gives_up_is_one_error(tmp_path: Path) -> None:
    tool()
    with pytest.raises(LinemateError, match=r"compile_commands\.json"):
        run_facts(FactsRequest(database=str(tmp_path)))


def test_the_projects_rows_reach_the_tool(tmp_path: Path) -> None:
    tool()
    config = ProjectConfig(
        lock=(LockRow("own_lock", lock=("own_take",), unlock=("own_drop",)),), thread=(ThreadRow("spawn", 1),)
    )
    (tmp_path / "a.c").write_text("struct own_lock { int n; }; void own_take(struct own_lock *);\nint x;\n")
    (tmp_path / "a.c").write_text(
        "struct own_lock { int n; } l; void own_take(struct own_lock *); void own_drop(struct own_lock *);\n"
        "int x; void f(void) { own_take(&l); x++; own_drop(&l); }\n"
    )
    request = FactsRequest(sources=(str(tmp_path / "a.c"),))
    assert b'"own_lock","&l"' in run_facts(request, config).read_bytes()
    assert b'"own_lock","&l"' not in run_facts(request).read_bytes()
