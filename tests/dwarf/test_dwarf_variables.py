"""Which variables are found, and what is said of each: name, address, place, scope."""

from __future__ import annotations

from pathlib import Path

import pytest

C_COMPILERS = ["gcc", "clang-19"]
CXX_COMPILERS = {"gcc": "g++", "clang-19": "clang++-19"}
BUILDS = [(compiler, flags) for compiler in C_COMPILERS for flags in (("-O0", "-gdwarf-4"), ("-O2", "-gdwarf-5"))]
IDS = [f"{compiler}{''.join(flags)}" for compiler, flags in BUILDS]

C_SOURCE = """\
#include <stdio.h>
int exported = 1;
static volatile long counter;
extern int elsewhere;
__thread int per_thread = 3;
_Alignas(128) int aligned[4];
struct { int a, b; } unnamed = {1, 2};
static int helper(int x)
{
  static volatile int calls;
  { static volatile int calls; calls += 2 * x; }
  return calls += x;
}
int main(int argc, char **argv)
{
  static volatile int calls;
  calls = argc;
  counter += helper(argc) + helper(2) + per_thread;
  aligned[argc & 3] = exported + unnamed.a;
  printf("%ld %d\\n", counter, calls);
  return 0;
}
"""

CXX_SOURCE = """\
#include <cstdio>
namespace outer { namespace inner {
struct Class { static int member; static inline int inlined = 7; int x; void method(); };
int Class::member = 2;
namespace { volatile int hidden = 3; }
void Class::method() { static volatile int once; once += x + hidden; }
} }
namespace outer { inline int shared = 5; }
template <class T> T variable = T(9);
template <class T> struct Holder { static T value; };
template <class T> T Holder<T>::value = T(4);
thread_local int tls_counter;
[[gnu::used]] auto lambda = [y = 3](int a) { static volatile int in_lambda; return in_lambda += a + y; };
int main()
{
  outer::inner::Class c{1};
  c.method();
  return lambda(outer::shared) + variable<int> + variable<long> + Holder<short>::value + tls_counter
         + outer::inner::Class::member + outer::inner::Class::inlined + c.x;
}
"""


@pytest.mark.parametrize(("compiler", "flags"), BUILDS, ids=IDS)
class TestC:
    def test_addresses_are_those_of_the_symbol_table(self, compiled, addresses, compiler, flags):
        program = compiled(compiler, "c", C_SOURCE, *flags)
        symbols = addresses(program.path)
        for name in ("exported", "counter", "aligned", "unnamed"):
            assert program[name].address == symbols[name], name
            assert not program[name].tls

    def test_external_tells_globals_from_statics(self, compiled, compiler, flags):
        program = compiled(compiler, "c", C_SOURCE, *flags)
        assert program["exported"].external
        assert not program["counter"].external

    def test_an_extern_declaration_is_no_variable(self, compiled, compiler, flags):
        assert compiled(compiler, "c", C_SOURCE, *flags).named("elsewhere") == []

    def test_file_and_line_are_those_of_the_definition(self, compiled, compiler, flags):
        program = compiled(compiler, "c", C_SOURCE, *flags)
        assert program["counter"].line == 3
        assert Path(program.file_of("counter")).name == "program.c"

    def test_thread_locals_are_marked_and_have_offsets(self, compiled, compiler, flags):
        variable = compiled(compiler, "c", C_SOURCE, *flags)["per_thread"]
        assert variable.tls
        assert variable.address == 0

    def test_function_statics_name_their_function_and_inlined_copies_count_once(
        self, compiled, addresses, compiler, flags
    ):
        program = compiled(compiler, "c", C_SOURCE, *flags)
        calls = program.named("calls")
        assert {v.address for v in calls} == {
            value for name, value in addresses(program.path).items() if "calls" in name.split(".")
        }
        functions = sorted(v.function for v in calls)
        if (compiler, flags[0]) == ("clang-19", "-O2"):
            # clang moves the statics of an inlined function into an entry without a name.
            assert functions == ["", "", "main"]
        else:
            assert functions == ["helper", "helper", "main"]

    def test_the_unit_says_compiler_and_language(self, compiled, compiler, flags):
        program = compiled(compiler, "c", C_SOURCE, *flags)
        unit = program.document.units[program["exported"].unit]
        assert unit.name.endswith("program.c")
        assert unit.comp_dir == str(program.path.parent)
        assert ("clang" if "clang" in compiler else "GNU C") in unit.producer
        assert unit.language.startswith("C")

    def test_nothing_is_reported_broken(self, compiled, compiler, flags):
        assert compiled(compiler, "c", C_SOURCE, *flags).document.problems == []


@pytest.mark.parametrize(("compiler", "flags"), BUILDS, ids=IDS)
class TestCxx:
    def program(self, compiled, compiler, flags):
        return compiled(CXX_COMPILERS[compiler], "cc", CXX_SOURCE, "-std=c++17", *flags)

    @pytest.mark.parametrize(
        ("name", "linkage", "lines"),
        [
            # gcc says where the member is defined, clang where it is declared.
            ("outer::inner::Class::member", "_ZN5outer5inner5Class6memberE", {"gcc": 4, "clang-19": 3}),
            ("outer::inner::Class::inlined", "_ZN5outer5inner5Class7inlinedE", {"gcc": 3, "clang-19": 3}),
            ("outer::shared", "_ZN5outer6sharedE", {"gcc": 8, "clang-19": 8}),
        ],
    )
    def test_names_are_qualified(self, compiled, addresses, compiler, flags, name, linkage, lines):
        program = self.program(compiled, compiler, flags)
        variable = program[name]
        assert variable.linkage == linkage
        assert variable.line == lines[compiler]
        assert variable.address == addresses(program.path)[linkage]

    def test_anonymous_namespaces_are_left_out_as_source_does(self, compiled, compiler, flags):
        assert self.program(compiled, compiler, flags)["outer::inner::hidden"].line == 5

    def test_variable_templates_are_one_variable_each(self, compiled, addresses, compiler, flags):
        program = self.program(compiled, compiler, flags)
        symbols = addresses(program.path)
        found = {v.linkage: v.address for v in program.document.variables if v.name.startswith("variable")}
        assert found == {name: symbols[name] for name in ("_Z8variableIiE", "_Z8variableIlE")}

    def test_static_members_of_templates_name_their_arguments(self, compiled, compiler, flags):
        program = self.program(compiled, compiler, flags)
        (holder,) = [v for v in program.document.variables if v.name.startswith("Holder<")]
        assert holder.name in ("Holder<short>::value", "Holder<short int>::value")

    def test_statics_of_methods_name_the_qualified_method(self, compiled, compiler, flags):
        assert self.program(compiled, compiler, flags)["once"].function == "outer::inner::Class::method"

    def test_statics_of_lambdas_are_found(self, compiled, compiler, flags):
        (variable,) = self.program(compiled, compiler, flags).named("in_lambda")
        if (compiler, flags[0]) != ("clang-19", "-O2"):  # see the statics of inlined functions
            assert variable.function.endswith("operator()")

    def test_a_lambda_is_a_record_of_its_captures(self, compiled, compiler, flags):
        program = self.program(compiled, compiler, flags)
        assert list(program.leaves("lambda").values()) == [(0, 4)]

    def test_thread_local_is_tls(self, compiled, compiler, flags):
        assert self.program(compiled, compiler, flags)["tls_counter"].tls

    def test_each_address_is_listed_once(self, compiled, compiler, flags):
        program = self.program(compiled, compiler, flags)
        places = [(v.tls, v.section, v.address) for v in program.document.variables]
        assert len(places) == len(set(places))
        assert places == sorted(places)


def test_a_requested_alignment_is_kept(compiled):
    assert compiled("gcc", "c", C_SOURCE, "-O0", "-gdwarf-5")["aligned"].align == 128


def test_objects_dropped_by_the_linker_are_not_listed(compiled):
    source = "int kept = 1; int dropped = 2; int main(void) { return kept; }"
    program = compiled("gcc", "c", source, "-fdata-sections", "-Wl,--gc-sections")
    assert [v.name for v in program.document.variables if v.name in ("kept", "dropped")] == ["kept"]


def test_an_object_without_bytes_does_not_hide_its_neighbour(compiled, build):
    source = "struct empty {}; struct empty nothing; int after = 5; int main(void) { return after; }"
    program = compiled("gcc", "c", source, "-fno-toplevel-reorder", "-O0")
    assert program["after"].type >= 0


def test_the_parts_of_a_split_variable_have_no_type(compiled):
    source = """\
static struct { long head; long unused[20]; long tail; } split;
int main(int argc, char **argv)
{
  for (volatile int i = 0; i < argc; i++) { split.head += i; split.tail += split.head + i; }
  return (int)split.tail;
}
"""
    program = compiled("clang-19", "c", source, "-O2")
    assert all(v.type == -1 for v in program.named("split"))


def test_two_runs_and_any_number_of_threads_give_the_same_bytes(build, run):
    from elfscan.tools import ToolJob, tool_path

    path = build("g++", "cc", CXX_SOURCE, "-std=c++17")
    outputs = {
        ToolJob.start([str(tool_path("linemate-dwarf")), "--threads", threads, str(path)]).result()
        for threads in ("1", "2", "4", "2")
    }
    assert len(outputs) == 1
