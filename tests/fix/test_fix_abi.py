"""Whether an edit is said to change the ABI: where code that is built apart may know the old size or layout."""

from __future__ import annotations

import msgspec
import pytest

from sharing.fix.edits import plan_finding
from sharing.fix.plan import Plan, Planner
from sharing.fix.style import FixOptions
from sharing.model.finding import Finding
from tests.fix.program import ProgramBuilder, finding, read


def plan(builder: ProgramBuilder, wanted: Finding) -> Plan:
    (planned,) = plan_finding(wanted, Planner(builder.program(), read, FixOptions()))
    assert planned.plan is not None, planned.reason
    return planned.plan


@pytest.mark.parametrize(
    ("storage", "pic", "main", "changes"),
    [
        ("", "", True, False),  # an executable exports nothing
        ("", "-fPIE", True, False),
        ("", "", False, True),  # a library: whoever declares the name may use it
        ("", "-fPIC", True, True),  # a library whose tests are in the same compile database
        ("static ", "-fPIC", False, False),  # nobody else can name it
    ],
)
def test_a_variable_that_no_header_declares(
    storage: str, pic: str, main: bool, changes: bool, builder: ProgramBuilder
) -> None:
    text = f"{storage}long hits = 3"
    unit = builder.unit(builder.file("a.c", f"{text};\nlong f(void) {{ return hits; }}\n"), pic=pic)
    hits = unit.variable(text, "hits")
    if main:
        unit.defines("main")
    assert plan(builder, finding(hits)).breaks_abi == changes


@pytest.mark.parametrize(("main", "changes"), [(True, False), (False, True)])
def test_a_type_of_one_file_is_known_by_the_variable_that_has_it(
    main: bool, changes: bool, builder: ProgramBuilder
) -> None:
    text = "struct stats { long hits; } stats = {0};\nlong f(void) { return stats.hits; }\n"
    unit = builder.unit(builder.file("a.c", text))
    record = unit.record("struct stats { long hits; }", "stats")
    stats = unit.variable("struct stats { long hits; } stats = {0}", "stats", unit.of_record(record))
    if main:
        unit.defines("main")
    made = plan(builder, finding(stats))
    assert made.how.startswith("align stats to 64 bytes")
    assert made.breaks_abi == changes


def test_a_header_is_read_by_others_whatever_is_linked(builder: ProgramBuilder) -> None:
    header = builder.file("stats.h", "struct stats { long hits; };\n")
    unit = builder.unit(builder.file("a.c", '#include "stats.h"\nstatic struct stats stats = {0};\n'), header)
    record = unit.record("struct stats { long hits; }", "stats")
    stats = unit.variable("static struct stats stats = {0}", "stats", unit.of_record(record))
    unit.defines("main")
    assert plan(builder, finding(stats)).breaks_abi


@pytest.mark.parametrize(("name", "changes"), [("server", False), ("plugin", True)])
def test_a_name_of_two_programs_is_judged_by_the_one_that_is_edited(
    name: str, changes: bool, builder: ProgramBuilder
) -> None:
    for each, pic in (("server", ""), ("plugin", "-fPIC")):
        unit = builder.unit(
            builder.file(f"{each}.c", "long hits = 1;\nint main(void) { return (int)hits; }\n"), pic=pic
        )
        unit.variable("long hits = 1", "hits")
        unit.defines("main")
    wanted = finding("hits")
    whose = msgspec.structs.replace(wanted.participants[0], source=f"{builder.folder / name}.c:1:6")
    assert plan(builder, msgspec.structs.replace(wanted, participants=(whose,))).breaks_abi == changes
