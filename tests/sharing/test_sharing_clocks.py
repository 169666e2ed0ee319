"""Whether a program can end after a time: what it would have to call for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sharing.knowledge.clocks import may_end_by_time
from sharing.model.image import Image
from tests.builders.image import Builder

WORKS = frozenset({"pthread_create@GLIBC_2.34", "pthread_join@GLIBC_2.34", "printf@GLIBC_2.2.5"})


def program(*imports: str, needed: tuple[str, ...] = ("libc.so.6", "libstdc++.so.6")) -> Image:
    return replace(Builder().image(), imports=WORKS | set(imports), needed=needed)


def test_a_program_without_a_clock_ends_when_its_work_is_done() -> None:
    assert not may_end_by_time(program())


@pytest.mark.parametrize(
    "name",
    [
        "clock_gettime@GLIBC_2.17",
        "usleep",
        "alarm",
        "_ZNSt6chrono3_V212system_clock3nowEv",
        "sigaction",
        "read",
        "recv",
    ],
)
def test_one_that_tells_the_time_or_waits_for_others_may_end_by_it(name: str) -> None:
    assert may_end_by_time(program(name))


def test_what_a_library_does_is_not_known() -> None:
    assert may_end_by_time(program(needed=("libc.so.6", "libbenchmark.so.1")))
    assert may_end_by_time(program("dlopen"))


def test_what_imports_nothing_is_not_known() -> None:
    assert may_end_by_time(replace(Builder().image(), imports=frozenset(), needed=()))
