"""A name that several programs of one compile database define: the edit is of the one that the finding is about."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from sharing.model.finding import Finding
from tests.fix.conftest import Build
from tests.fix.program import ProgramBuilder, Unit, finding
from tests.fix.test_fix_edits import edited, owns_its_lines, refusal

SERVER = "long hits = 1;\nlong run(void) { return hits; }\nint main(void) { return (int)run(); }\n"
CLIENT = "long hits = 2;\nint main(void) { return (int)hits; }\n"


def about(path: str, line: int) -> Finding:
    """A finding about the definition at a place."""
    wanted = finding("hits")
    whose = msgspec.structs.replace(wanted.participants[0], source=f"{path}:{line}:6")
    return msgspec.structs.replace(wanted, participants=(whose,))


def program(builder: ProgramBuilder, name: str, text: str, *headers: str) -> tuple[str, Unit]:
    path = builder.file(name, text)
    unit = builder.unit(path, *headers)
    unit.variable(re.findall(r"long hits = \d", text)[0], "hits", internal=False)
    unit.defines("main")
    return path, unit


def test_the_definition_of_one_program_is_edited(builder: ProgramBuilder, build: Build) -> None:
    server, _ = program(builder, "server.c", SERVER)
    client, _ = program(builder, "client.c", CLIENT)
    texts = edited(builder, about(client, 1))
    assert "hits.value" in texts["client.c"]
    assert texts["server.c"] == SERVER
    for compiler in ("gcc", "clang-19"):
        assert owns_its_lines(build(client, compiler=compiler)["hits"])
    assert Path(server).read_text() == SERVER


def test_the_first_ones_too(builder: ProgramBuilder) -> None:
    server, _ = program(builder, "server.c", SERVER)
    program(builder, "client.c", CLIENT)
    texts = edited(builder, about(server, 1))
    assert "return hits.value;" in texts["server.c"]
    assert texts["client.c"] == CLIENT


def test_a_header_that_both_read_has_all_definitions_follow(builder: ProgramBuilder) -> None:
    header = builder.file("hits.h", "extern long hits;\n")
    for name, text in (("server.c", SERVER), ("client.c", CLIENT)):
        _, unit = program(builder, name, f'#include "hits.h"\n{text}', header)
        unit.declared_in("extern long hits", "hits")
    texts = edited(builder, about(str(builder.folder / "client.c"), 2))
    assert "hits.value" in texts["client.c"]
    assert "hits.value" in texts["server.c"]
    assert "struct hits_line" in texts["hits.h"]


def test_a_unit_of_several_programs_keeps_them_together(builder: ProgramBuilder) -> None:
    """It can be compiled for one type of the variable only."""
    for name, text in (("server.c", SERVER), ("client.c", CLIENT)):
        _, unit = program(builder, name, text)
        unit.refers("common")
    both = builder.unit(builder.file("common.c", "extern long hits;\nlong common(void) { return hits; }\n"))
    both.declared("extern long hits", "hits")
    both.defines("common")
    assert "none of which all of its users include" in refusal(builder, about(str(builder.folder / "server.c"), 1))
