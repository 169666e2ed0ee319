"""Debug information joined with symbols: names, types and places, by address."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.model import Image, SectionKind, VariableFlag
from tests.elf.conftest import Build, name_of, variables

pytestmark = pytest.mark.usefixtures("native")

CPP = """
#include <mutex>
namespace ns {
struct C { static int shared; std::mutex m; int v[3]; };
int C::shared = 5;
C object;
namespace { long hidden = 2; }
}
thread_local int per_thread = 4;
static int hits() { static int n; return ++n; }
static int misses() { static int n = 7; return ++n; }
template <class T> struct Box { static T value; };
template <class T> T Box<T>::value;
inline int in_header = 8;
int f(int x) {
  std::lock_guard<std::mutex> guard(ns::object.m);
  ns::C::shared += x + (int)ns::hidden++ + per_thread++ + hits() + misses();
  return ns::C::shared + (int)Box<long>::value++ + in_header;
}
int main() { return f(3); }
"""


def typed(path: Path) -> Image:
    (image,) = read_images(str(path), access=False)
    return image


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("flags", [["-gdwarf-5"], ["-gdwarf-4"], ["-g", "-no-pie"], ["-g", "-c"]])
def test_names_types_and_places(build: Build, compiler: str, flags: list[str]) -> None:
    image = typed(build(CPP, compiler, "-O1", "-std=c++17", *flags, suffix=".cpp"))
    assert image.debug_source == "the file"
    rows = variables(image)
    for name, kind, size in (
        ("ns::C::shared", "int", 4),
        ("ns::object", "ns::C", 56),
        ("ns::hidden", "long", 8),
        ("per_thread", "int", 4),
        ("_ZN3BoxIlE5valueE", "long", 8),
        ("in_header", "int", 4),
    ):
        variable = image.variables[rows[name]]
        assert variable["size"] == size
        assert variable["flags"] & VariableFlag.TYPED
        assert not variable["flags"] & VariableFlag.FROM_DWARF
        assert image.types.name(int(variable["type"])).startswith(kind)
        assert image.files[variable["file"]].endswith("program.cpp")
    line = CPP.splitlines().index("C object;") + 1
    assert image.variables["line"][rows["ns::object"]] == line
    assert image.aliases[rows["ns::object"]] == ("_ZN2ns6objectE",)
    assert rows["_ZN2ns6objectE"] == rows["ns::object"]
    unit = image.units[image.variables["unit"][rows["ns::object"]]]
    assert unit.name.endswith("program.cpp")
    assert image.sections[image.variables["section"][rows["per_thread"]]].kind is SectionKind.TLS


def test_static_locals_have_their_function(build: Build) -> None:
    """gcc calls them n.1 and n.0, which says nothing: the source's name and its function do."""
    text = """
    int hits(void) { static int n; return ++n; }
    int misses(void) { static int n = 7; return ++n; }
    int main(void) { return hits() + misses(); }
    """
    image = typed(build(text, "gcc", "-g", "-O1"))
    found = {}
    for row, variable in enumerate(image.variables):
        if variable["scope"] >= 0:
            found[image.names[variable["scope"]], name_of(image, row)] = image.aliases[row]
    assert set(found) == {("hits", "n"), ("misses", "n")}
    assert all(alias.startswith("n.") for (alias,) in found.values())


def test_variables_that_only_debug_information_knows(build: Build) -> None:
    path = build(CPP, "g++", "-g", "-O1", "-std=c++17", suffix=".cpp")
    only = path.with_suffix(".debug")
    nameless = ["--wildcard", "--strip-symbol=*ns*object*"]  # a debug file has a symbol table, too
    subprocess.run(["objcopy", "--only-keep-debug", *nameless, str(path), str(only)], check=True)
    before = typed(path)
    subprocess.run(["strip", str(path)], check=True)
    (bare,) = read_images(str(path), types=False, access=False)
    assert "ns::object" not in variables(bare)
    (image,) = read_images(str(path), access=False, debug_file=str(only))
    assert "as asked" in image.debug_source
    row, was = variables(image)["ns::object"], variables(before)["ns::object"]
    assert image.variables["flags"][row] & VariableFlag.FROM_DWARF
    for field in ("address", "size", "line"):
        assert image.variables[field][row] == before.variables[field][was]
    assert image.types.name(int(image.variables["type"][row])) == "ns::C"


def test_an_empty_object_has_no_bytes_to_share(build: Build) -> None:
    """GNU C's empty struct has a symbol of size 0: without its type its extent would be guessed."""
    text = "struct key {}; struct key nothing; int counter; int main(void) { return counter++ + (&nothing == 0); }"
    path = build(text, "gcc", "-g", "-O0", "-fno-toplevel-reorder")
    assert "nothing" not in variables(typed(path))
    assert "counter" in variables(typed(path))


def test_a_guessed_extent_ends_at_what_only_debug_information_knows(build: Build) -> None:
    text = """
    asm(".data\\n.globl label\\n.type label,@object\\nlabel: .quad 1, 2\\n.text");
    static int known[30] = {1}; extern long label;
    int main(int argc, char **argv) { return known[argc]++ + (int)label++; }
    """
    path = build(text, "gcc", "-g", "-O0", "-fno-toplevel-reorder")
    whole = typed(path)
    start = int(whole.variables["address"][variables(whole)["known"]])
    subprocess.run(["strip", "--strip-symbol=known", str(path)], check=True)
    image = typed(path)
    known, label = (image.variables[variables(image)[name]] for name in ("known", "label"))
    assert known["flags"] & VariableFlag.FROM_DWARF
    assert label["address"] < start
    assert int(label["address"] + label["size"]) <= start


def test_an_alignment_of_the_declaration_is_kept(build: Build) -> None:
    """Alignment of a variable is not in its type; it is what aligns a lock without padding it."""
    text = "__attribute__((aligned(64))) int lock; int next; int main(void) { return lock++ + next++; }"
    image = typed(build(text, "gcc", "-g", "-gdwarf-5", "-O1"))
    rows = variables(image)
    assert [int(image.variables["align"][rows[name]]) for name in ("lock", "next")] == [64, 0]


def test_two_names_for_one_place_are_one_variable(build: Build) -> None:
    text = """
    int first = 3; extern int second __attribute__((alias("first")));
    int main(void) { return first++ + second; }
    """
    image = typed(build(text, "gcc", "-g", "-O1"))
    rows = variables(image)
    assert rows["first"] == rows["second"]
    assert image.types.name(int(image.variables["type"][rows["first"]])) == "int"


def test_vmlinux_has_types_for_nearly_everything_written(vmlinux: Path) -> None:
    image = typed(vmlinux)
    kinds = [s.kind for s in image.sections]
    written = [i for i, k in enumerate(kinds) if k is SectionKind.WRITABLE]
    mine = image.variables[[s in written for s in image.variables["section"].tolist()]]
    assert (mine["type"] >= 0).mean() > 0.97
    row = variables(image)["tasklist_lock"]
    assert image.types.name(int(image.variables["type"][row])) == "rwlock_t"
    order = image.variables["address"].tolist()
    assert order == sorted(order)


def test_a_broken_helper_answer_costs_the_types_only(
    build: Build, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A helper that dies on this file is a note; the layout stays."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("linemate-dwarf", "linemate-access"):
        (tools / name).write_text("#!/bin/sh\necho 'bad bytes' >&2\nkill -SEGV $$\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("LINEMATE_NATIVE_DIR", str(tools))
    path = build("int x; int main(void) { return x++; }", "gcc", "-g")
    (image,) = read_images(str(path))
    assert "x" in variables(image)
    assert len(image.notes) == 2
    assert image.debug_source == ""
    assert any("debug information not read" in note for note in image.notes)
    assert any(f"{path}: access sites not read" in note for note in image.notes)


def test_callers_see_the_imports_they_call(build: Build, server: Callable[[str], Path]) -> None:
    (image,) = read_images(str(server("memcached")), types=False)
    called = {image.callee_names[c] for c in image.calls["callee"].tolist() if c in image.callee_names}
    assert {"pthread_mutex_lock", "pthread_create", "malloc"} <= called
    assert called <= image.imports
    locks = [a for a, name in image.callee_names.items() if name == "pthread_mutex_lock"]
    at = image.args[(image.args["arg"] == 0) & (image.args["kind"] == 1)]
    assert any(int(a["callee"]) in locks for a in at), "locks at static addresses are passed to it"
