"""Names as a report shows them: qualified, without parameters, clones kept."""

from __future__ import annotations

import pytest

from elfscan.demangle import demangle
from sharing.naming import readable, readable_names, without_parameters


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("main", "main"),
        ("tc_release", "tc_release"),
        ("_Z16tc_release_tableP5Table", "tc_release_table"),
        ("_ZN5Cache6lookupEi", "Cache::lookup"),
        ("_ZN5Cache6lookupEi.part.0", "Cache::lookup.part.0"),
        ("helper.constprop.0", "helper.constprop.0"),
        ("_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work"),
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
