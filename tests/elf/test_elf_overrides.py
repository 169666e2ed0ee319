"""Virtual functions of classes that derive from another file's class, in a file without symbols for them."""

from __future__ import annotations

import subprocess

import pytest

from elfscan.code.overrides import overrides
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.placement import open_program
from tests.elf.conftest import Build

TEXT = """
struct Base { virtual ~Base(); virtual void run(); virtual void stop(); };       // another file's
struct Task : Base { Task(); void run() override; };
struct Nested : Task { void stop() override; };
struct Other { virtual ~Other(); virtual void run(); };                            // of this file: nobody else's
struct Both : Other, Base { void run() override; };                                // its second base is not its table
Task::Task() {}
void Task::run() {}
void Nested::stop() {}
Other::~Other() {}
void Other::run() {}
void Both::run() {}
"""


def _symbols(path: str) -> dict[str, int]:
    out = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout
    return {f[2]: int(f[0], 16) for f in (line.split() for line in out.splitlines()) if len(f) == 3}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19", "aarch64-linux-gnu-g++"])
def test_the_functions_of_a_class_by_their_number(build: Build, compiler: str) -> None:
    path = str(build(TEXT, compiler, "-shared", "-fPIC", "-O1", "-nostdlib", "-s", suffix=".cc"))
    named = _symbols(path)
    found = overrides(open_program(ElfFile(path, map_file(path))))
    own = {(o.base, o.slot): set[int]() for o in found}
    for one in found:
        own[one.base, one.slot].add(one.function)
    assert own.keys() >= {("_ZTI4Base", 2), ("_ZTI4Base", 3)}
    assert {base for base, _ in own} == {"_ZTI4Base"}
    assert own["_ZTI4Base", 2] == {named["_ZN4Task3runEv"]}
    assert named["_ZN6Nested4stopEv"] in own["_ZTI4Base", 3]
    assert named["_ZN5Other3runEv"] not in {o.function for o in found}
    assert named["_ZN4Both3runEv"] not in {o.function for o in found}


@pytest.mark.parametrize(("namespace", "found"), [("pool", {("_ZTIN4pool4taskE", 2)}), ("pond", set())])
def test_a_base_in_a_librarys_header_is_known_by_its_namespace(
    build: Build, namespace: str, found: set[tuple[str, int]]
) -> None:
    library = build("void *pool_start;", "gcc", "-shared", "-Wl,-soname,libpool.so.2", name="libpool.so")
    text = f"""
namespace {namespace} {{ struct task {{ virtual ~task() = default; virtual void execute() = 0; }}; }}
struct Mine : {namespace}::task {{ void execute() override; }};
void Mine::execute() {{}}
int main() {{ Mine mine; return 0; }}
"""
    options = ("-O1", "-s", "-Wl,--no-as-needed", str(library))
    path = str(build(text, "g++", *options, suffix=".cc"))
    assert {(o.base, o.slot) for o in overrides(open_program(ElfFile(path, map_file(path)))) if o.slot > 1} == found


def test_a_file_without_classes_of_others_has_none(build: Build) -> None:
    path = str(build("int main(void) { return 0; }", "gcc"))
    assert overrides(open_program(ElfFile(path, map_file(path)))) == ()
