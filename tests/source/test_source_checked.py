"""Facts from anywhere: any number replaced by any other ends in one line or a report, never in another way."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.stream import read_facts
from linemate.source import read_streams
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model import LinemateError, Malformed
from sharing.model.arch import find_architecture, x86
from sharing.model.facts import FACTS_SCHEMA, FactsEnd, FactsHeader, TypeTree
from sharing.source.addressing import AddressSpace, predicted
from sharing.source.emission import unit_contributions
from sharing.source.image import source_image
from sharing.source.merge import merge
from tests.builders.units import LONG, MUTEX, UnitMaker, access, call, lock, through

BOUNDARIES = (-(1 << 64), -(1 << 63), -(1 << 31), -2, -1, 0, 1, 7, 255, 256, 65536, (1 << 31) - 1, 1 << 31, 1 << 32)
BOUNDARIES += ((1 << 47) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64)


def sound() -> dict[str, Any]:
    """A unit with every kind of row, as the tool would send it."""
    unit = UnitMaker("/src/server.c")
    unit.variable("lock", MUTEX)
    unit.variable("head", LONG)
    node = unit.record("node", ("next", 0, LONG), ("count", 8, LONG), size=16)
    unit.variable("first", node)
    held = access("rmw", "head", size=8, under=("lock",), loop=1)
    walked = through("load", "node#16", 8, size=8)
    unit.function("worker", lock("lock", loop=1), held, walked, lock("lock", "unlock", loop=1))
    unit.function("main", call("pthread_create", (3, 0), (3, 0), (4, "worker"), loop=1))
    document: dict[str, Any] = json.loads(msgspec.json.encode(unit.build()))
    calls = document["functions"][1][1]["calls"]
    calls += [-2, *calls[1:]]  # through the first of the slots
    return {
        **document,
        "derived": [0],
        "made": [0],
        "slots": ["member node.next"],
        "kept": [0, document["symbols"].index("worker"), -1],
    }


def numbers(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a document a number stands."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    if isinstance(value, int):
        return [path]
    rows = value.items() if isinstance(value, dict) else enumerate(value)
    return [found for key, inner in rows for found in numbers(inner, (*path, key))]


def changed(path: tuple[Any, ...], number: int) -> dict[str, Any]:
    document = sound()
    at: Any = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = number
    return document


def judged(document: dict[str, Any]) -> int:
    """From the bytes of a stream to findings, as ``check`` does."""
    header, end = (msgspec.json.encode(x) for x in (FactsHeader(FACTS_SCHEMA, "test", "19"), FactsEnd(1, 0, 0)))
    program = merge(read_facts(b"\n".join((header, json.dumps(document).encode(), end, b""))))
    arch = find_architecture(x86.EM_X86_64, 64, "little")
    knowledge = default_knowledge()

    def place(keys: list[str]) -> AddressSpace:
        return predicted(program, lambda unit: unit_contributions(program, unit), keys)

    image = source_image(program, "test", arch, knowledge, place)
    return len(judge(image, JudgeOptions(64, 128), knowledge).findings)


PLACES = numbers(sound())


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PLACES), st.sampled_from(BOUNDARIES))
def test_any_number_may_be_any_other(path: tuple[Any, ...], number: int) -> None:
    with contextlib.suppress(LinemateError):
        judged(changed(path, number))


def test_sound_facts_are_judged() -> None:
    assert judged(sound()) >= 0
    assert len(PLACES) > 100


@pytest.mark.parametrize(
    ("where", "number", "why"),
    [
        (("variables", 0, "file"), 99, r"variable 'lock': file: 99 of 1"),
        (("variables", 2, "size"), -1, r"offset 0x\w+: not a line of facts: .*>= 0 - at `\$.variables\[2\].size`"),
        (("variables", 0, "size"), 1 << 62, r"<= 140737488355328 - at `\$.variables\[0\].size`"),
        (("derived", 0), 9, r"derived record 9 of 1"),
        (("made", 0), 9, r"made record 9 of 1"),
        (("kept", 0), 1, r"kept: slot: row 0: 1 is not in 0\.\.0"),
        (("kept", 1), 1000, r"kept: function: row 0: 1000"),
        (("kept", 2), -2, r"kept: argument: row 0: -2"),
        (("functions", 1, 1, "calls", 0), -3, r"calls: callee: row 0: -3"),
        (("functions", 0, 1, "file"), 7, r"function 'worker': file: 7 of 1"),
        (("functions", 0, 1, "accesses", 2), 99, r"accesses: record: row 0: 99 is not in -1\.\.0"),
        (("functions", 0, 1, "accesses", 5), 77, r"accesses: kind: row 0: 77"),
        (("functions", 0, 1, "lock_ops", 0), 5, r"lock_ops: lock: row 0: 5"),
        (("functions", 1, 1, "calls", 0), 1000, r"calls: callee: row 0: 1000"),
        (("records", 0, 1, "line"), -1, r"record 'node#16': .*>= 0 - at `\$.line`"),
        (("functions", 0, 1, "locks", 0, 3), 1 << 48, r"function 'worker': .* - at `\$.locks\[0\]\[3\]`"),
        (("records", 0, 1, "members", 0, 2, 0), 200, r"record 'node#16': .* - at `\$.members\[0\]\[2\]\[0\]`"),
    ],
)
def test_what_leads_nowhere_is_named(where: tuple[Any, ...], number: int, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        judged(changed(where, number))


def test_the_line_of_a_stream_is_named(tmp_path: Path) -> None:
    header, end = (msgspec.json.encode(x) for x in (FactsHeader(FACTS_SCHEMA, "test", "19"), FactsEnd(1, 0, 0)))
    unit = json.dumps(changed(("functions", 0, 1, "file"), 7)).encode()
    (tmp_path / "facts").write_bytes(b"\n".join((header, unit, end, b"")))
    with pytest.raises(Malformed, match=r"server\.c: facts: function 'worker': file: 7 of 1") as caught:
        read_streams([tmp_path / "facts"])
    assert (caught.value.path, caught.value.offset) == (str(tmp_path / "facts"), len(header) + 1)


def test_a_row_that_is_cut_and_a_type_that_is_too_deep_are_named() -> None:
    document = sound()
    document["functions"][0][1]["accesses"].pop()
    with pytest.raises(Malformed, match="accesses end within a row"):
        judged(document)
    tree = LONG
    for _ in range(70):
        tree = TypeTree(9, "const", 8, 8, tree)
    document = sound()
    document["variables"][1]["type"] = json.loads(msgspec.json.encode(tree))
    with pytest.raises(Malformed, match="more than 64 levels"):
        judged(document)
