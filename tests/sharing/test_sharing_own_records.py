"""Of an array with two indexes, one of them the thread's own, the latter says which threads share a line."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
struct record { RECORD } __attribute__((aligned(ALIGNED)));
static struct record records[16];
static __thread int slot;
static int next;
void *worker(void *of) {
  slot = __sync_fetch_and_add(&next, 1) % 16;
  for (long i = 0; i < 1000000; i++) {
    records[slot].at[((int *)of)[i & 255] & 3]++;
    __asm__ volatile("" : : : "memory");
  }
  return 0;
}
int main(int n, char **v) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, worker, v);
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    ("record", "aligned", "said"),
    [
        ("int at[4];", 16, "16 elements of 16 bytes, 4 per line"),
        ("long at[4];", 32, "16 elements of 32 bytes, 2 per line"),
        ("int at[4]; long more[6];", 64, ""),
        ("int at[4];", 64, ""),
    ],
)
def test_records_of_threads_share_a_line_where_they_are_smaller(
    compiled: Compile, compiler: str, record: str, aligned: int, said: str
) -> None:
    flags = ("-O2", "-g", f"-DRECORD={record}", f"-DALIGNED={aligned}")
    image = next(read_images(str(compiled(compiler, "c", PROGRAM, *flags))))
    findings = judge(image, JudgeOptions(64, 128, ("packed-thread-slots",)), default_knowledge()).findings
    messages = [finding.message for finding in findings]
    assert [said in message for message in messages] == ([True] if said else [])
