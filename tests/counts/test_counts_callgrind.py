"""Callgrind's files are read to the last execution: names, relative addresses, calls, jumps, parts and threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmu.counts import read_executions
from sharing.model.errors import LinemateError
from sharing.model.executions import Executions
from tests.builders.callgrind import Out


def read(where: Path, *files: str) -> Executions:
    paths = []
    for number, text in enumerate(files):
        paths.append(where / f"counts.{number}.txt")
        paths[-1].write_text(text)
    return read_executions(paths)


def rows(found: Executions) -> list[tuple[str, int, int, int]]:
    """(module, address, thread number, executions) of everything counted."""
    return [
        (found.modules[r["module"]], int(r["address"]), found.threads[r["thread"]].number, int(r["executions"]))
        for r in found.table
    ]


def test_an_instruction_is_counted_where_it_stands(tmp_path: Path) -> None:
    found = read(tmp_path, Out(thread=2).ob("/bin/s").fn("f").cost(0x1000, 7).cost(0x1004, 5).text())
    assert rows(found) == [("/bin/s", 0x1000, 2, 7), ("/bin/s", 0x1004, 2, 5)]
    assert [(t.process, t.number, t.instructions) for t in found.threads] == [(100, 2, 12)]
    assert found.command == "./server"


def test_addresses_may_be_relative_to_the_line_before(tmp_path: Path) -> None:
    out = Out().ob("/bin/s").cost(0x1000, 1).cost("+8", 2).cost("*", 3).cost("-0x4", 4)
    assert rows(read(tmp_path, out.text())) == [
        ("/bin/s", 0x1000, 1, 1),
        ("/bin/s", 0x1004, 1, 4),
        ("/bin/s", 0x1008, 1, 5),
    ]


def test_what_a_callee_cost_is_not_executed_by_the_call(tmp_path: Path) -> None:
    out = Out().ob("/bin/s").cost(0x1000, 3).call("+5", 0x2000, 3, 9_000_000).cost("*", 3).cost("+5", 3)
    assert rows(read(tmp_path, out.text())) == [("/bin/s", 0x1000 + n, 1, 3) for n in (0, 5, 10)]


def test_jumps_cost_nothing_where_they_come_from(tmp_path: Path) -> None:
    out = Out().ob("/bin/s").cost(0x1000, 3).jump("*", 0x1010, 2, 3).cost("+2", 1).jump("*", 0x1000, 1).cost("+2", 1)
    assert [(r[1], r[3]) for r in rows(read(tmp_path, out.text()))] == [(0x1000, 3), (0x1002, 1), (0x1004, 1)]


def test_a_number_stands_for_a_file_that_was_named_before(tmp_path: Path) -> None:
    out = Out().line("cob=(2) /lib/b.so").ob("(1) /bin/s").cost(0x10, 1).ob("(2)").cost(0x20, 2).ob("(1)").cost(0x30, 4)
    assert rows(read(tmp_path, out.text())) == [
        ("/bin/s", 0x10, 1, 1),
        ("/bin/s", 0x30, 1, 4),
        ("/lib/b.so", 0x20, 1, 2),
    ]


def test_numbers_of_files_and_of_functions_are_different_ones(tmp_path: Path) -> None:
    out = Out().line("fl=(1) a.c").ob("(1) /bin/s").fn("(1) main").cost(0x10, 1).fn("(1)").cost(0x20, 1)
    assert {r[0] for r in rows(read(tmp_path, out.text()))} == {"/bin/s"}


def test_executions_are_one_of_several_events(tmp_path: Path) -> None:
    out = Out(events="Dr Ir Dw").ob("/bin/s").line("0x10 0 900 7 800").line("+4 0 1").line("+4 0 1 2")
    out.executed = 9
    text = out.text().replace("totals: 9", "totals: 902 9 800")
    assert [(r[1], r[3]) for r in rows(read(tmp_path, text))] == [(0x10, 7), (0x18, 2)]


def test_parts_of_a_thread_add_up_and_threads_do_not(tmp_path: Path) -> None:
    one = Out(thread=1, part=1).ob("/bin/s").cost(0x10, 1).text()
    two = Out(thread=1, part=2).ob("/bin/s").cost(0x10, 2).text()
    other = Out(thread=2, part=1).ob("/bin/s").cost(0x10, 4).text()
    apart = read(tmp_path, one, two, other)
    assert rows(apart) == [("/bin/s", 0x10, 1, 3), ("/bin/s", 0x10, 2, 4)]
    assert rows(read(tmp_path, one + two + other)) == rows(apart)
    assert [t.instructions for t in apart.threads] == [3, 4]


def test_later_parts_of_one_file_are_of_the_same_process(tmp_path: Path) -> None:
    one = Out(thread=1, pid=7).ob("/bin/s").cost(0x10, 1).text()
    two = Out(thread=2, part=1).ob("/bin/s").cost(0x10, 1).text()
    two = two.replace("pid: 100\n", "")
    assert read(tmp_path, one + two).processes == (7,)


def test_threads_of_two_processes_stay_apart(tmp_path: Path) -> None:
    texts = [Out(thread=1, pid=pid).ob("/bin/s").cost(0x10, pid).text() for pid in (7, 8)]
    assert [(t.process, t.instructions) for t in read(tmp_path, *texts).threads] == [(7, 7), (8, 8)]


def test_the_same_counts_are_not_added_twice(tmp_path: Path) -> None:
    text = Out(thread=3, part=2).ob("/bin/s").cost(0x10, 1).text()
    with pytest.raises(LinemateError, match=r"is part 2 of thread 3 of process 100, as .*counts.0.txt is"):
        read(tmp_path, text, text)


def test_the_name_that_callgrind_was_given_stands_for_its_files(tmp_path: Path) -> None:
    (tmp_path / "cg.out").write_text("")
    for name, thread, part in (("cg.out-01", 1, 1), ("cg.out-02", 2, 1), ("cg.out.1-01", 1, 2), ("cg.out2-01", 9, 9)):
        (tmp_path / name).write_text(Out(thread=thread, part=part).ob("/bin/s").cost(0x10, 1).text())
    found = read_executions([tmp_path / "cg.out"])
    assert [(t.number, t.instructions) for t in found.threads] == [(1, 2), (2, 1)]


def test_a_file_with_counts_stands_for_itself(tmp_path: Path) -> None:
    for name, thread in (("cg", 1), ("cg-02", 2)):
        (tmp_path / name).write_text(Out(thread=thread).ob("/bin/s").cost(0x10, 1).text())
    assert [t.number for t in read_executions([tmp_path / "cg"]).threads] == [1]


def test_a_thread_that_rested_since_the_last_dump_has_no_executions(tmp_path: Path) -> None:
    found = read(tmp_path, Out(thread=4).text(), Out(thread=1).ob("/bin/s").cost(0x10, 1).text())
    assert [(t.number, t.instructions) for t in found.threads] == [(4, 0), (1, 1)]
