"""Units become programs: every identity once, and one program for each main.

Not tested here: what the units say (the analyzer's tests) and what is judged of it.
"""

from __future__ import annotations

import msgspec
import pytest

from sharing.model import Malformed
from sharing.model.facts import RecordBits, RecordFacts
from sharing.source.merge import assemble, executables
from tests.builders.units import INT, LONG, UnitMaker, access, call


def unit(path: str, *, defines: tuple[str, ...] = (), uses: tuple[str, ...] = (), main: bool = False) -> UnitMaker:
    maker = UnitMaker(path)
    for name in defines:
        maker.function(name)
    maker.function("main" if main else f"user_{path}", *(call(name) for name in uses), static=not main)
    return maker


def test_a_definition_wins_over_declarations_in_other_units() -> None:
    user, owner = UnitMaker("/src/user.c"), UnitMaker("/src/owner.c")
    user.variable("shared", INT, extern=True)
    owner.variable("shared", INT)
    program = assemble([user.build(), owner.build()])
    assert program.variables["shared"].unit == 1
    assert not program.declared


@pytest.mark.parametrize(("header", "system"), [("/usr/include/lib/node.h", True), ("/home/usr/include/node.h", False)])
def test_a_record_of_an_installed_library_is_the_systems_however_its_header_was_found(
    header: str, system: bool
) -> None:
    maker = UnitMaker("/src/a.c")
    maker.record("node", ("next", 0, LONG), size=8)
    made = maker.build()
    files = (*made.files, header)
    key, raw = made.records[0]
    facts = msgspec.json.decode(raw, type=RecordFacts)
    there = msgspec.Raw(msgspec.json.encode(msgspec.structs.replace(facts, file=len(files) - 1)))
    program = assemble([msgspec.structs.replace(made, files=files, file_hashes=("",) * 2, records=((key, there),))])
    assert bool(program.records[key].facts.bits & RecordBits.SYSTEM) == system


def test_statics_of_one_name_are_two_variables() -> None:
    first, second = UnitMaker("/src/a.c"), UnitMaker("/src/b.c")
    assert {first.variable("count", INT, static=True), second.variable("count", INT, static=True)} == set(
        assemble([first.build(), second.build()]).variables
    )


def test_one_main_takes_all_units_also_those_that_nothing_refers_to() -> None:
    program = assemble([unit("/src/main.c", main=True).build(), unit("/src/plugin.c").build()])
    assert [(path, len(part.members)) for path, part in executables(program)] == [("/src/main.c", 2)]


def test_each_main_gets_what_it_refers_to_transitively() -> None:
    program = assemble(
        [
            unit("/src/server.c", main=True, uses=("serve",)).build(),
            unit("/src/client.c", main=True, uses=("connect_to",)).build(),
            unit("/src/serve.c", defines=("serve",), uses=("log_line",)).build(),
            unit("/src/net.c", defines=("connect_to",)).build(),
            unit("/src/log.c", defines=("log_line",)).build(),
        ]
    )
    parts = {path: [part.units[i].path for i in part.members] for path, part in executables(program)}
    assert parts == {
        "/src/server.c": ["/src/server.c", "/src/serve.c", "/src/log.c"],
        "/src/client.c": ["/src/client.c", "/src/net.c"],
    }


def test_of_two_definitions_the_nearer_one_is_linked() -> None:
    program = assemble(
        [
            unit("/src/a/main.c", main=True, uses=("helper",)).build(),
            unit("/src/b/main.c", main=True, uses=("helper",)).build(),
            unit("/src/a/util.c", defines=("helper",)).build(),
            unit("/src/b/util.c", defines=("helper",)).build(),
        ]
    )
    assert {path: part.units[part.members[-1]].path for path, part in executables(program)} == {
        "/src/a/main.c": "/src/a/util.c",
        "/src/b/main.c": "/src/b/util.c",
    }


def test_a_unit_that_is_built_once_more_as_a_program_is_linked_without_its_main() -> None:
    """As a file of a library with its own test in it: two of the name main are never linked."""
    program = assemble(
        [
            unit("/src/lib/number.c", defines=("number",), main=True).build(),
            unit("/src/lib/number.c", defines=("number",), uses=("log_line",)).build(),
            unit("/src/lib/log.c", defines=("log_line",)).build(),
            unit("/src/server.c", main=True, uses=("number",)).build(),
        ]
    )
    parts = {path: part.members for path, part in executables(program)}
    assert parts == {"/src/server.c": (1, 2, 3), "/src/lib/number.c": (0,)}


@pytest.mark.parametrize("main_first", [True, False])
def test_what_is_compiled_twice_is_for_the_program_that_it_is_listed_with(main_first: bool) -> None:
    """As a server and the same for its tests; that one may need more is of its flags."""
    server = unit("/src/server.c", main=True, uses=("log_line", "serve")).build()
    files = [unit("/src/serve.c", defines=("serve",)), unit("/src/log.c", defines=("log_line",))]
    check = unit("/src/serve.c", defines=("serve",), uses=("check",)), unit("/src/check.c", defines=("check",))
    one, other = [one.build() for one in files], [one.build() for one in (check[0], files[1], check[1])]
    listed = [server, *one, server, *other] if main_first else [*one, server, *other, server]
    members = [part.members for _, part in executables(assemble(listed))]
    assert members == [(3, 4, 5, 6), (0, 1, 2)]


def test_what_only_another_program_defines_is_in_none() -> None:
    program = assemble(
        [
            unit("/src/tool.c", defines=("helper",), main=True).build(),
            unit("/src/server.c", main=True, uses=("helper",)).build(),
        ]
    )
    assert sorted(part.members for _, part in executables(program)) == [(0,), (1,)]


def test_what_no_main_needs_is_judged_as_a_library() -> None:
    program = assemble(
        [
            unit("/src/one.c", main=True).build(),
            unit("/src/two.c", main=True).build(),
            unit("/src/lib.c", defines=("api",)).build(),
        ]
    )
    assert [(path, [part.units[i].path for i in part.members]) for path, part in executables(program)][-1] == (
        "",
        ["/src/lib.c"],
    )


def test_without_main_everything_is_one_library() -> None:
    program = assemble([unit("/src/lib.c", defines=("api",)).build()])
    assert [path for path, _ in executables(program)] == [""]


def test_failed_and_partial_units_are_named() -> None:
    good = unit("/src/good.c").build()
    partial = msgspec.structs.replace(unit("/src/partial.c").build(), errors=("partial.c:3:1: no such type", "more"))
    program = assemble([good, partial], failed=[("/src/dead.c", "no such file")])
    assert program.notes == (
        "/src/partial.c: analysed in part: partial.c:3:1: no such type and 1 more",
        "/src/dead.c: not analysed: no such file",
    )


def test_what_units_say_of_a_header_is_told_once() -> None:
    said = tuple(f"member {n}: left out" for n in range(7))
    units = [msgspec.structs.replace(unit(path).build(), notes=said) for path in ("/src/one.c", "/src/two.c")]
    assert assemble(units).notes == (*(f"/src/one.c: {note}" for note in said[:5]), "2 more notes about units")


@pytest.mark.parametrize("document", [b"[]", b'{"identity": 3}', b'{"identity": "f", "accesses": ["x"]}'])
def test_a_function_that_breaks_the_schema_is_malformed(document: bytes) -> None:
    maker = UnitMaker("/src/a.c")
    maker.function("f", access("load", maker.variable("x", INT)))
    broken = msgspec.structs.replace(maker.build(), functions=(("f", msgspec.Raw(document)),))
    with pytest.raises(Malformed, match="form of the schema"):
        assemble([broken])
