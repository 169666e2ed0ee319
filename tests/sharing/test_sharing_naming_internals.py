"""Members of std::atomic are the program's variables: their insides are not named."""

from __future__ import annotations

import pytest

from sharing.basics.naming import without_internals


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("_M_i", ""),
        ("requests._M_i", "requests"),
        ("head._M_b._M_p", "head"),
        ("hits._M_base._M_i", "hits"),
        ("hits.__a_.__a_value", "hits"),
        ("slots[].hits._M_i", "slots[].hits"),
        ("__count", "__count"),
        ("list._M_impl._M_node", "list._M_impl._M_node"),
        ("x_M_i", "x_M_i"),
        ("", ""),
    ],
)
def test_shown(path: str, shown: str) -> None:
    assert without_internals(path) == shown


@pytest.mark.parametrize("kind", ["core::sync::atomic::AtomicU64", "core::sync::atomic::Atomic<u64>"])
def test_the_value_of_an_atomic_of_rust_is_the_programs_member(kind: str) -> None:
    via = ("server::Stats", kind, "core::cell::UnsafeCell<u64>")
    assert without_internals("requests.v.value", via) == "requests"
    assert without_internals("slots[].v.value.__0", via) == "slots[]"
    assert without_internals("v.value", via) == ""
    assert without_internals("requests.v.value", ("server::Stats", "server::V")) == "requests.v.value"
    assert without_internals("rev.value", via) == "rev.value"
