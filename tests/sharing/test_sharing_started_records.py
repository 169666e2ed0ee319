"""Records that threads are started with where only the call that starts them tells of which type, and where they
begin."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from sharing.static import recordobjects
from sharing.static.handovers import Handover
from sharing.static.startedwith import arguments_of
from tests.builders.image import Builder
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct link { KIND in, out; struct link *next; };
struct other { KIND kept[3]; };
static struct link *all;
static void *writer(void *given) { struct link *one = given; for (;;) one->in++; }
static void *reader(void *given) { struct link *one = given; for (;;) one->out++; }
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 10000; i++) {
    struct link *made = MADE(sizeof *made);
    made->next = all;
    all = made;
  }
  for (struct link *at = all; at; at = at->next) {
    pthread_create(&threads[0], 0, writer, at);
    pthread_create(&threads[1], 0, reader, at);
  }
  MORE
  pthread_join(threads[0], 0);
  return 0;
}
"""


def audited(compiled: Compile, text: str) -> list[Finding]:
    return list(api.audit(str(compiled("gcc", "c", text, "-g", "-O2", "-pthread")), min_severity=Severity.LOW).findings)


def links(kind: str = "atomic_long", more: str = "") -> str:
    return SOURCE.replace("KIND", kind).replace("MADE", "malloc").replace("MORE", more)


def test_an_entry_that_keeps_no_pointer_of_the_type(compiled: Compile) -> None:
    """GCC adds to what the argument leads to by the register of ``given``, which is a ``void *``."""
    (found,) = audited(compiled, links())
    assert (found.rule, found.severity) == ("independent-writers", Severity.HIGH)
    assert {part.full_name for part in found.participants} == {"struct link.in", "struct link.out"}


@pytest.mark.parametrize(
    "text",
    [
        links("_Alignas(64) atomic_long"),
        links(more="struct other *of = malloc(sizeof *of); pthread_create(&threads[0], 0, writer, of);"),
    ],
    ids=["on lines of their own", "started with another record too"],
)
def test_not_others(compiled: Compile, text: str) -> None:
    assert not [one for one in audited(compiled, text) if "struct link.in" in {p.full_name for p in one.participants}]


def test_entries_of_which_not_all_is_looked_at(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large program the busiest instructions are asked for: what else an entry does tells nothing."""
    monkeypatch.setattr(recordobjects, "MAX_INSTRUCTIONS", 1)
    assert audited(compiled, links()) == []


def test_a_start_with_nothing_has_no_argument() -> None:
    """As of a function that starts the same thread always, and is handed what is called there alone."""
    b = Builder()
    b.function("main").call("start")
    b.function("start")
    image = b.image()
    ip = int(image.calls["ip"][0])
    one = Handover(ip, at=0, entry=ip, argument=1, data=None, parameter=0, starts=True)
    assert arguments_of(image, [one, one._replace(argument=-1)])["arg"].tolist() == [1]


AT = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct ring { atomic_long head; long pad[3]; atomic_long tail; long rest[3]; };
static struct ring *ring;
static void *produce(void *given) { for (;;) ring->head++; return given; }
static void *consume(void *given) { for (;;) ring->tail++; return given; }
int main(void) {
  pthread_t first, second;
  MADE;
  pthread_create(&first, 0, produce, 0);
  pthread_create(&second, 0, consume, 0);
  pthread_join(first, 0);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("made", "known"),
    [
        ("void *at = 0; if (posix_memalign(&at, 64, sizeof *ring)) abort(); ring = at", True),
        ("ring = aligned_alloc(64, sizeof *ring)", True),
        ("void *at = 0; if (posix_memalign(&at, 16, sizeof *ring)) abort(); ring = at", False),
        ("ring = malloc(sizeof *ring)", False),
    ],
)
def test_where_objects_begin_is_said_as_they_are_allocated(compiled: Compile, made: str, known: bool) -> None:
    (found,) = audited(compiled, AT.replace("MADE", made))
    assert ("offsets at which the object can start" not in found.message) is known
