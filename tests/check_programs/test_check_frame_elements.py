"""Elements of an array in the frame of the function that hands one to each thread which it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.finding import Finding, Severity

C = """
#include <pthread.h>
#include <stddef.h>
struct job { long done, seen; } TYPE;
static void *work(void *given) {
  struct job *mine = given;
  for (;;) mine->done++;
}
void run(int count) {
  pthread_t threads[8];
  struct job jobs[8] = {{0}};
  for (int i = 0; i < count; i++) { START; }
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}
int main(int argc, char **argv) { (void)argv; run(argc); return 0; }
"""
CXX = """
#include <functional>
#include <thread>
struct TYPE Job { long done = 0, seen = 0; };
static void work(Job &mine) { for (;;) { mine.done++; mine.seen++; } }
int main() {
  std::thread threads[4];
  Job jobs[4];
  for (int i = 0; i < 4; i++) threads[i] = std::thread(work, std::ref(jobs[AT]));
  for (auto &one : threads) one.join();
  return 0;
}
"""
STARTS = {
    "address": "pthread_create(&threads[i], NULL, work, &jobs[i])",
    "sum": "pthread_create(&threads[i], NULL, work, jobs + i)",
    "local": "struct job *one = &jobs[i]; pthread_create(&threads[i], NULL, work, one)",
}


def found(folder: Path, name: str, text: str, *flags: str) -> list[Finding]:
    """What is said of elements at low and above."""
    if tool_path("linemate-facts") is None:
        pytest.skip("linemate-facts is not built")
    source = folder / name
    source.write_text(text)
    options = CheckOptions(facts=FactsRequest(sources=(str(source),), flags=flags), min_severity=Severity.LOW)
    rules = ("packed-thread-slots", "thread-elements-meet")
    return [one for one in check_program(read_program(options), options).findings if one.rule in rules]


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_elements_that_threads_are_handed(tmp_path: Path, start: str) -> None:
    (one,) = found(tmp_path, "jobs.c", C.replace("TYPE", "").replace("START", start))
    assert (one.rule, one.severity) == ("packed-thread-slots", Severity.MEDIUM)
    assert one.participants[0].full_name == "struct job.done"


@pytest.mark.parametrize(
    ("kind", "start"),
    [
        ("__attribute__((aligned(64)))", STARTS["address"]),
        ("", "pthread_create(&threads[i], NULL, work, &jobs[0])"),
        ("", "pthread_create(&threads[i], NULL, work, malloc(sizeof *jobs))"),
    ],
    ids=["aligned", "always the first", "an object each"],
)
def test_not_others(tmp_path: Path, kind: str, start: str) -> None:
    text = C.replace("#include <stddef.h>", "#include <stdlib.h>")
    assert not found(tmp_path, "jobs.c", text.replace("TYPE", kind).replace("START", start))


def test_elements_that_references_lead_to(tmp_path: Path) -> None:
    text = CXX.replace("TYPE", "").replace("AT", "i")
    assert [one.severity for one in found(tmp_path, "jobs.cc", text, "-std=c++20")] == [Severity.MEDIUM]


@pytest.mark.parametrize(("kind", "at"), [("alignas(64)", "i"), ("", "0")])
def test_not_elements_that_are_lines_or_one(tmp_path: Path, kind: str, at: str) -> None:
    text = CXX.replace("TYPE", kind).replace("AT", at)
    assert not found(tmp_path, "jobs.cc", text, "-std=c++20")


NAMED = """
#include <pthread.h>
struct slot { long first; char between[64]; pthread_mutex_t lock; long last; };
static struct slot slots[8];
void configure(int at, long value) { slots[at].first = value; slots[at].last = value; }
static void *work(void *given) {
  for (unsigned long at = (unsigned long)given;; at = at * 13 + 7) {
    struct slot *one = &slots[at % 8];
    pthread_mutex_lock(&one->lock);
    one->first++;
    one->last++;
    pthread_mutex_unlock(&one->lock);
  }
}
int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < 8; i++) pthread_mutex_init(&slots[i].lock, NULL);
  pthread_t threads[8];
  for (long i = 0; i < argc; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  configure(argc % 8, argc);
  for (int i = 0; i < argc; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""


def test_those_who_do_it_again_and_again_are_named_first(tmp_path: Path) -> None:
    (one,) = found(tmp_path, "slots.c", NAMED)
    assert one.rule == "thread-elements-meet"
    assert [each.writers for each in one.participants] == [("work",), ("work",)]


SUPERVISED = """
static void *supervise(void *given) {
  pthread_t threads[8];
  for (long i = 0; i < (long)given; i++) {
    slots[i].first = slots[i].last = i;
    pthread_create(&threads[i], NULL, work, (void *)i);
  }
  for (long i = 0; i < (long)given; i++) pthread_join(threads[i], NULL);
  return NULL;
}
int main(int argc, char **argv) {
  (void)argv;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, supervise, (void *)(long)argc);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""


def test_what_sets_them_up_where_threads_start_is_not_named(tmp_path: Path) -> None:
    text = NAMED[: NAMED.index("int main")]
    slots, work = text[: text.index("void configure")], text[text.index("static void *work") :]
    (one,) = found(tmp_path, "slots.c", f"{slots}static void *work(void *);{SUPERVISED}{work}")
    assert [each.writers for each in one.participants] == [("work",), ("work",)]
