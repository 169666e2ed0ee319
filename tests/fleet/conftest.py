"""A tree of small programs of which two have the same lock beside a counter, and a third has it alone on its line."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_SOURCE = """#include <pthread.h>
struct registry { pthread_mutex_t lock; };
#define NEXT __attribute__((section("shared_data")))
struct registry registry NEXT __attribute__((aligned(64))) = {PTHREAD_MUTEX_INITIALIZER};
long hits NEXT PLACE = 1;
long limit = 5;
#ifdef OTHER
long unrelated[OTHER];
#endif
static void *work(void *unused) {
  for (long i = 0; i < 1000000; i++) {
    pthread_mutex_lock(&registry.lock);
    pthread_mutex_unlock(&registry.lock);
    hits += i;
  }
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  return hits == limit;
}
"""


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """one, two (other bytes), padded, copy (of one), below/half (of one), text."""
    folder = tmp_path_factory.mktemp("fleet") / "tree"
    (folder / "below").mkdir(parents=True)
    (source := folder.parent / "program.c").write_text(_SOURCE)
    for name, flags in (("one", "-DPLACE="), ("two", "-DPLACE= -DOTHER=7"), ("padded", "-DPLACE=ALIGNED")):
        common = "-O1 -fno-toplevel-reorder -pthread -Wl,--build-id=sha1 -DALIGNED=__attribute__((aligned(64)))"
        command = ["gcc", *common.split(), *flags.split(), str(source), "-o", str(folder / name)]
        subprocess.run(command, check=True)
    shutil.copy(folder / "one", folder / "copy")
    (folder / "below" / "half").write_bytes((folder / "one").read_bytes()[:3000])
    (folder / "text").write_text("no program")
    return folder
