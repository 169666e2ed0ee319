"""Local variables at an instruction: where each is, and what its pointer leads to."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from elfscan.debug.locals import read_locals
from sharing.model.errors import LinemateError
from sharing.model.locals import Locals
from tests.dwarf.conftest import Tool

DI, BP = 5, 6

SOURCE = """
struct stats { long hits, misses; };
struct session { int fd; struct stats stats; struct session *next; };
struct session *current;
static inline __attribute__((always_inline)) long weigh(volatile struct stats *of) { return of->hits * 3; }
__attribute__((noinline)) long serve(struct session *s, long n) {
  volatile struct stats mine = {n, n};
  for (long i = 0; i < n; i++) s->next->stats.hits += weigh(&mine) + current->fd;
  return s->stats.misses;
}
int main(void) { return serve(current, 3); }
"""
At = Callable[[str, str], Locals]


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory, tool: Tool) -> At:
    """The variables at all instructions of ``serve``, built by a compiler with options."""

    def run(compiler: str, options: str) -> Locals:
        folder = tmp_path_factory.mktemp("locals")
        (folder / "s.c").write_text(SOURCE)
        subprocess.run([tool(compiler), "-g", *options.split(), "s.c", "-o", "s"], check=True, cwd=folder)
        line = [tool("nm"), "-S", str(folder / "s")]
        listing = subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()
        begin, size = next((int(one.split()[0], 16), int(one.split()[1], 16)) for one in listing if " serve" in one)
        return read_locals(str(folder / "s"), np.arange(begin, begin + size, dtype=np.uint64))

    return run


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_without_optimization_variables_are_in_the_frame(at: At, compiler: str) -> None:
    found = at(compiler, "-O0")
    every = {(one.name, one.in_memory) for some in found.at.values() for one in some}
    assert every >= {("s", True), ("n", True), ("mine", True), ("i", True)}
    places = {(one.register, one.offset) for some in found.at.values() for one in some if one.name == "s"}
    assert any(register == BP and offset < 0 for register, offset in places)


@pytest.mark.parametrize(("compiler", "options"), [("gcc", "-O2"), ("clang-19", "-O2"), ("gcc", "-O2 -gdwarf-4")])
def test_with_optimization_they_are_in_registers_for_a_while(at: At, compiler: str, options: str) -> None:
    found = at(compiler, options)
    first = min(found.at)
    told = {one.name: one for one in found.at[first]}
    assert (told["s"].register, told["s"].offset, told["s"].in_memory) == (DI, 0, False)
    assert told["s"].function == "serve"
    target = found.pointees[found.types.strip(told["s"].type)[0]]
    assert found.types.name(target) == "session"
    assert [m.path for m in found.types.flatten(target)] == ["fd", "stats.hits", "stats.misses", "next"]
    assert [(one.name, found.types.name(found.pointees[one.type])) for one in found.statics] == [("current", "session")]


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_inlined_functions_are_named_before_the_one_around_them(at: At, compiler: str) -> None:
    functions = at(compiler, "-O2").functions.values()
    assert {tuple(one.name for one in some) for some in functions} == {("serve",), ("weigh", "serve")}
    line = next(i for i, text in enumerate(SOURCE.splitlines(), 1) if "weigh(&mine)" in text)
    for some in functions:
        assert not some[0].call, "the line table tells where it is"
        assert all(Path(one.call.split(":")[0]).name == "s.c" for one in some[1:])
        assert all(one.call.split(":")[1] == str(line) for one in some[1:]), "where it calls what is inlined"


GIVES = """
#include <stdlib.h>
struct book { size_t room; long uses; };
#define GETS __attribute__((noinline))
GETS void *must_get(size_t bytes) { void *got = malloc(bytes); if (!got) abort(); return got; }
GETS void *open_book(size_t room) { struct book *mine = malloc(sizeof *mine); mine->room = room; return mine; }
GETS struct book *typed(size_t room) { return malloc(room); }
GETS void *work(void *with) { free(with); return malloc(8); }
GETS void *numbered(int which) { return malloc(which ? 8 : 16); }
static void *volatile kept;
int main(int argc, char **argv) {
  kept = must_get(argc), kept = open_book(argc), kept = typed(argc), kept = work(kept), kept = numbered(argc);
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("options", ["-O0", "-O2 -fno-ipa-cp", "-O1 -gdwarf-4"])
def test_who_is_asked_for_bytes_and_gives_an_address_of_no_type_gives_memory(
    tmp_path: Path, tool: Tool, compiler: str, options: str
) -> None:
    if compiler != "gcc":
        options = options.replace("-fno-ipa-cp", "")
    (tmp_path / "s.c").write_text(GIVES)
    subprocess.run([tool(compiler), "-g", *options.split(), "s.c", "-o", "s"], check=True, cwd=tmp_path)
    line = [tool("nm"), str(tmp_path / "s")]
    listing = subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()
    begins = {one.split()[-1]: int(one.split()[0], 16) for one in listing if one.split()[-2] in "tT"}
    wanted = {name: begins[name] for name in ("must_get", "open_book", "typed", "work", "numbered")}
    found = read_locals(str(tmp_path / "s"), np.array(sorted(wanted.values()), np.uint64))
    gives = {name: found.functions[begin][-1].gives_memory for name, begin in wanted.items()}
    assert gives == {"must_get": True, "open_book": False, "typed": False, "work": False, "numbered": False}


HOMES = {
    "log.hpp": "struct Log { Log(); long add(long n); long lines; Log *next; };\n"
    "struct Store { Log *log; long count; Log &of(long n); };\n",
    "log.cpp": '#include "log.hpp"\nLog::Log() : lines(0), next(this) {}\n'
    "long Log::add(long n) { return lines += n; }\nint main() { return Log().add(1); }\n",
    "use.cpp": '#include "log.hpp"\nlong use(Store *s) { return s->log->next->lines += s->count; }\n'
    "Log &Store::of(long n) { return log[n]; }\n",
}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_class_that_a_unit_only_declares_is_that_of_another_unit(
    tmp_path: Path, tool: Tool, compiler: str, level: str
) -> None:
    """clang describes a class where its constructor is."""
    for name, text in HOMES.items():
        (tmp_path / name).write_text(text)
    subprocess.run([tool(compiler), "-g", level, "log.cpp", "use.cpp", "-o", "s"], check=True, cwd=tmp_path)
    listing = subprocess.run([tool("nm"), tmp_path / "s"], check=True, capture_output=True, text=True).stdout
    at = {one.split()[-1]: int(one.split()[0], 16) for one in listing.splitlines() if len(one.split()) == 3}
    begins = [at[name] for name in ("_Z3useP5Store", "_ZN3Log3addEl", "_ZN5Store2ofEl")]
    found = read_locals(str(tmp_path / "s"), np.array(sorted(begins), np.uint64))

    def behind(kind: int) -> int:
        return found.types.strip(found.pointees[found.types.strip(kind)[0]])[0]

    def member(kind: int, name: str) -> int:
        return next(one.type for one in found.types[kind].members if one.name == name)

    store = behind(next(one.type for one in found.at[begins[0]] if one.name == "s"))
    log = behind(member(store, "log"))
    assert found.types.size(log) == 16
    assert behind(member(log, "next")) == log, "and what its members point to"
    returned = {begin: behind(kind) for begin, kind in found.results.items()}
    assert returned == {begins[2]: log}, "numbers are no pointers"


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("statics", ["", "static long count;"])
def test_the_language_is_known_of_units_that_define_no_variable(
    tmp_path: Path, tool: Tool, compiler: str, statics: str
) -> None:
    (tmp_path / "s.c").write_text(f"{statics}\nlong serve(long *s) {{ return ++*s; }}\nint main(void) {{ return 0; }}")
    subprocess.run([tool(compiler), "-g", "-O2", "s.c", "-o", "s"], check=True, cwd=tmp_path)
    listing = subprocess.run([tool("nm"), tmp_path / "s"], check=True, capture_output=True, text=True).stdout
    begin = next(int(one.split()[0], 16) for one in listing.splitlines() if one.endswith(" serve"))
    found = read_locals(str(tmp_path / "s"), np.array([begin], np.uint64))
    assert found.at
    assert found.language.startswith("C")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the place of thread-local storage is known on x86-64 alone")
def test_variables_of_a_thread_are_apart_from_others(tmp_path: Path, tool: Tool) -> None:
    (tmp_path / "s.c").write_text(
        "__thread long before = 1, *mine;\nlong *all;\nlong serve(long n) { return ++*mine + *all + before + n; }\n"
        "int main(void) { return 0; }\n"
    )
    subprocess.run([tool("gcc"), "-g", "-O0", "s.c", "-o", "s"], check=True, cwd=tmp_path)
    listing = subprocess.run([tool("nm"), tmp_path / "s"], check=True, capture_output=True, text=True).stdout
    at = {one.split()[2]: int(one.split()[0], 16) for one in listing.splitlines() if len(one.split()) == 3}
    found = read_locals(str(tmp_path / "s"), np.array([at["serve"] + 8], np.uint64))
    places = {one.name: one.address for one in found.own}
    assert places["mine"] - places["before"] == at["mine"] - at["before"]
    code = subprocess.run([tool("objdump"), "-d", tmp_path / "s"], check=True, capture_output=True, text=True).stdout
    assert all(f"%fs:{place + (1 << 64):#x}" in code for place in places.values())
    assert [(one.name, one.address) for one in found.statics] == [("all", at["all"])]


def test_a_file_without_debug_information_has_none(at: At) -> None:
    found = at("gcc", "-O2 -g0")
    assert (found.at, found.statics, found.pointees) == ({}, (), {})


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(LinemateError):
        read_locals(str(tmp_path / "s"), np.array([1], np.uint64))
