"""How many threads run a callable that ``std::thread`` is handed: one where the program makes and starts it once.

The oracle is what each program does.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.knowledge import default_knowledge
from sharing.static.roots import thread_structure
from tests import cpp

HEAD = """
#include <thread>
#include <vector>
long hits[64];
volatile bool stop;
__attribute__((noinline)) long crunch(long x) {
  for (int i = 0; i < 20; i++) x = x * 6364136223846793005 + 1;
  return x;
}
__attribute__((noinline)) void work() { for (long s = 1; !stop;) { s = crunch(s); hits[s & 63]++; } }
"""
ONCE = {
    "a lambda": "int main() { std::thread t([] { work(); stop = true; }); t.join(); }",
    "one that ends by itself": "int main() { std::jthread t([] { work(); stop = true; }); crunch(1); }",
    "one of an object": """
struct Server {
  std::thread t;
  Server() : t([this] { loop(); }) {}
  ~Server() { t.join(); }
  void loop() { work(); stop = true; }
};
int main() { Server s; return (int)crunch(1); }""",
    "two of two kinds": """
int main() {
  std::thread t([] { work(); stop = true; }), u([] { work(); hits[0] = 1; });
  t.join(); u.join();
}""",
    "one that a function starts": """
__attribute__((noinline)) void start(std::thread &t) { t = std::thread([] { work(); stop = true; }); }
int main() { std::thread t; start(t); t.join(); }""",
}
SEVERAL = {
    "a loop": """
int main(int n, char **) {
  std::thread t[8];
  for (int i = 0; i < n; i++) t[i] = std::thread([] { work(); stop = true; });
  for (int i = 0; i < n; i++) t[i].join();
}""",
    "a vector": """
int main(int n, char **) {
  std::vector<std::thread> t;
  for (int i = 0; i < n; i++) t.emplace_back([] { work(); stop = true; });
  for (auto &one : t) one.join();
}""",
    "a function that is called twice": """
__attribute__((noinline)) void start(std::thread &t) { t = std::thread([] { work(); stop = true; }); }
int main() { std::thread t, u; start(t); start(u); t.join(); u.join(); }""",
    "a function whose caller is called twice": """
__attribute__((noinline)) void start(std::thread &t) { t = std::thread([] { work(); stop = true; }); crunch(2); }
__attribute__((noinline)) void both(std::thread &t) { crunch(1); start(t); crunch(3); }
int main() { std::thread t, u; both(t); both(u); t.join(); u.join(); }""",
    "one object for two threads": """
int main() { auto f = [] { work(); stop = true; }; std::thread t(f), u(f); t.join(); u.join(); }""",
}
KINDS = {
    "gcc -O2": ("g++", "-O2"),
    "gcc -O0": ("g++", "-O0"),
    "clang -O2": ("clang++-19", "-O2"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*ONCE, *SEVERAL])
def test_threads_of_an_object_are_counted(tmp_path: Path, name: str, kind: str) -> None:
    """Also where a program has no symbols any more."""
    tool, level = KINDS[kind]
    source, program = tmp_path / "program.cpp", tmp_path / "program"
    source.write_text(HEAD + {**ONCE, **SEVERAL}[name] + "\n")
    cpp.build(tool, source, program, level, "-std=c++20", "-w", "-pthread")
    assert several(program) == (name in SEVERAL)
    if kind == "gcc -O2":
        subprocess.run(["strip", str(program)], check=True)
        assert several(program) == (name in SEVERAL), "stripped"


def several(program: Path) -> bool:
    """Is an entry of threads said to run in several of them?"""
    (image,) = read_images(str(program), types=False)
    found = thread_structure(image, default_knowledge(), assume_threads=False)
    entries = [root for root in found.roots if root.function >= 0 and root.name != "main"]
    assert entries
    return any(root.many for root in entries)
