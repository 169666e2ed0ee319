"""Layout of records: what both compilers make of the same source.

Each source below is read by the tool; its facts, as static assertions behind the source, must then compile with gcc and
with clang.  Owns layout; how members are accessed is tested elsewhere.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sharing.model.facts import RecordBits, RecordFacts, TypeTree, UnitFacts
from sharing.model.types import TypeKind
from tests.analyzer.units import facts, records

C = r"""
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
typedef _Atomic(unsigned) counter;
#define LINE 64
#define ALIGNED __attribute__((aligned(LINE)))
struct plain { char a; int b; short c; double d; };
struct packed { char a; int b; double d; } __attribute__((packed));
struct aligned { int a; int b ALIGNED; char tail; } ALIGNED;
struct locked { pthread_mutex_t lock; counter hits; pthread_rwlock_t many[3]; };
struct nested { char a; struct { int x; char y; }; union { long l; char c; }; struct plain p[2]; };
struct flexible { size_t n; char data[]; };
struct pointers { struct plain *p; void (*f)(int); const char *const names[4]; volatile int flag; };
#pragma pack(push, 2)
struct pragma { char a; long b; };
#pragma pack(pop)
union either { char c[5]; long l; float f; };
struct empty {};
struct per_thread { _Alignas(LINE) long count; };
struct slots { struct per_thread slot[8]; };
"""

CXX = r"""
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>
struct base { int a; char b; };
struct tail : base { char c; };
struct virt { virtual ~virt(); int x; };
struct two : base, virt { long y; };
struct nothing {};
struct ebo : nothing { int a; };
template <typename T, int N> struct ring { alignas(64) std::atomic<T> head; alignas(64) T tail; T items[N]; };
using small = ring<int, 4>;
small one; ring<long, 7> two_;
struct guarded { mutable std::mutex m; std::string name; std::vector<int> v; std::atomic<bool> stop{false}; };
struct alignas(128) wide { char c; };
namespace ns { struct inner { struct deep { short s; wide w; } d; [[no_unique_address]] nothing n; int i; }; }
"""

PRAGMAS = '#pragma GCC diagnostic ignored "-Winvalid-offsetof"\n'


def nameable(name: str) -> bool:
    return "(" not in name and not name.startswith(("std::", "_")) and "__" not in name


def assertions(found: dict[str, RecordFacts], cxx: bool) -> list[str]:
    out = []
    for name, r in sorted(found.items()):
        if not nameable(name) or r.bits & RecordBits.SYSTEM:
            continue
        tag = "" if cxx else ("union " if r.bits & RecordBits.UNION else "struct ")
        keyword = "static_assert" if cxx else "_Static_assert"
        out.append(f'{keyword}(sizeof({tag}{name}) == {r.size}, "");')
        out.append(f'{keyword}(__alignof__({tag}{name}) == {r.align}, "");')
        for m in r.members:
            if m.name and not m.is_base and not m.bit_size and nameable(m.name):
                out.append(f'{keyword}(__builtin_offsetof({tag}{name}, {m.name}) == {m.offset_bits // 8}, "");')
    return [line.replace(", 4>", " COMMA 4>").replace(", 7>", " COMMA 7>") for line in out]


def compiles(compilers: tuple[str, ...], path: Path, flag: str) -> None:
    """Both compilers take it; the tool does not run once more for the second."""
    for compiler in compilers:
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        done = subprocess.run([compiler, "-fsyntax-only", "-w", flag, str(path)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("flag", ["-std=gnu11", "-std=gnu17", "-m32"])
def test_c_layout_is_what_the_compilers_make(tmp_path: Path, flag: str) -> None:
    source = C
    if flag == "-m32":  # its headers are rarely installed
        own = [line for line in C.splitlines() if "pthread" not in line and "#include <std" not in line]
        source = "typedef unsigned size_t;\n" + "\n".join(own)
    unit = facts(tmp_path, source, flag)
    assert not unit.errors
    lines = assertions(records(unit), cxx=False)
    assert len(lines) > 45
    (tmp_path / "check.c").write_text(source + "\n" + "\n".join(lines) + "\n")
    compiles(("gcc", "clang-19"), tmp_path / "check.c", flag)


@pytest.mark.parametrize("flag", ["-std=c++11", "-std=c++17", "-std=c++20", "-std=c++23"])
def test_cxx_layout_is_what_the_compilers_make(tmp_path: Path, flag: str) -> None:
    unit = facts(tmp_path, CXX, flag, name="unit.cc")
    assert not unit.errors
    lines = assertions(records(unit), cxx=True)
    assert sum("ring" in line for line in lines) >= 10
    text = "\n".join(line.replace("COMMA", ",") for line in lines)
    (tmp_path / "check.cc").write_text(CXX + PRAGMAS + text + "\n")
    compiles(("g++", "clang++-19"), tmp_path / "check.cc", flag)


def test_bit_fields_have_their_bits(tmp_path: Path) -> None:
    text = "struct s { unsigned a : 3; unsigned b : 5; unsigned : 0; int c : 7; char d; unsigned long e : 40; };\n"
    members = records(facts(tmp_path, text))["s"].members
    assert [(m.name, m.offset_bits, m.bit_size) for m in members] == [
        ("a", 0, 3),
        ("b", 3, 5),
        ("c", 32, 7),
        ("d", 40, 0),
        ("e", 64, 40),
    ]


def test_anonymous_members_lead_to_their_records(tmp_path: Path) -> None:
    unit = facts(tmp_path, "struct s { int a; struct { int x; union { int y; char z; }; }; };\n")
    (_, inner) = records(unit)["s"].members
    assert (inner.name, inner.type.kind) == ("", TypeKind.STRUCT)
    key, _ = unit.records[inner.type.count]
    assert key.startswith("s::(anonymous)@")
    assert all(r.bits & RecordBits.ANONYMOUS for n, r in records(unit).items() if "anonymous" in n)


def test_typedefs_lead_to_what_they_hide(tmp_path: Path) -> None:
    text = "typedef _Atomic(int) hidden; typedef hidden more; struct s { more m; const volatile more *p; };\n"
    member, pointer = records(facts(tmp_path, text))["s"].members
    kinds = []
    at: TypeTree | None = member.type
    while at is not None:
        kinds.append((at.kind, at.name))
        at = at.inner
    assert kinds == [
        (TypeKind.TYPEDEF, "more"),
        (TypeKind.TYPEDEF, "hidden"),
        (TypeKind.ATOMIC, ""),
        (TypeKind.BASE, "int"),
    ]
    assert pointer.type.kind == TypeKind.POINTER
    assert pointer.type.inner is None


def test_bases_are_members(tmp_path: Path) -> None:
    text = "struct a { int x; }; struct b { int y; }; struct c : a, virtual b { int z; };\n"
    found = records(facts(tmp_path, text, name="u.cc"))["c"]
    assert [(m.name, m.offset_bits, m.is_base) for m in found.members] == [
        ("(vtable)", 0, False),
        ("a", 64, True),
        ("b", 128, True),
        ("z", 96, False),
    ]
    assert found.bits & RecordBits.POLYMORPHIC


def test_what_is_cast_from_its_first_member_is_derived(tmp_path: Path) -> None:
    text = (
        "struct part { int x; }; struct whole { struct part p; int y; }; struct second { int y; struct part p; };\n"
        "struct other { struct part p; }; union either { struct part p; int y; };\n"
        "int f(struct part *p) { return ((struct whole *)p)->y + ((struct whole *)p)->p.x; }\n"
        "int g(struct part *p, struct other *o) { return ((struct second *)p)->y + ((struct part *)o)->x; }\n"
        "int h(struct part *p) { return ((union either *)p)->y; }\n"
    )
    unit = facts(tmp_path, text)
    assert [unit.records[at][0].partition("#")[0].partition("@")[0] for at in unit.derived] == ["whole"]


def test_attributes_and_the_macros_that_made_them(tmp_path: Path) -> None:
    text = (
        "#define LINE 64\n#define PAD_TO(n) __attribute__((aligned(n)))\n#define HOT PAD_TO(LINE)\n"
        "struct HOT a { int x; };\nstruct b { int x HOT; int y; } __attribute__((aligned(16)));\nstruct c { int x; };\n"
    )
    found = records(facts(tmp_path, text))
    assert (found["a"].declared_align, set(found["a"].macros)) == (64, {"HOT", "PAD_TO", "LINE"})
    assert (found["b"].declared_align, found["b"].macros) == (16, ())
    assert found["b"].align_text == "aligned(16)"
    x, y = found["b"].members
    assert (x.declared_align, "HOT" in x.macros) == (64, True)
    assert (y.declared_align, y.macros) == (0, ())
    assert (found["c"].declared_align, found["c"].macros, found["c"].align_text) == (0, (), "")


def test_ranges_hold_the_declaration_and_nothing_else(tmp_path: Path) -> None:
    text = "/* é */ struct s {\n  int a, *b; // no\n  char c[2] __attribute__((aligned(8)));\n};\nstruct s v;\n"
    unit = facts(tmp_path, text)
    found = records(unit)["s"]
    content = text.encode()
    assert content[found.begin : found.end] == content[content.index(b"struct") : content.index(b"}") + 1]
    texts = {m.name: content[m.begin : m.end].decode() for m in found.members}
    assert texts == {"a": "int a", "b": "int a, *b", "c": "char c[2] __attribute__((aligned(8)))"}


def test_keys_are_equal_for_equal_definitions_only(tmp_path: Path) -> None:
    (tmp_path / "s.h").write_text("struct s { int a[N]; struct t *p; };\n")

    def key(text: str, *flags: str) -> str:
        unit: UnitFacts = facts(tmp_path, text, *flags)
        return records(unit)["s"].key

    used = '#include "s.h"\nstruct s v;\n'
    assert key(used, "-DN=2") == key("struct other { int o; } o;\n" + used, "-DN=2")
    assert key(used, "-DN=2") != key(used, "-DN=3")


def test_records_of_headers_come_with_what_the_unit_does_to_them(tmp_path: Path) -> None:
    header = (
        "struct held { int a; };\nstruct s { struct held h; };\nstruct passed { int b; };\nstruct idle { int c; };\n"
    )
    (tmp_path / "s.h").write_text(header)
    text = '#include "s.h"\nstruct s v;\nint get(struct passed *p) { return p->b; }\nstruct own { int d; };\n'
    assert records(facts(tmp_path, text)).keys() == {"s", "held", "passed", "own"}


def test_templates_are_listed_by_instance(tmp_path: Path) -> None:
    text = (
        "template <typename T> struct box { T t; static T shared; };\ntemplate <typename T> T box<T>::shared;\n"
        "template <> struct box<bool> { int special; };\n"
        "int use(box<char> c, box<long> *l) { return c.t + (int)l->t; }\nbox<bool> b;\n"
    )
    found = records(facts(tmp_path, text, name="u.cc"))
    assert {n: r.size for n, r in found.items()} == {"box<char>": 1, "box<long>": 8, "box<bool>": 4}
    assert all(r.bits & RecordBits.TEMPLATE for r in found.values())


def test_lambdas_have_their_captures(tmp_path: Path) -> None:
    text = "int f(int a, long b) { auto g = [a, &b] { static int calls; return a + (int)b + calls++; }; return g(); }\n"
    unit = facts(tmp_path, text, name="u.cc")
    (lambda_,) = [r for n, r in records(unit).items() if "lambda" in n]
    assert [(m.offset_bits, m.type.size) for m in lambda_.members] == [(0, 4), (64, 8)]
    assert [v.name for v in unit.variables if v.scope] == ["calls"] or any("calls" in v.name for v in unit.variables)


def test_variable_length_arrays_are_no_members_and_do_no_harm(tmp_path: Path) -> None:
    text = (
        "static int total;\n"
        "int f(int n) { int a[n]; struct { int m[3]; } s[n]; a[0] = s[0].m[0] = 1; return total + a[0]; }\n"
    )
    unit = facts(tmp_path, text)
    assert not unit.errors
    assert [r.size for r in records(unit).values()] == [12]


def test_broken_records_are_left_out(tmp_path: Path) -> None:
    unit = facts(tmp_path, "struct s { int a; struct unknown u; };\nstruct t { int b; };\nstruct s v;\n")
    assert unit.errors
    assert records(unit).keys() == {"t"}
