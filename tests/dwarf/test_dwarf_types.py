"""Types: members, bit-fields, unions, arrays, bases and qualifiers, against what the compiler itself put there."""

from __future__ import annotations

import sys

import pytest

from sharing.model import TypeKind

# compiler and flags; "-c" makes an object file, which needs no library of the architecture.
BUILDS = {
    "gcc dwarf 2": ("gcc", "-gdwarf-2", "-gstrict-dwarf"),
    "gcc dwarf 3": ("gcc", "-gdwarf-3"),
    "gcc dwarf 4": ("gcc", "-gdwarf-4"),
    "gcc dwarf 5 -O2": ("gcc", "-gdwarf-5", "-O2"),
    "gcc dwarf 5, 64-bit format": ("gcc", "-gdwarf64", "-gdwarf-5", "-c"),
    "gcc i386": ("gcc", "-m32", "-c"),
    "gcc aarch64": ("aarch64-linux-gnu-gcc",),
    "clang dwarf 2": ("clang-19", "-gdwarf-2"),
    "clang dwarf 4": ("clang-19", "-gdwarf-4"),
    "clang dwarf 5 -O2": ("clang-19", "-gdwarf-5", "-O2"),
    "clang i386": ("clang-19", "--target=i386-linux-gnu", "-c"),
    "clang arm": ("clang-19", "--target=armv7-linux-gnueabihf", "-c"),
    "clang aarch64": ("clang-19", "--target=aarch64-linux-gnu", "-c"),
    "clang riscv64": ("clang-19", "--target=riscv64-linux-gnu", "-c"),
    "clang ppc64": ("clang-19", "--target=powerpc64-linux-gnu", "-c"),
    "clang ppc64 dwarf 2": ("clang-19", "--target=powerpc64-linux-gnu", "-c", "-gdwarf-2"),
    "clang ppc64le": ("clang-19", "--target=powerpc64le-linux-gnu", "-c"),
    "clang s390x": ("clang-19", "--target=s390x-linux-gnu", "-c"),
    "clang sparc64": ("clang-19", "--target=sparc64-linux-gnu", "-c"),
    "clang mips64": ("clang-19", "--target=mips64-linux-gnu", "-c"),
    "clang mips dwarf 3": ("clang-19", "--target=mips-linux-gnu", "-c", "-gdwarf-3"),
}
BIG_ENDIAN = {
    "clang ppc64",
    "clang ppc64 dwarf 2",
    "clang s390x",
    "clang sparc64",
    "clang mips64",
    "clang mips dwarf 3",
}

BIT_FIELDS = ["a", "b", "c", "d", "e", "g"]
SHAPES = """\
typedef unsigned int word;
struct bits {
  word a : 3; word b : 7; word : 4; word c : 12; unsigned char d : 2; unsigned long long e : 40; short f; word g : 5;
};
struct nested { int first; union { int u; char bytes[4]; struct { short lo, hi; } s; }; struct { char q; } named[3]; };
struct tail { int n; int data[]; };
enum colour { RED, GREEN };
struct all {
  char c;
  const volatile int *pointer;
  void (*callback)(int, char *);
  enum colour colour;
  _Atomic int atomic;
  volatile word flags;
  char matrix[3][5];
  struct nested inner[2];
  double d;
};
#define AT(type, member) __builtin_offsetof(struct type, member)
const unsigned long long witness[] = {
  sizeof(struct all), AT(all, c), AT(all, pointer), AT(all, callback), AT(all, colour), AT(all, atomic),
  AT(all, flags), AT(all, matrix), AT(all, inner), AT(all, d),
  sizeof(struct nested), AT(nested, first), AT(nested, u), AT(nested, bytes), AT(nested, s.hi), AT(nested, named),
  sizeof(struct bits), AT(bits, f), sizeof(struct tail), AT(tail, data)
};
struct bits bits;
struct bits bits_a = {.a = -1}, bits_b = {.b = -1}, bits_c = {.c = -1}, bits_d = {.d = -1}, bits_e = {.e = -1},
            bits_g = {.g = -1};
struct all all = {1};
struct nested nested = {1};
struct tail tail = {1};
int grid[4][6] = {{1}};
const word constant[2] = {1, 2};
int main(void) { return bits.a + all.c + tail.n + grid[0][0] + constant[0] + nested.first; }
"""


@pytest.fixture(scope="module", params=BUILDS)
def shapes(request, compiled):
    compiler, *flags = BUILDS[request.param]
    return compiled(compiler, "c", SHAPES, *flags)


def record(program, name):
    (found,) = [t for t in program.document.types if t.name == name and t.kind == TypeKind.STRUCT]
    return found


def offset(program, name, member):
    (found,) = [m for m in record(program, name).members if m.name == member]
    assert found.offset_bits % 8 == 0
    return found.offset_bits // 8


class TestC:
    def test_sizes_and_offsets_are_those_of_sizeof_and_offsetof(self, shapes, contents):
        data = contents(shapes.path, "witness")
        order = "big" if _is_big(shapes.path) else "little"
        expected = [int.from_bytes(data[i : i + 8], order) for i in range(0, len(data), 8)]
        leaves = shapes.leaves("nested")
        assert expected == [
            record(shapes, "all").size,
            *(offset(shapes, "all", m) for m in ("c", "pointer", "callback", "colour", "atomic")),
            *(offset(shapes, "all", m) for m in ("flags", "matrix", "inner", "d")),
            record(shapes, "nested").size,
            *(leaves[m][0] for m in ("first", "u", "bytes", "s.hi", "named[].q")),
            record(shapes, "bits").size,
            offset(shapes, "bits", "f"),
            record(shapes, "tail").size,
            offset(shapes, "tail", "data"),
        ]

    @pytest.mark.parametrize("field", BIT_FIELDS)
    def test_a_bit_field_has_the_bits_that_an_initializer_sets(self, shapes, contents, field):
        data = contents(shapes.path, f"bits_{field}")
        (member,) = [m for m in record(shapes, "bits").members if m.name == field]
        big = _is_big(shapes.path)
        bits = range(member.offset_bits, member.offset_bits + member.bit_size)
        expected = bytearray(len(data))
        for bit in bits:
            expected[bit // 8] |= 0x80 >> bit % 8 if big else 1 << bit % 8
        assert bytes(expected) == data

    def test_dimensions_are_multiplied_and_kept(self, shapes):
        row = shapes["grid"].type
        assert shapes.types[row].dimensions == (4, 6)
        assert shapes.types.name(row) == "int[4][6]"
        assert shapes.types[shapes["constant"].type].dimensions == ()
        assert shapes.types.size(row) == 96
        assert shapes.types[row].count == 24
        assert shapes.types.name(shapes.types[row].target) == "int"

    def test_a_flexible_array_has_no_length(self, shapes):
        (data,) = [m for m in record(shapes, "tail").members if m.name == "data"]
        assert shapes.types[data.type].kind == TypeKind.ARRAY
        assert shapes.types[data.type].count in (-1, 0)

    def test_qualifiers_are_layers(self, shapes):
        (flags,) = [m for m in record(shapes, "all").members if m.name == "flags"]
        core, qualifiers, names = shapes.types.strip(flags.type)
        assert shapes.types[core].name == "unsigned int"
        assert qualifiers == {TypeKind.VOLATILE, TypeKind.TYPEDEF}
        assert "word" in names

    def test_pointers_are_leaves_with_the_name_of_their_target(self, shapes):
        members = {m.name: shapes.types[m.type] for m in record(shapes, "all").members}
        assert members["pointer"].kind == TypeKind.POINTER
        assert members["pointer"].target == -1
        assert sorted(members["pointer"].name.split()) == sorted(["const", "volatile", "int", "*"])
        assert members["callback"].name == "void (*)(...)"

    def test_each_type_is_listed_once_and_children_come_first(self, shapes):
        types = shapes.document.types
        assert len(set(types)) == len(types)
        for row, node in enumerate(types):
            assert node.target < row
            assert all(member.type < row for member in node.members)


def _is_big(path):
    return path.read_bytes()[5] == 2


def test_the_big_endian_builds_are_big_endian(compiled):
    for name in BIG_ENDIAN:
        compiler, *flags = BUILDS[name]
        assert _is_big(compiled(compiler, "c", SHAPES, *flags).path), name


def test_atomic_is_a_layer_where_the_compiler_says_so(compiled):
    program = compiled("clang-19", "c", SHAPES, "-gdwarf-5")
    (atomic,) = [m for m in record(program, "all").members if m.name == "atomic"]
    assert program.types[atomic.type].kind == TypeKind.ATOMIC


CXX = """\
#include <cstddef>
struct Base { int b; char tail; };
struct Empty {};
struct Poly { virtual ~Poly() {} long p; };
struct Virtual : virtual Base { int v; };
struct Derived : Base, Poly { static int shared; char d; struct Inner { short i; } inner;
  enum class E : char { A } e; };
template <class T, int N> struct Pair { T first; T rest[N]; };
template <class... Ts> struct Many : Ts... { int own; };
struct alignas(64) Padded { int value; };
int Derived::shared;
Derived derived; Virtual with_virtual_base; Pair<Derived::Inner, 3> pair; Many<Base, Empty> many; Padded padded;
int Derived::*to_member; void (Derived::*to_method)(int); Derived &&reference = static_cast<Derived &&>(derived);
decltype(nullptr) null;
const unsigned long long witness[] = {sizeof(Derived), offsetof(Derived, d), offsetof(Derived, inner),
  offsetof(Derived, e), sizeof(pair), sizeof(many), offsetof(decltype(many), own), sizeof(Padded), sizeof(to_method)};
int main() { return derived.d + pair.first.i + many.own + padded.value + (int)witness[0]; }
"""


@pytest.fixture(
    scope="module", params=["g++ -gdwarf-4", "g++ -gdwarf-5", "clang++-19 -gdwarf-4", "clang++-19 -gdwarf-5"]
)
def cxx(request, compiled):
    compiler, version = request.param.split()
    return compiled(compiler, "cc", CXX, "-std=c++17", version, "-Wno-invalid-offsetof", "-no-pie")


class TestCxx:
    def test_sizes_and_offsets_are_the_compilers(self, cxx, contents):
        data = contents(cxx.path, "_ZL7witness")
        expected = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]
        derived, types = cxx.leaves("derived"), cxx.types
        assert expected == [
            types.size(cxx["derived"].type),
            derived["d"][0],
            derived["inner.i"][0],
            derived["e"][0],
            types.size(cxx["pair"].type),
            types.size(cxx["many"].type),
            cxx.leaves("many")["own"][0],
            types.size(cxx["padded"].type),
            types.size(cxx["to_method"].type),
        ]

    def test_bases_are_marked_and_their_members_inherited(self, cxx):
        node = cxx.types[cxx["derived"].type]
        assert [m.is_base for m in node.members[:2]] == [True, True]
        assert {"b", "tail", "p", "d"} <= set(cxx.leaves("derived"))

    def test_static_members_take_no_room(self, cxx):
        assert "shared" not in cxx.leaves("derived")
        assert cxx["Derived::shared"].linkage == "_ZN7Derived6sharedE"

    def test_a_virtual_base_has_no_place_in_the_type(self, cxx):
        assert "b" not in cxx.leaves("with_virtual_base")
        assert "v" in cxx.leaves("with_virtual_base")

    def test_nested_types_are_qualified(self, cxx):
        assert "Derived::Inner" in {t.name for t in cxx.document.types}
        assert "Derived::E" in {t.name for t in cxx.document.types}

    def test_templates_keep_their_arguments(self, cxx):
        assert cxx.types.name(cxx["pair"].type).replace(" ", "") == "Pair<Derived::Inner,3>"

    def test_references_and_member_pointers_have_their_kinds(self, cxx):
        kinds = {n: cxx.types[cxx[n].type].kind for n in ("reference", "to_member", "to_method")}
        assert kinds == {
            "reference": TypeKind.REFERENCE,
            "to_member": TypeKind.MEMBER_POINTER,
            "to_method": TypeKind.MEMBER_POINTER,
        }
        assert cxx.types[cxx["reference"].type].name == "Derived &&"

    def test_nullptr_t_is_as_large_as_a_pointer(self, cxx):
        assert cxx.types.size(cxx["null"].type) == 8


def test_alignas_on_a_type_is_kept(compiled):
    program = compiled("g++", "cc", CXX, "-std=c++17", "-gdwarf-5", "-Wno-invalid-offsetof", "-no-pie")
    assert record(program, "Padded").align == 64


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_record_is_aligned_as_its_member_asks(compiled, compiler):
    """Clang says it of the member alone.  Natural alignment is said of neither."""
    text = "struct Apart { int a; alignas(64) int b; int c; }; struct Plain { int a; long b; };\n"
    program = compiled(compiler, "cc", text + "Apart apart; Plain plain; int main() { return apart.b + plain.a; }")
    assert (record(program, "Apart").align, record(program, "Plain").align) == (64, 0)


def test_simple_template_names_are_completed(compiled):
    program = compiled("clang++-19", "cc", CXX, "-std=c++17", "-gsimple-template-names", "-Wno-invalid-offsetof")
    assert program.types.name(program["pair"].type).replace(" ", "") == "Pair<Derived::Inner,3>"


def test_equal_names_with_different_contents_stay_apart(tmp_path, run, read):
    (tmp_path / "one.c").write_text("struct same { int a, b; }; struct same one; int main(void) { return one.a; }")
    (tmp_path / "two.c").write_text("struct same { short x; char y[6]; }; struct same two;")
    run("gcc", "-g", "-o", "program", "one.c", "two.c", cwd=tmp_path)
    program = read(tmp_path / "program")
    assert set(program.leaves("one")) == {"a", "b"}
    assert set(program.leaves("two")) == {"x", "y"}


def test_a_type_that_many_units_share_is_listed_once(tmp_path, run, read):
    (tmp_path / "shared.h").write_text("struct shared { int a; struct { long b; } c; };")
    for i in range(5):
        main = "int main(void) { return 0; }" if i == 0 else ""
        (tmp_path / f"u{i}.c").write_text(f'#include "shared.h"\nstruct shared v{i} = {{1}};\n{main}')
    run("gcc", "-g", "-o", "program", *(f"u{i}.c" for i in range(5)), cwd=tmp_path)
    program = read(tmp_path / "program")
    assert len({program[f"v{i}"].type for i in range(5)}) == 1
    assert [t.name for t in program.document.types].count("shared") == 1
    assert len(program.document.units) == 5


def test_a_declared_class_gets_the_definition_of_another_unit(tmp_path, run, read):
    (tmp_path / "key.h").write_text("struct Key { virtual void home(); int k; }; struct Outer { Key key; long o; };")
    (tmp_path / "use.cc").write_text('#include "key.h"\nOuter array[3];\nint main() { return array[0].key.k; }\n')
    (tmp_path / "home.cc").write_text('#include "key.h"\nvoid Key::home() {}\n')
    run("clang++-19", "-g", "-o", "program", "use.cc", "home.cc", cwd=tmp_path)
    program = read(tmp_path / "program")
    assert program.leaves("array")["[].key.k"] == (8, 4)


def test_a_class_that_nobody_defines_has_no_size(tmp_path, run, read):
    (tmp_path / "key.h").write_text("struct Key { virtual void home(); int k; };")
    (tmp_path / "use.cc").write_text('#include "key.h"\nKey key;\nint main() { return key.k; }\n')
    (tmp_path / "home.cc").write_text('#include "key.h"\nvoid Key::home() {}\n')
    run("clang++-19", "-c", "home.cc", cwd=tmp_path)
    run("clang++-19", "-g", "-o", "program", "use.cc", "home.o", cwd=tmp_path)
    program = read(tmp_path / "program")
    assert program.types.size(program["key"].type) == -1
    assert program.types.name(program["key"].type) == "Key"


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_layouts_agree_with_pahole(compiled, run, tool, repository, compiler):
    tool("pahole")
    # pahole 1.24 does not know atomic types.
    path = compiled(compiler, "c", SHAPES.replace("_Atomic ", ""), "-gdwarf-5").path
    summary = run(sys.executable, repository / "scripts" / "compare-pahole", path)
    assert ", 0 differ; 0 names only in pahole" in summary
