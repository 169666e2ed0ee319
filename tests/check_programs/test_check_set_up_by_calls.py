"""Objects that a function makes and hands to others that set them up: nobody else has them yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model import Severity
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding

# A library's port: all its calls read where the lock is, and count those who hold the port.
PORT = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct kind {{ void (*place)(char *room, pthread_mutex_t **to); }};
struct port {{ _Atomic long holders; pthread_mutex_t *lock; long length; char room[64]; }};
static void inside(char *room, pthread_mutex_t **to) {{ *to = (pthread_mutex_t *)room; }}
static const struct kind kinds[] = {{ {{inside}} }};
struct port *port_open(int which)
{{
  struct port *p = calloc(1, sizeof *p);
  {opened}
  return p;
}}
struct port *opened_last;
void port_reset(int which) {{ struct port *p = opened_last; {reset} }}
void port_hold(struct port *p) {{ atomic_fetch_add(&p->holders, 1); }}
void port_drop(struct port *p) {{ if (atomic_fetch_sub(&p->holders, 1) == 1) free(p); }}
void port_in(struct port *p) {{ pthread_mutex_lock(p->lock); p->length++; pthread_mutex_unlock(p->lock); }}
void port_out(struct port *p) {{ pthread_mutex_lock(p->lock); p->length--; pthread_mutex_unlock(p->lock); }}
"""
THROUGH_A_TABLE = "kinds[which].place(p->room, &p->lock);"
DIRECTLY = "(void)which; inside(p->room, &p->lock);"


# What the first thread hands its own object to goes on with it for as long as it lives.
LIFE = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct two { atomic_long ticks, seen; };
static void *looks(void *p) { struct two *t = p; for (;;) atomic_fetch_add(&t->seen, 1); }
static void spin(atomic_long *n) { for (;;) atomic_fetch_add(n, 1); }
int main(void)
{
  pthread_t id;
  struct two *t = calloc(1, sizeof *t);
  pthread_create(&id, 0, looks, t);
  spin(&t->ticks);
  return 0;
}
"""


def _pairs(folder: Path, text: str, names: set[str]) -> list[Finding]:
    """What is said of these two members."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    (folder / "port.c").write_text(text)
    program = read_program(CheckOptions(facts=FactsRequest(sources=(str(folder / "port.c"),), flags=("-O2",))))
    findings = check_program(program, CheckOptions(min_severity=Severity.LOW)).findings
    return [f for f in findings if names <= {p.name.split()[-1] for p in f.participants}]


def _held(folder: Path, opened: str, reset: str) -> list[Finding]:
    """What is said of the count of holders and the pointer to the lock."""
    return _pairs(folder, PORT.format(opened=opened, reset=reset), {"port.holders", "port.lock"})


@pytest.mark.parametrize("opened", [THROUGH_A_TABLE, DIRECTLY])
def test_what_is_handed_a_new_object_sets_it_up(tmp_path: Path, opened: str) -> None:
    (finding,) = _held(tmp_path, opened, "(void)p; (void)which;")
    assert (finding.rule, finding.severity) == ("written-beside-read-mostly", Severity.MEDIUM)


def test_what_is_handed_an_object_in_use_changes_it(tmp_path: Path) -> None:
    assert not _held(tmp_path, "(void)which;", THROUGH_A_TABLE)


def test_what_goes_on_with_a_new_object_does_not_set_it_up(tmp_path: Path) -> None:
    (finding,) = _pairs(tmp_path, LIFE, {"two.ticks", "two.seen"})
    assert finding.rule == "independent-writers"
