"""Who is named for a pair that moved apart or together: what grew in front, also where padding lies between the two."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate.explaining.run import ExplainRequest, explain
from sharing.model.comparison import POSSIBLE_FROM, CauseKind, Comparison

# The array in front gets a larger alignment with its size, so that the padding behind it changes too.
PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
char banner[SIZE] = "linemate";
_Atomic int verbose = 1;
long limits[1] = {7};
char table[16] = "table";
_Atomic long done = 1;
static void *poll(void *arg) {
  long seen = 0;
  while (atomic_load(&verbose)) seen += limits[0] + banner[seen & 7] + table[seen & 7];
  return (void *)seen;
}
static void *serve(void *arg) {
  for (;;) atomic_fetch_add(&done, 1);
}
int main(int argc, char **argv) {
  pthread_t t[5];
  for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, serve, (void *)i);
  pthread_create(&t[4], 0, poll, 0);
  pthread_join(t[4], 0);
}
"""

# How many elements there are is known by the symbol's size alone, and whose they are is handed over by the library.
ELEMENTS = """
#include <atomic>
#include <thread>
#include <vector>
struct Session { std::atomic<long> hits; int id; std::atomic<long> bytes; };
Session sessions[4];
__attribute__((noinline)) void serve(int id, long rounds) {
  for (long i = 0; i < rounds; ++i) sessions[id].hits.fetch_add(1, std::memory_order_relaxed);
}
int main(int argc, char **) {
  std::vector<std::thread> t;
  for (int i = 0; i < 4; ++i) t.emplace_back(serve, i, argc * 1000000L);
  for (auto &x : t) x.join();
}
"""


def built(folder: Path, size: int, name: str) -> Path:
    (folder / "p.c").write_text(PROGRAM)
    command = ["gcc", "-O2", "-g", "-fno-toplevel-reorder", f"-DSIZE={size}", "p.c", "-pthread", "-o", name]
    subprocess.run(command, cwd=folder, check=True)
    return folder / name


def compared(old: Path, new: Path) -> Comparison:
    return explain(ExplainRequest(str(old), str(new)))


def test_of_two_with_padding_between_what_grew_in_front_is_named(tmp_path: Path) -> None:
    found = compared(built(tmp_path, 24, "old"), built(tmp_path, 32, "new"))
    pairs = [c for c in found.causes if c.kind is CauseKind.LAYOUT and (*c.new_line_mates, *c.lost_line_mates)]
    assert pairs, found.causes
    assert "banner" in pairs[0].summary
    assert "without a symbol" not in pairs[0].summary


@pytest.mark.parametrize("stripped_first", [False, True])
def test_a_file_without_symbols_changed_nothing_by_that(tmp_path: Path, stripped_first: bool) -> None:
    (tmp_path / "e.cc").write_text(ELEMENTS)
    for level in ("-O1", "-O2"):  # two links, so that they are not one build
        subprocess.run(["g++", level, "-g", "e.cc", "-pthread", "-o", level], cwd=tmp_path, check=True)
    whole, bare = tmp_path / "-O1", tmp_path / "-O2"
    subprocess.run(["strip", "--", str(bare)], check=True)
    found = compared(bare, whole) if stripped_first else compared(whole, bare)
    assert [c.summary for c in found.causes if "sessions" in c.summary and c.strength >= POSSIBLE_FROM] == []
