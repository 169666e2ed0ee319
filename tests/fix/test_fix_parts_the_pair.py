"""Each finding's own edits part the pair that it names, also where the line's next finding would name another pair, and
bring no other two together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from linemate.cli import main
from tests.check.repositories import need_analyzer

PROGRAM = """
#include <atomic>
#include <cstdint>
#include <thread>
struct Service {
  std::atomic<uint64_t> ticks{0};
  uint64_t rounds = 64;
  uint64_t mask = 0xffff;
  uint64_t jobs = 0;
  uint64_t bytes = 0;
};
Service service;
std::atomic<bool> stop;
std::atomic<uint64_t> sums[3 * 16];
static void produce() {
  while (!stop) {
    for (int i = 0; i < 50; i++)
      service.ticks.fetch_add(1, std::memory_order_relaxed);
    service.jobs++;
    service.bytes += 16;
  }
}
static void work(int number) {
  while (!stop) {
    uint64_t sum = service.ticks.load(std::memory_order_relaxed);
    for (uint64_t i = 0; i < service.rounds; i++)
      sum = sum * 31 + (i & service.mask);
    sums[number * 16].store(sum, std::memory_order_relaxed);
  }
}
int main() {
  std::thread producer(produce), first(work, 1), second(work, 2);
  producer.join();
  first.join();
  second.join();
  return static_cast<int>(service.jobs + service.bytes);
}
"""


@pytest.fixture
def found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Any:
    """``found(text)``: the findings of the program that say that something disturbs what is hardly ever written."""
    need_analyzer()

    def run(text: str) -> list[dict[str, Any]]:
        source = tmp_path / "service.cc"
        source.write_text(text)
        capfd.readouterr()
        main(["check", str(source), "--format", "json", "--", "-O2", "-std=c++17"])
        every = json.loads(capfd.readouterr().out)["findings"]
        return [one for one in every if one["rule"] == "written-beside-read-mostly"]

    return run


def edited(text: str, finding: dict[str, Any]) -> str:
    edits = {(e["begin"], e["end"], e["replacement"]) for remedy in finding["remedies"] for e in remedy["edits"]}
    assert edits
    for begin, end, replacement in sorted(edits, reverse=True):
        text = text[:begin] + replacement + text[end:]
    return text


def test_the_reader_that_is_named_keeps_its_line(found: Any) -> None:
    findings = found(PROGRAM)
    assert findings
    for finding in findings:
        reader = finding["participants"][1]["name"]
        left = [[one["name"] for one in other["participants"]] for other in found(edited(PROGRAM, finding))]
        assert not [names for names in left if reader in names], finding["id"]


def test_what_is_parted_by_hand_is_not_found(found: Any) -> None:
    """The near miss: so each line is judged by what is on it."""
    assert found(PROGRAM.replace("uint64_t rounds", "alignas(64) uint64_t rounds").replace(
        "uint64_t jobs", "alignas(64) uint64_t jobs")) == []  # fmt: skip


RECORD = """
#include <pthread.h>
#include <stdlib.h>
struct codec { int (*encode)(int); int (*decode)(int); };
struct session {
  const struct codec *ops;
  unsigned limit;
  unsigned long in;
  pthread_mutex_t in_lock;
  BETWEEN
  unsigned long out;
  char name[32];
};
static int turn(int value) { return value * 31 + 7; }
static const struct codec plain = { turn, turn };
static volatile int stop;
static void *producer(void *arg) {
  struct session *s = arg;
  int value = 1;
  while (!stop) {
    value = s->ops->encode(value);
    pthread_mutex_lock(&s->in_lock);
    if (s->in < s->limit) s->in++;
    pthread_mutex_unlock(&s->in_lock);
  }
  return NULL;
}
static void *consumer(void *arg) {
  struct session *s = arg;
  int value = 1;
  while (!stop) {
    value = s->ops->decode(value);
    __atomic_fetch_add(&s->out, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}
int main(void) {
  struct session *s = calloc(1, sizeof *s);
  pthread_t threads[4];
  s->ops = &plain;
  s->limit = ~0u;
  pthread_mutex_init(&s->in_lock, NULL);
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], NULL, producer, s);
    pthread_create(&threads[2 + i], NULL, consumer, s);
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return (int)(s->in + s->out);
}
"""


def worse_than_low(folder: Path, capfd: pytest.CaptureFixture[str], text: str) -> list[dict[str, Any]]:
    source = folder / "session.c"
    source.write_text(text)
    capfd.readouterr()
    main(["check", str(source), "--format", "json", "--", "-O2", "-pthread"])
    every: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["findings"]
    return [one for one in every if one["severity"] not in ("note", "low")]


def test_what_comes_behind_the_edit_does_not_meet_what_was_on_the_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The lock is parted from what is before it, and from what was on the next line."""
    need_analyzer()
    text = RECORD.replace("  BETWEEN\n", "")
    (finding,) = worse_than_low(tmp_path, capfd, text)
    assert worse_than_low(tmp_path, capfd, edited(text, finding)) == []


def test_what_is_far_from_the_line_asks_for_no_edit_of_its_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The near miss: nothing comes behind the lock that was not on its line."""
    need_analyzer()
    (finding,) = worse_than_low(tmp_path, capfd, RECORD.replace("BETWEEN", "char text[256];"))
    moved = [remedy["text"] for remedy in finding["remedies"]]
    assert moved
    assert not any("out" in text.split(":")[0] for text in moved)


PORT = """
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
struct port {
  char name[12];
  uint16_t id, mtu;
  uint32_t cursor;
  uint32_t seed;
  uint64_t frames;
  uint64_t octets;
  const uint32_t *pool;
  uint32_t npool;
};
static struct port ports[4] __attribute__((aligned(64)));
static volatile int stop;
static void *receive(void *arg) {
  struct port *p = arg;
  uint64_t sum = 0;
  while (!stop) {
    for (int i = 0; i < 8; i++) {
      p->seed = p->seed * 1664525u + 1013904223u;
      sum += p->pool[p->cursor % p->npool] + p->id;
      p->cursor++;
    }
  }
  return (void *)(uintptr_t)sum;
}
static void *transmit(void *arg) {
  struct port *p = arg;
  while (!stop)
    for (int i = 0; i < 8; i++) {
      p->frames++;
      p->octets += p->mtu;
    }
  return NULL;
}
int main(void) {
  pthread_t threads[8];
  for (int i = 0; i < 4; i++) {
    ports[i].id = (uint16_t)i;
    ports[i].mtu = 1500;
    ports[i].npool = 64;
    ports[i].pool = calloc(64, sizeof(uint32_t));
    pthread_create(&threads[i], NULL, receive, &ports[i]);
    pthread_create(&threads[4 + i], NULL, transmit, &ports[i]);
  }
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  return (int)ports[0].octets;
}
"""


def test_what_moves_is_what_the_remedy_names(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It may be none of those that the finding is about: then no other takes its place in the edits."""
    need_analyzer()
    named = [one for one in worse_than_low(tmp_path, capfd, PORT) if one["remedies"] and one["remedies"][0]["edits"]]
    assert named
    for finding in named:
        for remedy in finding["remedies"]:
            moved = remedy["moves"].rpartition(".")[2]
            assert moved
            assert moved in remedy["text"]
            if remedy["kind"] == "pad-element":
                continue  # the edit is that of the elements' type
            line = PORT[: remedy["edits"][0]["begin"]].count("\n")
            assert moved in PORT.splitlines()[line]


def test_writers_are_parted_from_writers_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    need_analyzer()
    text = PORT
    for finding in [one for one in worse_than_low(tmp_path, capfd, PORT) if "port" in str(one["participants"])][:1]:
        text = edited(text, finding)
    left = worse_than_low(tmp_path, capfd, text)
    assert not [one for one in left if one["rule"] == "independent-writers"]
