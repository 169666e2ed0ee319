"""Names as a report shows them: qualified, without parameters, clones kept."""

from __future__ import annotations

import pytest

from elfscan.debug.demangle import demangle
from sharing.basics.naming import (
    by_any_compiler,
    readable,
    readable_names,
    with_kind,
    without_parameters,
    without_wrapper,
)


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("main", "main"),
        ("tc_release", "tc_release"),
        ("_Z16tc_release_tableP5Table", "tc_release_table"),
        ("_ZN5Cache6lookupEi", "Cache::lookup"),
        ("_ZN5Cache6lookupEi.part.0", "Cache::lookup.part.0"),
        ("helper.constprop.0", "helper.constprop.0"),
        ("_ZN12_GLOBAL__N_14workEv", "work"),
        ("(anonymous namespace)::work", "work"),
        ("_ZNK5Cache3getEv", "Cache::get"),
        ("_ZN5CacheclEi", "Cache::operator()"),
        ("_Znot mangled", "_Znot mangled"),
        ("", ""),
    ],
)
def test_readable(symbol: str, shown: str) -> None:
    assert readable(symbol, demangle) == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("f()", "f"),
        ("f(int, std::vector<int (*)(char)>)", "f"),
        ("A::f(int) const", "A::f"),
        ("f", "f"),
        ("(anonymous namespace)::f", "(anonymous namespace)::f"),
        ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
        ("A::operator()", "A::operator()"),
        ("A::operator()(int) const", "A::operator()"),
        ("A::operator>(A const&)", "A::operator>"),
        ("std::pair<int, char>::swap(std::pair<int, char>&)", "std::pair<int, char>::swap"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"),
        ("", ""),
        ("(", "("),
        (")))", ")))"),
        ("<<<(((", "<<<((("),
    ],
)
def test_without_parameters(name: str, shown: str) -> None:
    assert without_parameters(name) == shown


def test_all_names_are_demangled_in_one_call() -> None:
    calls: list[list[str]] = []

    def spy(names: list[str]) -> list[str]:
        calls.append(names)
        return [f"{name}()" for name in names]

    assert readable_names(["main", "_Z1f", "_Z1g.cold"], spy) == {
        "main": "main",
        "_Z1f": "_Z1f",
        "_Z1g.cold": "_Z1g.cold",
    }
    assert calls == [["_Z1f", "_Z1g"]]


_RUNS = "std::thread::_State_impl<std::thread::_Invoker<std::tuple<{}> > >::_M_run"


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        ("main::{lambda()#1}", "main::{lambda()#1}"),
        ("run(std::vector<int, A<int> >&)::{lambda(int, long)#2}, int, long", None),
        ("Worker, int", "Worker"),
        ("void (*)(int), int", ""),  # the type of a pointer is not what is called
        ("void (Worker::*)(), Worker*", ""),
    ],
)
def test_the_body_of_a_thread_is_what_it_calls(called: str, shown: str | None) -> None:
    name = _RUNS.format(called)
    found = without_wrapper(name)
    assert found == (called.partition("}")[0] + "}" if shown is None else shown or name)
    assert without_parameters(found) == found, "names may be shortened twice"
    assert without_wrapper(name.replace("_M_run", "other")) == name.replace("_M_run", "other")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "std::sys::backtrace::__rust_begin_short_backtrace::<worker::run::{closure#0}, u64>",
            "worker::run::{closure#0}",
        ),
        (
            "std::sys_common::backtrace::__rust_begin_short_backtrace::<<worker::Pool<u8, u8>>::run::{closure#1}, ()>",
            "<worker::Pool<u8, u8>>::run::{closure#1}",
        ),
        (
            "<std::thread::lifecycle::spawn_unchecked<worker::run::{closure#0}, u64>::{closure#1} as "
            "core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}",
            "worker::run::{closure#0}",
        ),
        (
            "<<std::thread::Builder>::spawn_unchecked_<worker::run::{closure#0}, u64>::{closure#1} as "
            "core::ops::function::FnOnce<()>>::call_once::{shim:vtable#0}",
            "worker::run::{closure#0}",
        ),
        # The type of a pointer is not what is called, and without types nothing tells.
        ("std::sys::backtrace::__rust_begin_short_backtrace::<fn() -> u64, u64>", None),
        ("std::sys::backtrace::__rust_begin_short_backtrace #2", None),
        ("std::thread::lifecycle::spawn_unchecked::<worker::run::{closure#0}, u64>", None),  # what starts the thread
        ("worker::backtrace::__rust_begin_short_backtrace::<worker::run, u64>", None),
    ],
)
def test_the_body_of_a_thread_of_rust_is_its_closure(name: str, shown: str | None) -> None:
    assert readable(name, demangle) == (shown or name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("LOCK_open", "LOCK_open (mutex)"),
        ("bss+0x40", "bss+0x40 (mutex)"),
        ("bss+0x40 (mutex)", "bss+0x40 (mutex)"),
        ("bss+0x40 (read-write lock)", "bss+0x40 (read-write lock)"),
        ("(anonymous namespace)::lock", "(anonymous namespace)::lock (mutex)"),
    ],
)
def test_the_kind_is_said_once(name: str, said: str) -> None:
    assert with_kind(name, "mutex") == said


@pytest.mark.parametrize(
    ("spelled", "same"),
    [
        ("Ring<long unsigned int, 8>::head", "Ring<unsigned long, 8ul>::head"),
        ("Ring<Box<long int> >.head", "Ring<Box<long>>.head"),
        ("Ring<long long int>", "Ring<long long>"),
        ("Ring<short unsigned int, unsigned char>", "Ring<unsigned short, unsigned char>"),
        ("Ring<unsigned int>", "Ring<unsigned>"),
        ("Ring<char const *>", "Ring<char const*>"),
    ],
)
def test_one_thing_has_one_name_in_ids(spelled: str, same: str) -> None:
    assert by_any_compiler(spelled) == by_any_compiler(same)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ring<long>::head", "Ring<unsigned long>::head"),
        ("Ring<long>::head", "Ring<long long>::head"),
        ("Ring<short>::head", "Ring<int>::head"),
        ("Ring<char>", "Ring<unsigned char>"),
        ("Ring<8>::head", "Ring<80>::head"),
        ("Ring<longest>::x", "Ring<long>::x"),
        ("long int", "long"),  # no arguments: names are as they are
    ],
)
def test_other_things_have_other_names_in_ids(one: str, other: str) -> None:
    assert by_any_compiler(one) != by_any_compiler(other)
