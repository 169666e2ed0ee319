"""Two words that one vector register stores, of x86-64: functions and the addresses of objects."""

from __future__ import annotations

import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model.image import HELD_OFFSET_BITS, WHOLE_ARGUMENT, WORD_NUMBER_BITS, SlotKind, Table
from tests.access.conftest import Build
from tests.access.elfplan import Elf, read_elf

HOLDERS = (1 << 62) - 1
FLAGS = (("-O0",), ("-O2",), ("-O2", "-march=x86-64-v3"))


@pytest.fixture(params=[(one, flags) for one in ("gcc-x86-64", "clang-x86-64") for flags in FLAGS], ids=str)
def pairs(request: pytest.FixtureRequest, build: Build) -> tuple[Elf, ScanResult]:
    compiler, flags = request.param
    elf = read_elf(build(compiler, "shared/pairs.c", *flags))
    return elf, start_scan(elf.plan).result()


def of(elf: Elf, rows: Table, function: str) -> Table:
    names = [elf.names.get(at, "") for at in elf.plan.functions["address"].tolist()]
    return rows[rows["function"] == names.index(function)]


def kept(elf: Elf, result: ScanResult, function: str) -> set[tuple[str, SlotKind, int]]:
    return {
        (elf.names[int(row["value"])], SlotKind(row["slot"]), int(row["where"]))
        for row in of(elf, result.kept, function)
        if row["slot"] != SlotKind.UNKNOWN
    }


def test_functions_are_kept_where_each_word_goes(pairs: tuple[Elf, ScanResult]) -> None:
    elf, _ = pairs
    assert kept(*pairs, "to_static") == {("work", SlotKind.STATIC, elf.objects["fixed"][0])}
    assert kept(*pairs, "to_record") == {("other_work", SlotKind.RECORD, 8)}


def test_a_pair_that_was_put_together_before_a_loop(pairs: tuple[Elf, ScanResult]) -> None:
    assert kept(*pairs, "in_loop") == {("work", SlotKind.RECORD, 0)}


def test_both_words_of_a_record_on_the_stack_are_handed_on(pairs: tuple[Elf, ScanResult]) -> None:
    elf, result = pairs
    numbers = (1 << WORD_NUMBER_BITS) - 1
    rows = of(elf, result.held, "to_stack")
    words = {(int(row["variable"]) & HOLDERS) >> HELD_OFFSET_BITS & numbers: int(row["what"]) for row in rows}
    in_frame = words.pop(WHOLE_ARGUMENT)  # the word's own place there
    # Of functions two more words are told, whatever is behind the record there: a std::function has four.
    two = {at: what for at, what in words.items() if at < 2}
    assert two == {0: elf.functions["work"], 1: elf.objects["second"][0]}
    assert set(words.values()) == set(two.values())
    assert in_frame == elf.functions["work"]


def test_what_a_call_leaves_of_a_register_is_not_known(pairs: tuple[Elf, ScanResult]) -> None:
    assert kept(*pairs, "lost") == set()
