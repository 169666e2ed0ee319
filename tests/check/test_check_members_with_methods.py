"""A member that only its own class's methods touch is one of the object that a function was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from linemate.pipeline import check_program
from linemate.source import read_program
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Severity

PROGRAM = """
#include <pthread.h>
class Count {
public:
  void up() { __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED); }
  long now() const { return __atomic_load_n(&n, __ATOMIC_RELAXED); }
private:
  long n = 0;
};
struct Queue {
  Queue(long limit) : limit(limit), mask(limit * 2) {}
  void enter() { %(changed)s; }
  long room() const { return limit + mask; }
  Count users;
  %(between)s
  long limit, mask;
};
long work(long);
static void *enters(void *q) { for (;;) static_cast<Queue *>(q)->enter(); return q; }
static void *reads(void *q) { for (;;) work(static_cast<Queue *>(q)->room()); return q; }
int main(int argc, char **) {
  Queue *q = new Queue(argc);
  pthread_t threads[8];
  for (int i = 0; i < 8; i++)
    pthread_create(&threads[i], 0, i < 4 ? enters : reads, q);
  return pthread_join(threads[0], 0) + (int)q->users.now();
}
"""


def findings(folder: Path, changed: str = "users.up()", between: str = "") -> list[Finding]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    source = folder / "program.cc"
    source.write_text(PROGRAM % {"changed": changed, "between": between})
    request = FactsRequest(sources=(str(source),), flags=("-O2", "-std=c++17"))
    options = CheckOptions(facts=request, min_severity=Severity.LOW)
    return list(check_program(read_program(options), options).findings)


@pytest.mark.parametrize("changed", ["users.up()", "this->users.up()", "Count *c = &users; c->up()"])
def test_what_its_methods_change_is_a_member_of_the_whole(tmp_path: Path, changed: str) -> None:
    (found,) = findings(tmp_path, changed)
    assert found.rule == "written-beside-read-mostly"
    assert found.severity is Severity.HIGH
    assert found.participants[0].name == "Queue.users.n"


def test_what_another_unit_does_is_not_known(tmp_path: Path) -> None:
    assert findings(tmp_path, "extern void add(Count &); add(users)") == []


def test_what_is_apart_or_another_object_is_none(tmp_path: Path) -> None:
    assert findings(tmp_path, between="char apart[128];") == []
    assert findings(tmp_path, "Count own; own.up()") == []
    assert findings(tmp_path, "users.now()") == []
