"""The score of small programs of known truth: what counts as found, as named and as accused."""

from __future__ import annotations

from typing import Any

import pytest

from bench.samples.programs import FOLDER, Program, programs
from bench.samples.score import score
from sharing.model.finding import Verdict

PAIR = Program("queue.c", ("gcc -O2",), ("queue.pushed", "queue.popped"), "make_queue")
INNOCENT = Program("own.cc", ("g++ -O2",))


def found(
    *names: str, verdict: str = Verdict.FALSE_SHARING.value, severity: str = "high", evidence: str = ""
) -> dict[str, Any]:
    return {
        "severity": severity,
        "verdict": verdict,
        "confidence": "sampled (derived)",
        "participants": [{"name": name, "member": ""} for name in names],
        "evidence": [{"text": evidence}],
    }


def words(program: Program, *findings: dict[str, Any]) -> str:
    return score(program, {"findings": list(findings)}).words


def test_the_pair_by_its_names_with_its_allocation() -> None:
    right = found("queue[1].popped", "queue[1].pushed", evidence="allocated: 24 bytes in make_queue (q.c:3)")
    assert words(PAIR, right) == "found, named, allocation"
    assert words(PAIR, found("queue.popped", "queue.pushed")) == "found, named, NO ALLOCATION"


def test_memory_without_a_name_is_found_and_not_named() -> None:
    assert words(PAIR, found("heap 0x50 bytes 0–7", "heap 0x50 bytes 8–15")) == "found, NOT NAMED, NO ALLOCATION"


@pytest.mark.parametrize("other", [{"severity": "low"}, {"verdict": Verdict.TRUE_SHARING.value}])
def test_what_is_below_medium_or_meant_is_no_find(other: dict[str, str]) -> None:
    assert words(PAIR, found("queue.popped", "queue.pushed", **other)) == "MISSED"
    assert words(INNOCENT, found("sum", "mine", **other)) == "nothing, as it is right"


def test_everything_else_is_an_accusation() -> None:
    assert words(INNOCENT, found("sum", "mine")) == "ACCUSED: sum / mine"
    assert words(PAIR, found("stop", "config")) == "MISSED, ACCUSED: stop / config"


def test_the_table_names_programs_that_are_there() -> None:
    table = programs()
    assert {one.source for one in table} == {path.name for path in FOLDER.iterdir()} - {"programs.json"}
    assert all(one.builds for one in table)
