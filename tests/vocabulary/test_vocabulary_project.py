"""Rows of a project's ``linemate.toml``, as binaries and as source are read with them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from linemate.config import load_config
from linemate.pipeline import vocabulary
from sharing.model.project import ProjectConfig
from sharing.model.vocabulary import LockKind, Vocabulary
from tests.analyzer_functions.facts_in_words import read_unit, rows, tool

PROJECT = """
[inline_namespaces]
my = ["v*"]

[[lock]]
type = "my::Latch"
kind = "rwlock"
lock = [".Acquire"]
lock_shared = [".AcquireShared"]
unlock = [".Release"]
try_lock = [{ function = "my_latch_try", argument = 1, success = 0 }]
[lock.abi.glibc-64]
size = 16
hot = [[0, 4]]
read = [[8, 16]]

[[guard]]
type = "my::Locker"
of = "my::Latch"
shared = true

[[thread]]
function = "my::Pool::submit"
entry_argument = 1
many = true
"""
SOURCE = """
namespace my {
inline namespace v7 {
class Latch {
  int state = 0; long owner = 0;
public:
  void Acquire(); void AcquireShared(); void Release(); void Reset();
};
class Locker {
public:
  explicit Locker(Latch &); ~Locker();
};
class Pool {
public:
  template <class F> void submit(F f);
};
}
}
extern "C" int my_latch_try(int, my::Latch *);
static my::Latch latch;
static int data;
void entry() {}
void f(my::Pool &p) {
  latch.Acquire();
  latch.Release();
  latch.Reset();
  if (my_latch_try(0, &latch) == 0)
    data = 1;
  my::Locker l(latch);
  p.submit(entry);
}
"""


@pytest.fixture
def project(tmp_path: Path) -> ProjectConfig:
    path = tmp_path / "linemate.toml"
    path.write_text(PROJECT)
    return load_config(path)


def test_binaries_are_read_with_a_projects_rows(project: ProjectConfig) -> None:
    knowledge = vocabulary(project)
    row = knowledge.lock_types.find("my::v7::Latch")
    assert (knowledge.locks[row].name, knowledge.locks[row].kind) == ("my::Latch", LockKind.RWLOCK)
    assert knowledge.lock_calls("_ZN2my2v75Latch7AcquireEv") == [(0, row, "lock")]
    assert knowledge.lock_calls("_ZN2my2v76LockerC2ERNS0_5LatchE") == [(1, row, "lock")]
    assert knowledge.lock_calls("my_latch_try") == [(1, row, "lock")]
    assert knowledge.lock_calls("_ZN2my2v75Latch5ResetEv") == []
    assert knowledge.lock_calls("_ZN2my5other5Latch7AcquireEv") == []
    start = knowledge.thread_start("_ZN2my2v74Pool6submitIPFvvEEEvT_")
    assert start is not None
    assert (start.entry_argument, start.many) == (1, True)


def test_source_is_read_with_a_projects_rows(project: ProjectConfig, tmp_path: Path) -> None:
    if tool() is None:
        pytest.skip("linemate-facts is not built")
    source, given = tmp_path / "a.cpp", tmp_path / "rows.json"
    source.write_text(SOURCE)
    given.write_bytes(msgspec.json.encode(project.rows))
    unit = read_unit(source, [], "--project-rows", str(given))
    facts = next(facts for identity, facts in unit.document["functions"] if "1f" in identity)
    said = [(row[1], facts["locks"][row[0]][6], facts["locks"][row[0]][5]) for row in rows(facts["lock_ops"], 9)]
    # 1 lock, 2 unlock, 4 attempt; the guard holds it for reading, to the end of the function.
    assert sorted(said) == [
        (1, "my::Latch", 0),
        (1, "my::Latch", 1),
        (2, "my::Latch", 0),
        (2, "my::Latch", 1),
        (4, "my::Latch", 0),
    ]
    assert [(unit.symbol(s[0]), s[1], s[2]) for s in facts["starts"]] == [("_Z5entryv", "my::Pool::submit", 1)]
    plain = read_unit(source, [])
    assert not any(facts.get("lock_ops") for _, facts in plain.document["functions"])


def test_rows_are_the_same_when_they_come_back(project: ProjectConfig) -> None:
    again = msgspec.json.decode(msgspec.json.encode(project.rows), type=Vocabulary)
    assert again == project.rows
    assert not vocabulary(ProjectConfig()).lock_calls("my_latch_try")
