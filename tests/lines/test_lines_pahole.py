"""``lines BINARY TYPE`` of types that no variable needs, held against pahole: members, bit-fields, holes, sizes."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linemate.linequery import LinesOptions, lines
from sharing.model.errors import LinemateError
from sharing.model.linemap import EmptyMember, Excerpt, SpanKind

C = """
#include <stdint.h>
#include <stddef.h>
struct inner { char small; long wide; };
struct plain { char a; int b; char c; double d; short e; };
struct bits { unsigned ready : 1; unsigned state : 6; unsigned wide : 20; uint8_t byte : 3; int whole; };
union either { int number; char text[12]; struct inner inner; };
struct nested { char tag; struct inner one, many[3]; union either either; };
struct unnamed { int kind; union { long number; struct { short low, high; }; }; char last; };
struct buf { long head; union { unsigned csum; struct { uint16_t csum_start, csum_offset; }; };
  union { uint16_t inner_protocol; uint8_t inner_ipproto; }; char x; union either in; long after;
  struct { union { int wide; short low; }; } row[2]; union { int all; struct { unsigned f : 3, g : 5; }; };
  char far[60]; union { long last; char bytes[40]; }; };
struct packed { char a; long b; short c; } __attribute__((packed));
struct aligned { int lock; int state __attribute__((aligned(64))); char tail; };
struct grid { char name; int cells[3][5]; struct inner inners[2][2]; };
struct tail { int count; char flag; long rest[]; };
struct pointers { char a; void (*call)(int); const char *const *text; volatile int flag; };
"""
CXX = """
#include <cstdint>
namespace net {
struct Empty {};
struct Base { int first; char second; };
struct Other { char c; };
struct Derived : Base, Other { char third; long fourth; };
struct Thin : Empty { int x; };
struct Virtual { virtual ~Virtual(); char state; };
struct Above : Virtual { int more; bool flag : 1; bool other : 1; };
class Packet { enum class Kind : uint8_t { A, B }; Kind kind; int &reference; static int all; char end;
  struct Head { short a; int b; } head; };
}
net::Virtual::~Virtual() {}
int sizes(net::Derived *d, net::Thin *t, net::Above *a, net::Packet *p) {
  return (d ? sizeof *d : 0) + (t ? sizeof *t : 0) + (a ? sizeof *a : 0) + (p ? sizeof *p : 0);
}
"""
# On its own: pahole reads no template.
TEMPLATE = """
namespace net { template <class T> struct Box { T value; char tag; }; }
int tag_of(net::Box<long> *box) { return box->tag; }
"""
C_RECORDS = re.findall(r"^struct (\w+) \{", C, re.MULTILINE)  # it prints no union by itself
CXX_RECORDS = ["Base", "Derived", "Thin", "Virtual", "Above", "Packet"]
COMPILERS = {
    "gcc": (["gcc", "-fno-eliminate-unused-debug-types"], ["g++", "-femit-class-debug-always"]),
    "clang": (["clang-19", "-fno-eliminate-unused-debug-types"], ["clang++-19", "-fstandalone-debug"]),
}

Field = tuple[str, int, int]


def _pahole(path: Path, name: str) -> dict[str, set[tuple[int, tuple[Field, ...]]]]:
    """The layout as pahole prints it, by the reader of scripts/compare-pahole."""
    script = str(Path(__file__).resolve().parents[2] / "scripts" / "compare-pahole")
    loader = importlib.machinery.SourceFileLoader("compare_pahole", script)
    spec = importlib.util.spec_from_loader("compare_pahole", loader)
    assert spec is not None
    module: Any = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    text = _run("pahole", "-F", "dwarf", "-C", name, str(path))
    read: Callable[..., dict[str, set[tuple[int, tuple[Field, ...]]]]] = module.pahole_layouts
    return read(iter(text.splitlines()))


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def _shown(excerpt: Excerpt) -> list[str | None]:
    """The member at each byte of the record, "" for a hole, None beyond it."""
    out: list[str | None] = []
    for line in excerpt.lines:
        for span in line.spans:
            inner = span.name.removeprefix(span.object).lstrip(".")
            known = {SpanKind.MEMBER: inner, SpanKind.HOLE: ""}.get(span.kind)
            out += [known] * (span.end - span.start)
    return out


def _members(excerpt: Excerpt) -> set[Field]:
    """All members that are shown with a name of their own: name, and where and how long they are, in bytes."""
    spans = [span for line in excerpt.lines for span in line.spans if span.kind is SpanKind.MEMBER]
    single = [(span.name, span.offset, span.end - span.start) for span in spans if not span.members]
    return {(name.rpartition(".")[2], offset, size) for name, offset, size in single} | {
        (one.name.rpartition(".")[2], one.offset, one.size) for span in spans for one in span.members
    }


def _agrees(excerpt: Excerpt, size: int, fields: tuple[Field, ...]) -> list[str]:
    """What pahole says otherwise, in words."""
    bytes_shown = _shown(excerpt)
    wrong = [f"byte {at} is in the record" for at in range(size) if bytes_shown[at] is None]
    wrong += [f"byte {at} is behind it" for at in range(size, len(bytes_shown)) if bytes_shown[at] is not None]
    covering: list[list[str]] = [[] for _ in range(size)]
    for name, offset, extent in fields:
        end = (offset - extent + 7) // 8 if extent < 0 else offset // 8 + extent
        for at in range(offset // 8, end):
            covering[at].append(name)
    for at, (shown, names) in enumerate(zip(bytes_shown, covering, strict=False)):
        if not names and shown:
            wrong.append(f"byte {at} is no hole but {shown}")
        words = {shown, *re.split(r"[.,:\[\] ]+", shown or "")}
        # A hole may lie within a nested member, and the members of a base have names of their own.
        if names and shown and "<base>" not in names and not words & set(names) and "" not in names:
            wrong.append(f"byte {at} is {names}, not {shown}")
    for name, offset, extent in fields:
        scalar = 0 < extent <= 8 and bytes_shown[offset // 8] == ""
        if scalar and covering[offset // 8].count(name) == len(covering[offset // 8]):
            wrong.append(f"{name} at {offset // 8} is called a hole")
    return wrong


@pytest.fixture(scope="module", params=COMPILERS)
def objects(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("pahole") is None:
        pytest.skip("pahole is not installed (dwarves)")
    folder = tmp_path_factory.mktemp("pahole")
    for source, text, compiler in zip(("c.c", "cxx.cc"), (C, CXX), COMPILERS[request.param], strict=True):
        (folder / source).write_text(text)
        subprocess.run([*compiler, "-g", "-c", source], cwd=folder, check=True, timeout=120)
    return folder / "c.o", folder / "cxx.o"


def _compared(path: Path, names: list[str]) -> None:
    for name in names:
        (excerpt,) = lines(LinesOptions(str(path), (name,))).layouts[0].excerpts
        ((size, fields),) = _pahole(path, name)[name]
        assert excerpt.record
        assert excerpt.object is not None
        assert excerpt.object.size == size, name
        assert _agrees(excerpt, size, fields) == [], name


def test_records_of_c_lie_as_pahole_says(objects: tuple[Path, Path]) -> None:
    _compared(objects[0], C_RECORDS)


def test_every_member_of_a_union_is_shown_at_its_place(objects: tuple[Path, Path]) -> None:
    """Of unnamed ones: members of named ones stand in pahole's text only by the name of their type."""
    (excerpt,) = lines(LinesOptions(str(objects[0]), ("buf",))).layouts[0].excerpts
    ((_, fields),) = _pahole(objects[0], "buf")["buf"]
    unions = {"csum", "csum_start", "csum_offset", "inner_protocol", "inner_ipproto", "all", "last", "bytes"}
    told = {(name, offset // 8, extent) for name, offset, extent in fields if name in unions}
    assert {name for name, _, _ in told} == unions
    assert told <= _members(excerpt)
    assert {name for name, _, _ in _members(excerpt)} >= {"number", "text", "small", "wide", "low", "f:3, g:5"}
    covered = [0] * (-(-excerpt.object.size // 64) * 64 if excerpt.object else 0)
    for line in excerpt.lines:
        for span in line.spans:
            for at in range(span.start, span.end):
                covered[int(line.address, 16) + at] += 1
    assert covered == [1] * len(covered)  # each byte once


def test_a_record_without_a_union_has_no_members_in_common(objects: tuple[Path, Path]) -> None:
    for name in ("plain", "bits", "packed", "aligned", "grid", "tail", "pointers"):
        (excerpt,) = lines(LinesOptions(str(objects[0]), (name,))).layouts[0].excerpts
        assert not any(span.members for line in excerpt.lines for span in line.spans), name


def test_records_of_cxx_lie_as_pahole_says(objects: tuple[Path, Path]) -> None:
    """They are in a namespace, which may be left out."""
    _compared(objects[1], CXX_RECORDS)


def test_the_comparison_finds_what_differs(objects: tuple[Path, Path]) -> None:
    (excerpt,) = lines(LinesOptions(str(objects[0]), ("plain",))).layouts[0].excerpts
    ((size, fields),) = _pahole(objects[0], "plain")["plain"]
    moved = tuple((name, offset + 8 * (name == "b"), extent) for name, offset, extent in fields)
    assert _agrees(excerpt, size, moved)
    assert _agrees(excerpt, size + 8, fields)


def test_holes_are_counted_as_pahole_counts_them(objects: tuple[Path, Path]) -> None:
    """Of records without nested ones, whose holes pahole counts for themselves."""
    for name in ("plain", "aligned", "pointers"):
        part = _run("pahole", "-F", "dwarf", "-C", name, str(objects[0]))
        found = re.search(r"holes: (\d+), sum holes: (\d+)", part)
        padding = re.search(r"padding: (\d+)", part)
        (excerpt,) = lines(LinesOptions(str(objects[0]), (name,))).layouts[0].excerpts
        assert excerpt.facts is not None
        assert (excerpt.facts.holes, excerpt.facts.hole_bytes) == (tuple(map(int, found.groups())) if found else (0, 0))
        assert excerpt.facts.tail_bytes == (int(padding[1]) if padding else 0)


def test_a_flexible_array_has_a_place_and_no_bytes(objects: tuple[Path, Path]) -> None:
    (excerpt,) = lines(LinesOptions(str(objects[0]), ("tail",))).layouts[0].excerpts
    assert excerpt.facts is not None
    assert excerpt.facts.empty == (EmptyMember("rest", 8),)


def test_a_template_is_found_with_its_arguments_and_without(tmp_path: Path) -> None:
    (tmp_path / "box.cc").write_text(TEMPLATE)
    _run("g++", "-g", "-c", str(tmp_path / "box.cc"), "-o", str(tmp_path / "box.o"))
    for name in ("net::Box<long int>", "Box<long int>", "Box", "net::Box"):
        (excerpt,) = lines(LinesOptions(str(tmp_path / "box.o"), (name,))).layouts[0].excerpts
        assert excerpt.object is not None
        assert excerpt.object.size == 16
    with pytest.raises(LinemateError, match=r"nor a type of that name$"):
        lines(LinesOptions(str(tmp_path / "box.o"), ("other::Box",)))
    with pytest.raises(LinemateError, match="did you mean net::Box<long int>"):  # as its compiler spells it
        lines(LinesOptions(str(tmp_path / "box.o"), ("Box<long>",)))
