"""Statically linked programs: whether their code asks the kernel for a thread."""

from __future__ import annotations

import pytest

from tests.elf.conftest import Build, Read

THREAD = """
#include <pthread.h>
static void *work(void *p) { return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); return pthread_join(t, 0); }
"""
FORK = "#include <unistd.h>\nint main(void) { return fork(); }\n"


@pytest.mark.parametrize("compiler", ["gcc", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"])
def test_a_thread_is_asked_for_by_clone_and_fork_asks_for_none(build: Build, read: Read, compiler: str) -> None:
    counts = [
        read(build(text, compiler, "-O1", "-static", "-pthread", name=name)).counts["clone_system_calls"]
        for name, text in (("thread", THREAD), ("fork", FORK))
    ]
    assert counts[0] > 0
    assert counts[1] == 0
