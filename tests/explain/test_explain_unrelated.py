"""Two programs are not compared: where hardly anything is in both, that is the whole answer."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import numpy as np
import pytest

from elfscan.traits import read_traits
from linemate.commands.explain import exit_code
from sharing.explain import numbers
from sharing.explain.causes.base import program_of
from sharing.explain.compare import ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.image import FUNCTION_DTYPE, Image
from tests.explain.conftest import Explain, read
from tests.explain.layouts import Var, laid

SHARED = [f"both_{number}" for number in range(20)]


def program(prefix: str, shared: int, imports: set[str]) -> Image:
    """Twenty functions and twenty variables, of which ``shared`` have the names that other programs' have."""
    names = [*SHARED[:shared], *(f"{prefix}_{number}" for number in range(20 - shared))]
    image = laid({".bss": [Var(name) for name in names]}, path=prefix)
    functions = np.zeros(20, FUNCTION_DTYPE)
    functions["address"], functions["size"] = 0x1000 + 0x10 * np.arange(20), 0x10
    functions["name"], functions["section"] = len(image.names) + np.arange(20), -1
    return dataclasses.replace(
        image,
        names=[*image.names, *(f"run_{name}" for name in names)],
        functions=functions,
        imports=frozenset(imports),
    )


def compared(shared: int, imports: set[str]) -> Comparison:
    one = program("old", shared, {"malloc", "free", "printf@GLIBC_2.2.5", "select"})
    return explain(one, program("new", shared, imports), default_knowledge(), ExplainOptions())


OTHERS = {"malloc", "epoll_wait", "pthread_create", "accept4", "sendmsg"}


def test_two_programs_are_said_to_be_two_and_nothing_else_is_said() -> None:
    found = compared(1, OTHERS)
    assert [cause.kind for cause in found.causes] == [CauseKind.NONE]
    assert found.causes[0].summary == (
        "these are no builds of one program: 1 of 20 functions, 1 of 20 variables and 1 of 8 imports are in both; "
        "nothing is compared"
    )
    assert (found.findings, found.changes, found.runs, found.ruled_out) == ((), (), (), ())


@pytest.mark.parametrize(
    ("shared", "imports"),
    [
        pytest.param(4, OTHERS, id="with functions and variables in both"),
        pytest.param(1, {"malloc", "free", "__printf_chk@GLIBC_2.3.4"}, id="with the same imports"),
        pytest.param(1, set(), id="without imports"),
    ],
)
def test_what_may_be_one_program_is_compared(shared: int, imports: set[str]) -> None:
    found = compared(shared, imports)
    assert "no builds of one program" not in found.causes[0].summary


@pytest.mark.parametrize(("name", "value"), [("OTHER_PROGRAM", 0.04), ("OTHER_IMPORTS", 0.1)])
def test_each_limit_decides(monkeypatch: pytest.MonkeyPatch, name: str, value: float) -> None:
    monkeypatch.setattr(numbers, name, value)
    assert "no builds of one program" not in compared(1, OTHERS).causes[0].summary


PRINTS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline)) static
long total, most, table[64];
APART long read_number(const char *text) { return strtol(text, 0, 10) + total++; }
APART void add(long by) { if (by > most) most = by; total += by; }
static const char *const texts[] = { TEXTS };
OWN
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) add(run(read_number(argv[i])));
  return puts(texts[argc % (sizeof texts / sizeof *texts)]);
}
"""
SORTS = """
APART long least(long at) { for (long i = at; i < 64; i++) if (table[i] < table[at]) at = i; return at; }
APART void swap(long a, long b) { long kept = table[a]; table[a] = table[b]; table[b] = kept; }
APART long run(long n) { for (long i = n; i < 64; i++) swap(i, least(i)); return table[0]; }
"""
LISTS = """
APART long width(const char *text) { return (long)strlen(text) * 7 + most; }
APART long widest(void) { long most = 0; for (int i = 3; i < 17; i += 2) most += width(texts[i % 5]); return most; }
APART long run(long n) { return n % 3 ? putchar((int)widest()) : table[n & 7] / (total | 1); }
"""


def printing(folder: Path, name: str, texts: list[str], own: str = SORTS, link: str = "") -> Path:
    """A stripped program that prints such texts, with functions of its own and of its project."""
    listed = ", ".join(f'"{text}"' for text in texts)
    (folder / f"{name}.c").write_text(PRINTS.replace("TEXTS", listed).replace("OWN", own))
    subprocess.run(["gcc", "-O2", "-s", f"{name}.c", "-o", name, *link.split()], cwd=folder, check=True)
    return folder / name


SORTING = [f"sort: message number {n}" for n in range(40)]
LISTING = [f"list: message number {n}" for n in range(40)]


def test_stripped_programs_of_one_project_are_two_by_what_they_print(explained: Explain, tmp_path: Path) -> None:
    """They share the functions of their project's library, and import the same functions of the C library."""
    one, other = printing(tmp_path, "sort", SORTING), printing(tmp_path, "list", LISTING, LISTS)
    for old, new in ((one, other), (other, one)):
        found = explained(old, new)
        assert exit_code(found, None) == 3
        assert "texts that they print, and" in found.causes[0].summary


def test_a_release_that_prints_more_is_the_same_program(explained: Explain, tmp_path: Path) -> None:
    """The near miss: as many texts came as there were."""
    old = printing(tmp_path, "before", SORTING[:20])
    new = printing(tmp_path, "after", SORTING[:17] + LISTING, LISTS)
    assert exit_code(explained(old, new), None) == 0


def test_a_program_with_its_library_linked_in_is_the_same_program(explained: Explain, tmp_path: Path) -> None:
    old, new = (printing(tmp_path, name, SORTING, link=link) for name, link in (("dynamic", ""), ("static", "-static")))
    assert exit_code(explained(old, new), None) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTHER_WITH_LIBRARY", 0.01), ("OTHER_TEXTS", 0.01), ("CONTAINED_TEXTS", 0.01), ("LEAST_TEXTS", 100)],
)
def test_each_limit_of_texts_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: float) -> None:
    one, other = printing(tmp_path, "sort", SORTING), printing(tmp_path, "list", LISTING, LISTS)
    assert exit_code(of_files(one, other), None) == 3
    monkeypatch.setattr(numbers, name, value)
    assert exit_code(of_files(one, other), None) == 0


def of_files(old: Path, new: Path) -> Comparison:
    traits = read_traits(str(old)), read_traits(str(new))
    return explain(read(old), read(new), default_knowledge(), ExplainOptions(), *traits)


NAMED = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
OWN
int main(int argc, char **argv) {
  pthread_t t[2];
  for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, FIRST, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  printf("%ld\\n", (long)SECOND);
}
"""
RING = """
volatile long head, tail;
__attribute__((noinline)) static void *pop_ring(void *p) { for (int i = 0; i < 1000; i++) head += i; return p; }
"""
CACHE = """
volatile long hits, misses, evicted;
namespace store {
__attribute__((noinline)) void *lookup(void *p) { for (int i = 0; i < 1000; i++) hits += i; return p; }
}
"""


def named(folder: Path, name: str, own: str, first: str, second: str, *flags: str) -> Path:
    (folder / f"{name}.cc").write_text(NAMED.replace("OWN", own).replace("FIRST", first).replace("SECOND", second))
    subprocess.run(["g++", "-O1", "-pthread", *flags, f"{name}.cc", "-o", name], cwd=folder, check=True)
    return folder / name


def test_small_programs_without_a_name_in_common_are_two(explained: Explain, tmp_path: Path) -> None:
    """They import the same and share the start-up code of their compiler, and `main`."""
    ring = named(tmp_path, "ring", RING, "pop_ring", "tail")
    cache = named(tmp_path, "cache", CACHE, "store::lookup", "misses", "-g")
    for old, new in ((ring, cache), (cache, ring)):
        found = explained(old, new)
        assert [cause.kind for cause in found.causes] == [CauseKind.NONE]
        assert "no builds of one program" in found.causes[0].summary
        assert exit_code(found, None) == 3


@pytest.mark.parametrize(
    ("own", "first", "second", "flags"),
    [
        pytest.param(f"namespace ring {{ {RING} }}", "ring::pop_ring", "ring::tail", [], id="a scope around all"),
        pytest.param(RING.replace("pop", "poll").replace("head", "first"), "poll_ring", "tail", [], id="names changed"),
        pytest.param(CACHE, "store::lookup", "misses", ["-s"], id="without symbols"),
        pytest.param("auto *run = +[](void *p) { return p; };", "run", "0", [], id="one name is all there is"),
    ],
)
def test_what_has_a_name_in_common_or_none_to_compare_may_be_one_program(
    own: str, first: str, second: str, flags: list[str], explained: Explain, tmp_path: Path
) -> None:
    ring, other = (
        named(tmp_path, "ring", RING, "pop_ring", "tail"),
        named(tmp_path, "other", own, first, second, *flags),
    )
    for old, new in ((ring, other), (other, ring)):
        assert "no builds of one program" not in explained(old, new).causes[0].summary


def test_a_gate_does_not_pass_with_another_program() -> None:
    assert exit_code(compared(1, OTHERS), None) == 3
    assert exit_code(compared(20, {"malloc", "free", "printf@GLIBC_2.2.5", "select"}), None) == 0


@pytest.mark.parametrize(
    ("path", "ran"),
    [("new", "./new"), ("bin/new", "bin/new"), ("/my builds/new", "'/my builds/new'"), ("lib.so", "PROGRAM (one")],
)
def test_a_program_in_the_working_folder_is_run_from_there(path: str, ran: str) -> None:
    """A shell looks for a bare name in $PATH alone, and parts words at blanks."""
    assert program_of(dataclasses.replace(program("old", 3, set()), path=path)).startswith(ran)
