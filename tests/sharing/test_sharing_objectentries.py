"""Threads that are handed objects: entries by the object's table of functions, where no name says it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.knowledge import default_knowledge
from sharing.model import Image
from sharing.static.callgraph import build
from tests.sharing.conftest import Compile

CLOSURES = """
#include <atomic>
#include <thread>
std::atomic<long> produced, consumed, told;
struct Shown { virtual ~Shown() {} virtual void show() { told++; } };
__attribute__((noinline)) void print(Shown &it) { it.show(); }
int main(int n, char **) {
  Shown shown;
  print(shown);
  std::thread a([] { for (;;) produced++; });
  std::thread workers[2];
  for (auto &one : workers) one = std::thread([] { for (;;) consumed++; });
  a.join();
}
"""
TABLES = """
#include <pthread.h>
struct steps { void (*open)(void); void (*close)(void); void (*step)(void); };
volatile long opened, closed, stepped;
static void open_it(void) { opened++; }
static void close_it(void) { closed++; }
static void step_it(void) { stepped++; }
const struct steps steps = {open_it, close_it, step_it};
static void *work(void *p) { for (;;) stepped++; }
__attribute__((noinline)) void run(const struct steps *s) { s->open(); s->step(); }
int main(void) { pthread_t t; run(&steps); pthread_create(&t, 0, work, 0); return pthread_join(t, 0); }
"""


def stripped(program: Path) -> Image:
    out = program.with_suffix(".stripped")
    subprocess.run(["strip", "-o", out, program], check=True)
    return next(read_images(str(out)))


def writers(image: Image, full: Image, name: str) -> set[int]:
    """Addresses of the functions that write a variable which only the unstripped file names."""
    at = next(v["address"] for v in full.variables if v["name"] >= 0 and full.names[v["name"]] == name)
    rows = image.sites["function"][image.sites["target"] == at]
    return set(image.functions["address"][rows].tolist())


def started(image: Image) -> dict[int, bool]:
    """Addresses of thread entries, and whether several such threads may run."""
    roots = build(image, default_knowledge()).roots
    return {int(image.functions["address"][root.function]): root.many for root in roots if root.name != "main"}


@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
class TestClosures:
    def test_each_is_what_a_thread_runs(self, compiled: Compile, tool: str) -> None:
        program = compiled(tool, "cpp", CLOSURES, "-O2", "-std=c++17")
        image, full = stripped(program), next(read_images(str(program)))
        found = started(image)
        assert writers(image, full, "produced") & found.keys()
        assert any(found[at] for at in writers(image, full, "consumed") & found.keys())  # started in a loop

    def test_with_names_no_other_object_is_one(self, compiled: Compile, tool: str) -> None:
        program = compiled(tool, "cpp", CLOSURES, "-O2", "-std=c++17")
        full = next(read_images(str(program)))
        assert len(started(full)) == 2
        assert not started(full).keys() & writers(full, full, "told")


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_programs_own_table_of_functions_is_no_object_of_a_thread(compiled: Compile, tool: str) -> None:
    program = compiled(tool, "c", TABLES, "-O2", "-pthread")
    image, full = stripped(program), next(read_images(str(program)))
    assert len(started(image)) == 1
    assert started(image).keys() <= writers(image, full, "stepped")
