"""Variables with static storage: which there are, and what decides their place.

Owns declarations; who accesses them is tested elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sharing.model.facts import Init, VariableBits
from sharing.model.types import TypeKind
from tests.analyzer.units import facts, variables


@pytest.mark.parametrize(
    ("text", "init"),
    [
        ("int v;", Init.ZERO),
        ("int v = 0;", Init.ZERO),
        ("int v = 1;", Init.DATA),
        ("double v = -0.0;", Init.DATA),
        ("double v = 0.0;", Init.ZERO),
        ("int v[100] = {0};", Init.ZERO),
        ("int v[100] = {[99] = 1};", Init.DATA),
        ('char v[9] = "";', Init.ZERO),
        ('char v[9] = "x";', Init.DATA),
        ('const char *v = "x";', Init.ADDRESSES),
        ("char *v = (void *)0;", Init.ZERO),
        ("char *v = (char *)16;", Init.DATA),
        ("static int o; int *v = &o;", Init.ADDRESSES),
        ("int f(void); int (*v)(void) = f;", Init.ADDRESSES),
        ("struct s { int a; char *p; } v = {1, 0};", Init.DATA),
        ('struct s { int a; char *p; } v[] = {{0, 0}, {0, "x"}};', Init.ADDRESSES),
        ("struct s { int a; } v = (struct s){2};", Init.DATA),
    ],
)
def test_where_the_bytes_of_c_go(tmp_path: Path, text: str, init: Init) -> None:
    assert variables(facts(tmp_path, text + "\n"))["v"].init == init


@pytest.mark.parametrize(
    ("text", "init"),
    [
        ("int v;", Init.ZERO),
        ("constexpr int three() { return 3; } int v = three();", Init.DATA),
        ("int dynamic(); int v = dynamic();", Init.DYNAMIC),
        ("struct s { int a; s(); }; s v;", Init.DYNAMIC),
        ("struct s { int a; constexpr s() : a(0) {} }; s v;", Init.ZERO),
        ("struct s { virtual void f(); int a = 0; }; s v{};", Init.ADDRESSES),
        ("struct s { int m; }; int s::*v = nullptr;", Init.DATA),
        ("int o; int &v = o;", Init.ADDRESSES),
    ],
)
def test_where_the_bytes_of_cxx_go(tmp_path: Path, text: str, init: Init) -> None:
    assert variables(facts(tmp_path, text + "\n", name="u.cc"))["v"].init == init


def test_a_constant_of_a_class_that_is_only_declared(tmp_path: Path) -> None:
    """Whether its destructor does something is not known; asked for it clang crashed."""
    text = "struct s; extern const s v; extern const s w[]; const s *use() { return &v + (w == &v); }\n"
    found = variables(facts(tmp_path, text, name="u.cc"))
    assert found["v"].bits & found["w"].bits & VariableBits.DECLARED_ONLY


def test_linkage_storage_and_use(tmp_path: Path) -> None:
    text = (
        "int tentative; static int internal; extern int elsewhere; extern int never; int defined = 1;\n"
        "static const int constant = 3; _Thread_local int mine; volatile int hot; int weak __attribute__((weak));\n"
        "static int kept __attribute__((used)); struct e { int a; } embedded; extern int later; int later = 2;\n"
        "int use(void) { static int counter; return counter++ + elsewhere + internal; }\n"
    )
    found = variables(facts(tmp_path, text))
    assert "never" not in found
    unnamed = {
        "tentative": VariableBits.TENTATIVE,
        "internal": VariableBits.INTERNAL | VariableBits.TENTATIVE | VariableBits.REFERENCED,
        "elsewhere": VariableBits.DECLARED_ONLY | VariableBits.REFERENCED,
        "defined": VariableBits(0),
        "constant": VariableBits.INTERNAL | VariableBits.CONSTANT,
        "mine": VariableBits.THREAD | VariableBits.TENTATIVE,
        "hot": VariableBits.VOLATILE | VariableBits.TENTATIVE,
        "weak": VariableBits.WEAK | VariableBits.TENTATIVE,
        "kept": VariableBits.USED | VariableBits.INTERNAL | VariableBits.TENTATIVE,
        "embedded": VariableBits.EMBEDDED | VariableBits.TENTATIVE,
        "later": VariableBits(0),
        "counter": VariableBits.INTERNAL | VariableBits.REFERENCED,
    }
    # "kept" may count as named: the attribute is a use.
    got = {n: VariableBits(v.bits) for n, v in found.items()}
    got["kept"] &= ~VariableBits.REFERENCED
    assert got == unnamed
    assert (found["counter"].scope, len(found["later"].declarations)) == ("use", 1)


def test_identities_join_what_is_one(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text("static int per_unit; extern int shared;\n")
    text = (
        '#include "h.h"\nint shared; static int own;\n'
        "int f(void) { static int x; { static int x; x++; } return x + per_unit; }\n"
    )
    unit = facts(tmp_path, text)
    path = str(tmp_path / "unit.c")
    assert sorted(v.identity for v in unit.variables) == sorted(
        [f"per_unit@{path}", "shared", f"own@{path}", f"f.x@{path}", f"f.x.1@{path}"]
    )


def test_cxx_identities_are_mangled(tmp_path: Path) -> None:
    text = (
        "namespace n { int a; static int b; namespace { int c; } inline int d; }\n"
        "struct s { static int e; }; int s::e;\n"
        "inline int f() { static int g; return ++g; } int use() { return f() + n::b + n::c; }\n"
        "template <typename T> T h; int i() { return h<int>; }\n"
    )
    unit = facts(tmp_path, text, "-std=c++17", name="u.cc")
    path = str(tmp_path / "u.cc")
    found = {v.name: v for v in unit.variables}
    assert found["n::a"].identity == "_ZN1n1aE"
    assert found["n::b"].identity == f"_ZN1nL1bE@{path}"
    assert found["n::c"].identity == f"_ZN1n12_GLOBAL__N_11cE@{path}"
    assert found["s::e"].identity == "_ZN1s1eE"
    assert {v.identity for v in unit.variables if v.bits & VariableBits.INLINE} == {"_ZN1n1dE", "_ZZ1fvE1g", "_Z1hIiE"}


def test_order_is_that_of_the_source(tmp_path: Path) -> None:
    text = "int a; int f(void) { static int b; return b++; }\nint c, d; static int e = 5;\n"
    found = sorted(facts(tmp_path, text).variables, key=lambda v: v.order)
    assert [v.name for v in found] == ["a", "b", "c", "d", "e"]


def test_attributes_sections_and_ranges(tmp_path: Path) -> None:
    text = (
        "#define LINE_ALIGNED __attribute__((aligned(64)))\n"
        "static int a LINE_ALIGNED = 3;\n"
        'int b[4] __attribute__((section(".hot"), aligned(32)));\n'
        "_Alignas(128) long c;\n"
        "__attribute__((aligned(256))) static char d;\n"
        "extern int e; int e LINE_ALIGNED;\n"
        "int g, h = 2, i[2];\n"
    )
    found = variables(facts(tmp_path, text))
    declared = {n: (v.declared_align, v.align) for n, v in found.items()}
    assert declared == {
        "a": (64, 64),
        "b": (32, 32),
        "c": (128, 128),
        "d": (256, 256),
        "e": (64, 64),
        "g": (0, 4),
        "h": (0, 4),
        "i": (0, 4),
    }
    assert (found["a"].macros, found["b"].macros, found["b"].section) == (("LINE_ALIGNED",), (), ".hot")
    ranges = {n: text[v.begin : v.end] for n, v in found.items()}
    assert ranges["a"] == "static int a LINE_ALIGNED = 3"
    assert ranges["b"] == 'int b[4] __attribute__((section(".hot"), aligned(32)))'
    assert ranges["c"] == "_Alignas(128) long c"
    assert ranges["d"] == "__attribute__((aligned(256))) static char d"
    assert ranges["e"] == "int e LINE_ALIGNED"
    assert all(text[v.name_begin :].startswith(n) for n, v in found.items())
    assert all(text.splitlines()[v.line - 1][v.column - 1 :].startswith(n) for n, v in found.items())


def test_standard_attributes_in_front_belong_to_the_declaration(tmp_path: Path) -> None:
    text = "alignas(64) int a;\n[[gnu::aligned(32)]] static int b = 1;\n"
    found = variables(facts(tmp_path, text, name="u.cc"))
    assert {n: text[v.begin : v.end] for n, v in found.items()} == {
        "a": "alignas(64) int a",
        "b": "[[gnu::aligned(32)]] static int b = 1",
    }


def test_annotations_are_kept_as_written(tmp_path: Path) -> None:
    text = (
        "#define GUARDED_BY(x) __attribute__((guarded_by(x)))\n"
        'struct __attribute__((capability("mutex"))) lock { int l; };\nlock m;\nint v GUARDED_BY(m);\nint w;\n'
        "struct s { lock own; int n GUARDED_BY(own); };\n"
    )
    found = variables(facts(tmp_path, text, name="u.cc"))
    assert (found["v"].guarded_by, found["w"].guarded_by) == ("m", "")


def test_locks_in_arrays_and_slots_of_threads(tmp_path: Path) -> None:
    text = "#include <pthread.h>\nstatic pthread_mutex_t locks[16]; static struct { long n; } slots[8];\n"
    found = variables(facts(tmp_path, text))
    locks, slots = found["locks"].type, found["slots"].type
    assert (locks.kind, locks.count, locks.inner.name if locks.inner else "") == (TypeKind.ARRAY, 16, "pthread_mutex_t")
    assert (slots.count, slots.inner.size if slots.inner else 0) == (8, 8)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("-O2",), ("2", True, False, False, True)),
        (("-O0",), ("0", True, False, False, False)),
        ((), ("0", True, False, False, False)),
        (("-O2", "-fno-pie", "-fcommon"), ("2", False, True, False, True)),
        (("-Os", "-fdata-sections", "-fno-toplevel-reorder"), ("s", True, False, True, False)),
        (("-O2", "-O0", "-O"), ("1", True, False, False, True)),
    ],
)
def test_options_that_decide_layout(tmp_path: Path, flags: tuple[str, ...], expected: tuple[object, ...]) -> None:
    o = facts(tmp_path, "int x;\n", *flags).options
    assert (o.level, o.pic, o.common, o.data_sections, o.toplevel_reorder) == expected
    assert o.compiler == "gcc"


def test_clang_is_told_by_its_name(tmp_path: Path) -> None:
    assert facts(tmp_path, "int x;\n", "/opt/bin/clang-19", "-O2").options.compiler == "clang"


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    (tmp_path / "u.c").write_bytes(b'char v[] = "\xff\xfe\x01\t";\nint w /* \xc3\x28 \\ " */ = 1;\n')
    from tests.analyzer.units import run

    found = variables(run("u.c", "--", cwd=tmp_path).unit)
    assert found["v"].text.startswith('char v[] = "')
    assert '\\ "' in found["w"].text
