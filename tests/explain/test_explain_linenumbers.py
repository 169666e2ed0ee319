"""Line numbers that code hands on: they move with the source, and no function changed by it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from sharing.explain import numbers
from sharing.explain.bodychanges import sorted_out
from sharing.explain.code import Code
from sharing.explain.moves import Calls, Forms, Moves, forms_of, moved_numbers
from sharing.model.arch import machine_named
from sharing.model.comparison import CauseKind
from sharing.model.instructions import INSTRUCTION_DTYPE
from tests.explain.conftest import Explain

SOURCE = """
#include <stdio.h>
#define LIMIT {limit}
static int bad(const char *what, int line) {{ return fprintf(stderr, "%s: line %d\\n", what, line); }}
long total[64];
{added}
long put(long n) {{ if (n < 0) bad("put", __LINE__); total[n & 63] += n; return n; }}

long get(long n) {{ if (n < 0) bad("get", __LINE__); total[0] += n; return total[n & 63]; }}


long take(long n) {{ if (n < 0) bad("take", __LINE__); total[n & 63] -= n; return n ^ total[1]; }}
static long more(long n, int by) {{ return total[n & 63] ^= by; }}
long many(long n) {{ return n & 4 ? 1 + more(n, LIMIT) : total[n & 63]; }}
long few(long n) {{ return n & 2 ? 1 + more(n, LIMIT) : total[n & 31]; }}
long none(long n) {{ return n & 1 ? 1 + more(n, LIMIT) : total[n & 15]; }}
int main(int argc, char **argv) {{
  for (long i = argc; i < 100000000; i++) total[2] += put(i) + get(i) + take(i) + many(i) + few(i) + none(i);
  return argv[0] == 0;
}}
"""


def built(folder: Path, name: str, added: str = "", limit: int = 1000) -> Path:
    (folder / f"{name}.c").write_text(SOURCE.format(added=added, limit=limit))
    flags = ["-O1", "-fno-inline", "-g", "-fno-ipa-cp", "-fno-ipa-sra"]
    subprocess.run(["gcc", *flags, f"{name}.c", "-o", name], cwd=folder, check=True)
    return folder / name


def test_lines_added_in_front_change_no_function(explained: Explain, tmp_path: Path) -> None:
    found = explained(built(tmp_path, "old"), built(tmp_path, "new", added="// one\n// two\n// three"))
    assert [cause.kind for cause in found.causes] == [CauseKind.NONE]
    assert "code: 3 functions differ in the line numbers of their source alone" in found.coverage.notes


ONE = """
#include <assert.h>
#include <pthread.h>
{added}
long total[64], step = 3;
__attribute__((noinline)) long put(long n) {{
  assert(n < {limit});
  for (long i = 0; i < step; i++) total[(n + i) & 63] += n;
  return total[n & 63] + {given};
}}
static void *work(void *unused) {{ for (long i = 0; i < 100000000; i++) total[i & 7] += put(i & 1023); return unused; }}
int main(void) {{
  pthread_t one, two;
  pthread_create(&one, 0, work, 0), pthread_create(&two, 0, work, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return total[3] == 4;
}}
"""


def one_assertion(folder: Path, name: str, *flags: str, added: str = "", limit: int = 70000, given: int = 5000) -> Path:
    (folder / f"{name}.c").write_text(ONE.format(added=added, limit=limit, given=given))
    subprocess.run(["gcc", "-O2", *flags, "-pthread", f"{name}.c", "-o", name], cwd=folder, check=True)
    return folder / name


@pytest.mark.parametrize("flags", [("-g",), ("-s",), ("-g", "-fno-reorder-blocks-and-partition")], ids=" ".join)
def test_the_line_of_a_single_assertion_is_no_change(
    explained: Explain, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    """Also where it stands in a cold part of the function, which has no name in a stripped file."""
    old = one_assertion(tmp_path, "old", *flags)
    found = explained(old, one_assertion(tmp_path, "new", *flags, added="// one\n// two"))
    assert [cause.kind for cause in found.causes] == [CauseKind.NONE]
    for limit, given in ((70002, 5000), (70000, 5002)):
        found = explained(old, one_assertion(tmp_path, f"to_{limit}_{given}", *flags, limit=limit, given=given))
        assert CauseKind.CODE in [cause.kind for cause in found.causes]


LOG = """
#include <pthread.h>
{added}
long total[64], seen[8];
__attribute__((noinline)) void note(const char *what, long n, int line) {{ seen[n & 7] += *what + line; }}
__attribute__((noinline)) long put(long n) {{
  note("put", n, {first});
  total[n & 63] += n;
  return total[n & 7];
}}
__attribute__((noinline)) long take(long n) {{
  note("take", n, {second});
  total[n & 31] -= n{edit};
  return total[n & 15];
}}
static void *work(void *unused) {{
  for (long i = 0; i < 100000000; i++) total[i & 7] += put(i & 1023) + take(i);
  return unused;
}}
int main(void) {{
  pthread_t one, two;
  pthread_create(&one, 0, work, 0), pthread_create(&two, 0, work, 0);
  pthread_join(one, 0), pthread_join(two, 0);
  return total[3] == 4;
}}
"""


def logging(
    folder: Path, name: str, *, added: str = "", first: str = "__LINE__", second: str = "8", edit: str = ""
) -> Path:
    text = LOG.format(added=added, first=first, second=second, edit=edit)
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["gcc", "-O2", "-rdynamic", "-s", "-pthread", f"{name}.c", "-o", name], cwd=folder, check=True)
    return folder / name


@pytest.mark.parametrize("second", ["8", "__LINE__"], ids=["one", "two that moved alike"])
def test_a_single_number_that_may_be_a_line_comes_behind_all_that_is_real(
    explained: Explain, tmp_path: Path, second: str
) -> None:
    """The call is made each time around: nothing but the number says that it is one."""
    old = logging(tmp_path, "old", second=second)
    found = explained(old, logging(tmp_path, "new", added="// one\n// two", second=second))
    (cause,) = found.causes
    assert (cause.kind, cause.strength) == (CauseKind.CODE, numbers.MAY_BE_LINE)
    assert "may be a line number of the source" in cause.summary
    number = LOG[: LOG.index('note("put')].count("\n") + 1
    assert f"{number}, now {number + 1}" in cause.summary
    real = explained(old, logging(tmp_path, "real", added="// one\n// two", second=second, edit=" ^ 5"))
    (cause,) = (c for c in real.causes if c.kind is CauseKind.CODE)
    assert cause.strength >= numbers.CHANGED_LEAST
    assert cause.summary.startswith("1 busy function changed")
    assert "1 function hands another number to a call and is else the same" in cause.evidence[-1]


@pytest.mark.parametrize(
    ("before", "after"),
    [("40", "48"), ("50", "60"), ("1000", "1400"), ("13", "1013"), ("0", "7")],
    ids=["sizes", "limits", "far", "farther", "off and on"],
)
def test_numbers_that_lines_seldom_are_changed_the_code(
    explained: Explain, tmp_path: Path, before: str, after: str
) -> None:
    old, new = (logging(tmp_path, f"at_{number}", first=number) for number in (before, after))
    (cause,) = (c for c in explained(old, new).causes if c.kind is CauseKind.CODE)
    assert cause.strength >= numbers.CHANGED_LEAST
    assert "line number" not in cause.summary


def test_a_constant_of_several_functions_is_a_change_of_each(explained: Explain, tmp_path: Path) -> None:
    """All go from one number to one other: lines would each be another one."""
    found = explained(built(tmp_path, "old"), built(tmp_path, "new", limit=1002))
    (cause,) = (c for c in found.causes if c.kind is CauseKind.CODE)
    assert {"many", "few", "none"} <= set(cause.symbols)


@pytest.mark.parametrize(
    ("moves", "lines"),
    [
        ({1: {(10, 13)}, 2: {(20, 23)}, 3: {(30, 33), (40, 43)}}, {1, 2, 3}),
        ({1: {(10, 13)}, 2: {(20, 23)}, 3: {(30, 32)}}, set()),  # two distances, each of too few
        ({1: {(10, 13)}, 2: {(20, 23)}, 3: {(30, 33), (7, 4096)}}, {1, 2}),  # the third has a constant, too
        ({1: {(10, 13)}, 2: {(10, 13)}, 3: {(10, 13)}}, set()),
        ({1: {(10, 13)}, 2: {(20, 23)}, 3: {(30, 33)}, 4: None}, {1, 2, 3}),  # the fourth changed otherwise
        ({1: {(2_000_010, 2_000_013)}, 2: {(2_000_020, 2_000_023)}, 3: {(2_000_030, 2_000_033)}}, set()),
    ],
)
def test_numbers_are_lines_where_different_ones_moved_alike(
    moves: dict[int, set[tuple[int, int]] | None], lines: set[int]
) -> None:
    changed = {key: None if one is None else Moves(frozenset(one)) for key, one in moves.items()}
    assert sorted_out(changed).lines == lines


def test_a_number_for_the_last_call_alone_is_no_change() -> None:
    last = Moves(last=frozenset({(10, 13)}))
    assert sorted_out({1: last, 2: Moves(frozenset({(10, 13)}))}).lines == {1}
    assert sorted_out({1: Moves(frozenset({(7, 4096)}), last.last)}).lines == set()
    more = {2: Moves(frozenset({(20, 23)})), 3: Moves(frozenset({(30, 33)}))}
    assert sorted_out({1: last, **more}).lines == {1, 2, 3}  # it tells how far lines moved


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        (b"\xba\x0a\0\0\0", b"\xba\x0d\0\0\0", {(10, 13)}),  # mov $10, %edx
        (b"\x41\xb8\x0a\0\0\0", b"\x41\xb8\x0d\0\0\0", {(10, 13)}),  # mov $10, %r8d
        (b"\x68\x0a\0\0\0", b"\x68\x0d\0\0\0", {(10, 13)}),  # push $10
        (b"\xba\x0a\0\0\0", b"\xb9\x0a\0\0\0", None),  # into another register
        (b"\xba\x0a\0\0\0", b"\xbe\x0d\0\0\0", None),
        (b"\x81\xfa\x0a\0\0\0", b"\x81\xfa\x0d\0\0\0", None),  # a number that is compared with
        (b"\x8b\x90\x0a\0\0\0", b"\x8b\x90\x0d\0\0\0", None),  # a distance within an object
    ],
)
def test_only_numbers_that_are_loaded_may_be_lines(old: bytes, new: bytes, moves: set[tuple[int, int]] | None) -> None:
    machine = machine_named("x86-64")
    assert machine is not None
    found = moved_numbers(code(old), code(new), forms_of(machine))
    assert found == (None if moves is None else Moves(frozenset(moves)))
    assert moved_numbers(code(old), code(new), Forms()) == moved_numbers(code(old), None, forms_of(machine)) is None


@pytest.mark.parametrize(
    ("between", "seldom", "is_last"),
    [
        (b"\x8d\x3d\0\0\0\0", True, True),  # lea X(%rip), %edi
        (b"\x8d\x3d\0\0\0\0", False, False),  # the call is made often
        (b"\xc3", True, False),  # ret: the number is what the function gives back, the call stands behind it
        (b"\xff\xe0", True, False),  # jmp *%rax
        (b"\x41\xff\x24\xc4", True, False),  # jmp *(%r12,%rax,8)
        (b"\xff\xd0", True, True),  # call *%rax: its target is not known, the next one is
        (b"\x0f\x0b", True, False),  # ud2
    ],
)
def test_a_number_is_for_the_call_that_code_goes_straight_on_to(between: bytes, seldom: bool, is_last: bool) -> None:
    machine = machine_named("x86-64")
    assert machine is not None
    old, new = (code(bytes([0xBA, line, 0, 0, 0]), between, b"\xe8\0\0\0\0", b"\x90") for line in (10, 13))
    calls = Calls(np.array([5 + len(between)]), np.array([seldom]))
    found = moved_numbers(old, new, forms_of(machine), calls)
    number = frozenset({(10, 13)})
    handed = {number} if between.startswith(b"\x8d") else set()
    assert found == (Moves(last=number) if is_last else Moves(number, handed=frozenset().union(*handed)))


def test_a_call_that_nothing_follows_is_the_last() -> None:
    machine = machine_named("x86-64")
    assert machine is not None
    calls = Calls(np.array([5]), np.array([False]))
    number = frozenset({(10, 13)})
    for behind, moves in (((), Moves(last=number)), ((b"\x90",), Moves(number, handed=number))):
        old, new = (code(bytes([0xBA, line, 0, 0, 0]), b"\xe8\0\0\0\0", *behind) for line in (10, 13))
        assert moved_numbers(old, new, forms_of(machine), calls) == moves
    old, new = (code(bytes([0xBA, line, 0, 0, 0]), b"\xe9\0\0\0\0") for line in (10, 13))
    for side in (old, new):
        assert side.instructions is not None
        side.instructions["jumps"][1] = 1  # to another function, which comes back for this one
    assert moved_numbers(old, new, forms_of(machine), calls) == Moves(number, handed=number)


def test_a_number_before_a_branch_is_not_for_the_call_behind_it() -> None:
    machine = machine_named("x86-64")
    assert machine is not None
    old, new = (code(bytes([0xBA, line, 0, 0, 0]), b"\x74\0", b"\xe8\0\0\0\0") for line in (10, 13))
    for side in (old, new):
        assert side.instructions is not None
        side.instructions["jumps"][1] = 1
    calls = Calls(np.array([7]), np.array([True]))
    assert moved_numbers(old, new, forms_of(machine), calls) == Moves(frozenset({(10, 13)}))


def code(*instructions: bytes) -> Code:
    rows = np.zeros(len(instructions), INSTRUCTION_DTYPE)
    for row, data in zip(rows, instructions, strict=True):
        row["length"] = len(data)
        row["bytes"][: len(data)] = list(data)
    rows["offset"] = np.cumsum(rows["length"]) - rows["length"]
    return Code(b"".join(instructions), 0x1000, rows)
