"""Which functions of Rust and Go a program has from a library, by name."""

from __future__ import annotations

import pytest

from sharing.knowledge import default_knowledge
from sharing.model import FunctionFlag
from sharing.static.librarycode import library_code
from tests.builders.image import Builder


def is_library(name: str, flags: int = 0) -> bool:
    b = Builder()
    b.function(name, flags=flags)
    return library_code(b.image(), default_knowledge())(0)


@pytest.mark.parametrize(
    "name",
    [
        "core::ptr::drop_in_place<server::Job>",
        "<alloc::boxed::Box<T,A> as core::fmt::Debug>::fmt",
        "<&T as core::fmt::Debug>::fmt",
        "std::io::stdio::cleanup",
        "tokio::runtime::task::raw::drop_abort_handle",
    ],
)
def test_functions_of_rusts_libraries(name: str) -> None:
    assert is_library(name)


@pytest.mark.parametrize(
    "name",
    [
        "<server::Parser as server::Stage>::step",
        "<server::Parser as core::fmt::Debug>::fmt",
        "server::main::{{closure}}",
        "core::ops::function::FnOnce::call_once{{vtable.shim}} #2",  # of a closure, whosever that is
        "_ZN4core3runEv",  # C++
        "core_run",
    ],
)
def test_others(name: str) -> None:
    assert not is_library(name)


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("runtime.gcenable.gowrap1", True),
        ("os.(*File).Write", True),
        ("internal/poll.(*errNetClosing).Error", True),
        ("main.(*hasher).Work", False),
        ("example.org/os/queue.(*Pool).run", False),
    ],
)
def test_packages_of_go(name: str, library: bool) -> None:
    assert is_library(name, FunctionFlag.GO) is library
    assert not is_library(name), "of another language"
