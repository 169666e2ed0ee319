"""What a program shows of threads beside names of functions: its system calls, its texts, the files that it loads."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.model.threadsigns import UNKNOWN_FLAGS, ThreadSigns, shares_memory
from tests.elf.conftest import Build, Read

THREAD = """
#include <pthread.h>
static void *work(void *p) { return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); return pthread_join(t, 0); }
"""
FORK = "#include <unistd.h>\nint main(void) { return fork(); }\n"
LOADS = """
#define _GNU_SOURCE
#include <dlfcn.h>
extern int pthread_create() __attribute__((weak));
int main(int n, char **v) {
  const char *file = CHOSEN;
  void *library = dlopen(file, RTLD_NOW);
  return dlsym(library, "NAME") != 0 && pthread_create != 0;
}
"""


def loaded(build: Build, chosen: str, looked_up: str, *flags: str) -> ThreadSigns:
    text = LOADS.replace("CHOSEN", chosen).replace("NAME", looked_up)
    (image,) = read_images(str(build(text, "gcc", "-w", *flags)), types=False)
    return image.signs


@pytest.mark.parametrize("compiler", ["gcc", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"])
def test_a_thread_is_asked_for_by_clone_and_fork_asks_for_none(build: Build, read: Read, compiler: str) -> None:
    calls = [
        read(build(text, compiler, "-O1", "-static", "-pthread", name=name)).signs.clones
        for name, text in (("thread", THREAD), ("fork", FORK))
    ]
    assert any(call.flags == UNKNOWN_FLAGS and not call.handed for call in calls[0])
    assert not any(shares_memory(call.flags) for call in calls[1] if not call.handed)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])
def test_files_that_a_program_loads_are_known_where_its_code_names_them(
    build: Build, native: None, level: str, kind: str
) -> None:
    pic = "-fpie" if kind == "-pie" else "-fno-pie"
    constant = loaded(build, '"libm.so.6"', "sin", level, kind, pic)
    if level == "-O2":
        assert constant.loaded == {"libm.so.6"}
    assert loaded(build, "v[1]", "sin", level, kind, pic).loaded == {""}
    assert loaded(build, "0", "sin", "-O2", kind, pic).loaded == frozenset()
    assert "pthread_create" in constant.weak


def test_names_of_functions_that_start_threads_are_found_where_functions_are_looked_up(
    build: Build, read: Read, native: None
) -> None:
    assert loaded(build, "0", "pthread_create", "-O2").looked_up == {"pthread_create"}
    assert loaded(build, "0", "pthread_creates", "-O2").looked_up == frozenset()
    printed = '#include <stdio.h>\nint main(void) { return puts("pthread_create"); }\n'
    assert read(build(printed, "gcc", name="printed")).signs.looked_up == frozenset()
