"""Names of programs against names in rows: linkage names, types, inline namespaces."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sharing.knowledge.mangled import MAX_NAME_CHARS, Parts, class_of, handed, parse
from sharing.knowledge.names import FunctionNames, LinkageNames, Namespaces, TypeNames, scopes
from tests.cpp import compiler

SPACES = Namespaces([{"absl": ("lts_*",), "std": ("__1",)}])


@pytest.mark.parametrize(
    ("name", "parts", "arguments"),
    [
        ("_ZN4absl5Mutex4LockEv", "absl::Mutex::Lock", ()),
        ("_ZNK4absl12lts_202206235Mutex10AssertHeldEv", "absl::lts_20220623::Mutex::AssertHeld", ()),
        ("_ZNSt5mutex4lockEv", "std::mutex::lock", ()),
        ("_ZN6QMutexD2Ev", "QMutex::~QMutex", ()),
        ("_ZNSt10lock_guardISt5mutexEC2ERS0_", "std::lock_guard::lock_guard", (("std", "mutex"),)),
        ("_ZN5boost10lock_guardINS_5mutexEEC2ERS1_", "boost::lock_guard::lock_guard", (("boost", "mutex"),)),
        (
            "_ZNSt11scoped_lockIJSt5mutexN2my4LockEEEC2ERS0_RS2_",
            "std::scoped_lock::scoped_lock",
            (("std", "mutex"), ("my", "Lock")),
        ),
        ("_ZSt9call_onceIRFvvEJEEvRSt9once_flagOT_DpOT0_", "std::call_once", ((),)),
        ("_ZNSt7__cxx1112basic_stringIcE5clearB5cxx11Ev", "std::__cxx11::basic_string::clear", ((),)),
        ("_ZL4spinP4Lock", "spin", ()),
    ],
)
def test_a_linkage_name_says_scopes_and_classes(name: str, parts: str, arguments: tuple[Parts, ...]) -> None:
    read = parse(name)
    assert read is not None
    assert ("::".join(read.parts), read.arguments) == (parts, arguments)


@pytest.mark.parametrize(
    ("name", "scope", "registers", "whole"),
    [
        ("_Z5paintP5Shapei", (), [("Shape",), ()], True),
        ("_ZN5Shape4joinEPS_", ("Shape",), [("Shape",)], True),
        ("_ZN2ns3FooIiE4stepEv", ("ns", "Foo"), [], True),
        ("_ZNK1C1fEdRK1DPv", ("C",), [("D",), None], True),
        ("_Z1fPP5Shapem", (), [None, None], True),
        ("_ZN1C1gEi1DP1E", ("C",), [()], False),  # how many registers an object by value takes is not said
        ("_ZN1CcvP1DEv", ("C",), [], True),
    ],
)
def test_a_linkage_name_says_what_parameters_point_to(
    name: str, scope: Parts, registers: list[Parts | None], whole: bool
) -> None:
    found = handed(name)
    assert found is not None
    assert (found.scope, list(found.registers), found.whole) == (scope, registers, whole)


@pytest.mark.parametrize(
    "name",
    ["main", "_Z1fI5ShapeEvPT_", "_ZN1C1fI1DEEvPT_", "_Z5paintP5Shape.isra.0", "_ZZ4mainENKUlvE_clEv", "_Z1fP", "_Z"],
)
def test_nothing_is_said_of_templates_and_of_what_compilers_made(name: str) -> None:
    assert handed(name) is None


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("5Shape", ("Shape",)),
        ("N2ns3FooIiEE", ("ns", "Foo")),
        ("NSt6thread6_StateE", ("std", "thread", "_State")),
        ("Z4mainE5Local", ()),
        ("5Shape4More", ()),
        ("P5Shape", ()),
        ("", ()),
    ],
)
def test_a_class_by_the_name_that_type_information_has(name: str, parts: Parts) -> None:
    assert class_of(name) == parts


@pytest.mark.parametrize(
    "name",
    [
        *("main", "_Z", "_ZN", "_ZN5mutex", "_ZN99mutexE", "_ZNS5_5mutexE", "_ZTV5mutex", "_ZNSt3fooIXszT_EE3barEv"),
        *("_ZN5mutexI" + "P" * 100 + "iEE", "_ZN5mutexI" * 300, "_ZN1a" + "1b" * MAX_NAME_CHARS + "E"),
    ],
)
def test_what_is_no_function_or_is_not_understood_is_nothing(name: str) -> None:
    assert parse(name) is None


# Names of every kind that the grammar has, for the demangler of the C++ runtime to compare with.
PROGRAM = """
#include <mutex>
#include <thread>
namespace a { inline namespace v2 { template <class T, int N> struct Box { struct In { void run(T *, In &); }; }; } }
template <class T> struct Row;
template <class T, int N> void a::Box<T, N>::In::run(T *, In &) {}
template struct a::Box<int, 3>; template struct a::Box<void (*)(const char *, ...), 4>;
template struct a::Box<Row<std::mutex *>[2], -1>; template struct a::Box<int (a::Box<char, 1>::*)(), 0>;
template <class... T> struct Pack { ~Pack(); Pack(const T &...); operator bool() const;
  bool operator==(const Pack &); };
template <class... T> Pack<T...>::~Pack() {}
template <class... T> Pack<T...>::Pack(const T &...) {}
template <class... T> Pack<T...>::operator bool() const { return true; }
template <class... T> bool Pack<T...>::operator==(const Pack &) { return true; }
template struct Pack<std::mutex, a::Box<long, 1>, decltype(nullptr)>;
static std::mutex m;
void work() { std::lock_guard<std::mutex> l(m); }
int main() {
  auto f = [](int x) { auto g = [=](auto y) { return x + y; }; return g(1); };
  struct Local { void go(void (*h)(int)) { h(1); } } local;
  local.go([](int) { std::unique_lock<std::mutex> l(m, std::defer_lock); l.lock(); });
  std::thread t([&] { f(2); work(); });
  t.join();
}
"""


def test_scopes_are_those_that_the_runtimes_demangler_says(tmp_path: Path) -> None:
    nm, demangler = shutil.which("nm"), shutil.which("c++filt")
    if nm is None or demangler is None:
        pytest.skip("binutils are not installed")
    source, made = tmp_path / "names.cpp", tmp_path / "names.o"
    source.write_text(PROGRAM)
    subprocess.run([compiler("g++"), "-std=c++20", "-c", "-o", made, source], check=True, timeout=100)
    listed = subprocess.run([nm, made], capture_output=True, text=True, check=True).stdout.split()
    names = sorted({n for n in listed if n.startswith(("_ZN", "_ZSt")) and "ECI" not in n})
    shown = subprocess.run([demangler], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    read = {n: (parse(n), text) for n, text in zip(names, shown.splitlines(), strict=True)}
    assert len(names) > 60
    assert {n: text for n, (got, text) in read.items() if got is None or not _says(got.parts, text)} == {}


def _says(parts: Parts, text: str) -> bool:
    """Has a demangled name these scopes?  What has no name of its own is spelled in another way there."""
    if any(part.startswith(("{", "operator")) for part in parts):
        return True
    return "::".join(parts) in _without_arguments(text.replace("[abi:cxx11]", ""))


def _without_arguments(text: str) -> list[str]:
    """The words of a demangled name in front of its parameters, without template arguments."""
    kept, depth = "", 0
    for c in text.replace("->", ""):
        depth += (c == "<") - (c == ">")
        kept += c if not depth and c != ">" else ""
    return kept.replace("(", " ").split()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("std::vector<std::pair<int, int> >::iterator", ("std", "vector", "iterator")),
        ("a::b<c::d>", ("a", "b")),
        ("a<b", ("a",)),
        ("plain", ("plain",)),
    ],
)
def test_a_type_is_its_scopes_without_template_arguments(name: str, expected: Parts) -> None:
    assert scopes(name) == expected


class TestTypes:
    NAMES = TypeNames([("absl::Mutex", 0), ("std::counting_semaphore", 1), ("own*", 2), ("my::Lock", 3)], SPACES)

    @pytest.mark.parametrize(
        ("name", "row"),
        [
            ("absl::lts_20220623::Mutex", 0),
            ("absl::Mutex", 0),
            ("std::counting_semaphore<1>", 1),
            ("std::__1::counting_semaphore<2147483647>", 1),
            ("struct own_lock", 2),
            ("my::Lock<my::Policy>", 3),
            ("absl::other::Mutex", -1),
            ("Mutex", -1),
            ("absl::Mutexes", -1),
            ("absl::Mutex::Inner", -1),
            ("my::lts_1::Lock", -1),
        ],
    )
    def test_a_type_is_found_by_what_rows_say_of_it(self, name: str, row: int) -> None:
        assert self.NAMES.find(name) == row


class TestFunctions:
    def table(self) -> FunctionNames[str]:
        table: FunctionNames[str] = FunctionNames(LinkageNames(SPACES))
        for name in ("plain", "my_*", "absl::Mutex::Lock", "pool::*", "::spawn", "std::thread::join"):
            table.add(name, name)
        return table

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("plain", "plain"),
            ("my_lock", "my_*"),
            ("_ZN4absl5Mutex4LockEv", "absl::Mutex::Lock"),
            ("_ZN4absl12lts_202206235Mutex4LockEv", "absl::Mutex::Lock"),
            ("_ZN4pool6detail3runEPFvvE", "pool::*"),
            ("_Z5spawnPFvvE", "::spawn"),
            ("_ZNSt3__16thread4joinEv", "std::thread::join"),
            ("_Z5plainv", None),  # a C++ function of that name is another one
            ("spawn", None),
            ("_ZN2my5Mutex4LockEv", None),
            ("_ZN4absl5Mutex6UnlockEv", None),
            ("_ZN4absl5Mutex4LockEv.cold", "absl::Mutex::Lock"),
            ("_ZN4absl3one5Mutex4LockEv", None),
            ("absl::Mutex::Lock", None),
        ],
    )
    def test_a_function_is_found_by_what_rows_say_of_it(self, name: str, expected: str | None) -> None:
        assert self.table().find(name) == ([expected] if expected else [])
