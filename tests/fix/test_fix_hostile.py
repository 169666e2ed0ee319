"""Facts that do not fit their file: whatever places they name, a plan is made or refused, and nothing else happens."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharing.fix.edits import apply_edits, attach_edits, plan_finding
from sharing.fix.plan import Planner
from sharing.fix.style import FixOptions
from sharing.source.program import Program
from tests.fix.program import LONG, ProgramBuilder, array, finding, read

TEXT = """#define COUNT() (hits++)
struct job {
  long state, clock;
  struct { long inner; };
};
static long hits = 3, misses, *slots[4] = {0};
struct job job;
long f(struct job *j) { hits++; return slots[1] - &misses + j->clock + sizeof(slots); }
"""
KINDS = ("pad-type", "pad-element", "align-member", "section", "destructive-size")
OFFSETS = st.integers(-3, len(TEXT) + 9) | st.sampled_from(
    [TEXT.index(w) for w in ("hits =", "struct job {", "}", ";")]
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    builder = ProgramBuilder(tmp_path_factory.mktemp("hostile"))
    unit = builder.unit(builder.file("a.c", TEXT))
    members = (("long state", "state", LONG), ("long state, clock", "clock", LONG))
    record = unit.record(TEXT[TEXT.index("struct job {") : TEXT.index("};\nstatic") + 1], "job", members)
    unit.variable("static long hits = 3", "hits")
    unit.variable("static long hits = 3, misses", "misses", internal=True)
    unit.variable("static long hits = 3, misses, *slots[4] = {0}", "slots", array(LONG, 4), internal=True)
    unit.variable("struct job job", "job", unit.of_record(record))
    return builder.program()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.sampled_from(["hits", "misses", "slots", "job", "key-job"]),
    kind=st.sampled_from(KINDS),
    member=st.sampled_from(["", "clock", "state", "a.b[1]", ".", "inner"]),
    places=st.tuples(OFFSETS, OFFSETS, OFFSETS),
    align=st.sampled_from([-1, 0, 8, 64, 1 << 40]),
)
def test_any_place_is_planned_or_refused(
    program: Program, which: str, kind: str, member: str, places: tuple[int, int, int], align: int
) -> None:
    begin, end, name = places
    variables = {
        key: dataclasses.replace(v, facts=msgspec.structs.replace(v.facts, begin=begin, end=end, name_begin=name))
        for key, v in program.variables.items()
    }
    records = {}
    for key, r in program.records.items():
        moved = tuple(msgspec.structs.replace(m, begin=name, end=end) for m in r.facts.members)
        facts = msgspec.structs.replace(r.facts, begin=begin, end=end, members=moved, declared_align=align)
        records[key] = dataclasses.replace(r, facts=facts)
    changed = dataclasses.replace(program, variables=variables, records=records)
    identity = next((key for key in variables if key.startswith(f"{which}@") or key == which), which)
    (planned,) = plan_finding(finding(identity, kind=kind, member=member), Planner(changed, read, FixOptions()))
    assert (planned.plan is None) == bool(planned.reason)
    if planned.plan is not None:
        data = TEXT.encode()
        assert all(0 <= edit.begin <= edit.end <= len(data) for edit in planned.plan.edits)
        assert apply_edits(data, planned.plan.edits) != data


def test_a_file_that_is_gone_is_a_reason(program: Program) -> None:
    def gone(path: str) -> bytes:
        raise FileNotFoundError(2, "No such file or directory", path)

    identity = next(key for key in program.variables if key.startswith("hits"))
    (planned,) = plan_finding(finding(identity), Planner(program, gone, FixOptions()))
    assert planned.reason.endswith("a.c: No such file or directory")
    assert attach_edits(finding(identity), program, gone) == finding(identity)


@pytest.mark.parametrize("ending", [' = "', "; /*", ' = R"(', " = (1;"])
def test_a_file_that_ends_too_early_is_a_reason(tmp_path: Path, ending: str) -> None:
    builder = ProgramBuilder(tmp_path)
    unit = builder.unit(builder.file("a.c", f"static long hits{ending}"))
    identity = unit.variable("static long hits", "hits")
    (planned,) = plan_finding(finding(identity), Planner(builder.program(), read, FixOptions()))
    assert planned.plan is None
    assert planned.reason
