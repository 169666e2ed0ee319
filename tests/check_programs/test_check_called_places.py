"""Whom calls through pointers call, by the member that they load from: a pool's tasks are work of its threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model import Severity
from sharing.model.errors import LinemateError

MANY = "\n".join(
    f"int seldom{n}(struct job *j) {{ return j->next != 0; }}\nint (*volatile kept{n})(struct job *) = seldom{n};"
    for n in range(20)
)
POOL = """\
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <stdlib.h>
struct flow {{ unsigned long packets; unsigned long exported; }};
struct job {{ int (*run)(struct job *); int (*done)(struct job *); struct flow *flow; _Atomic(struct job *) next; }};
static struct flow *the_flow;
static struct job *queue;
static int count(struct job *j) {{ j->flow->packets++; return 0; }}
{many}
static int run_one(struct job *j) {{ return j->{called}(j); }}
static void *work(void *arg)
{{
  (void)arg;
  for (;;) {{
    struct job *j = atomic_load(&queue->next);
    if (run_one(j)) return 0;
  }}
}}
static void *export(void *arg)
{{
  (void)arg;
  for (;;) the_flow->exported++;
}}
int main(int argc, char **argv)
{{
  pthread_t threads[3];
  (void)argv;
  the_flow = malloc(sizeof *the_flow);
  queue = malloc(sizeof *queue);
  queue->flow = the_flow;
  queue->run = count;
  {more}
  atomic_store(&queue->next, queue);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  pthread_create(&threads[2], 0, export, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  return argc > 9;
}}
"""


def _severity(folder: Path, called: str = "run", more: str = "") -> Severity:
    """Of the pair that the tasks' counter is in."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    (folder / "pool.c").write_text(POOL.format(many=MANY, called=called, more=more))
    request = FactsRequest(sources=(str(folder / "pool.c"),), flags=("-O2",))
    options = CheckOptions(min_severity=Severity.NOTE)
    findings = check_program(read_program(CheckOptions(facts=request)), options).findings
    return max(
        (f.severity for f in findings if any(one.name.endswith("packets") for one in f.participants)),
        key=lambda one: one.rank,
        default=Severity.NOTE,
    )


def test_what_is_kept_where_a_helper_of_the_loop_calls_is_work_of_the_thread(tmp_path: Path) -> None:
    assert _severity(tmp_path).rank >= Severity.MEDIUM.rank


def test_what_is_kept_at_another_member_is_not(tmp_path: Path) -> None:
    assert _severity(tmp_path, called="done", more="queue->done = kept0;") is Severity.NOTE


def test_nothing_is_known_of_a_member_that_is_given_what_is_not_seen(tmp_path: Path) -> None:
    assert _severity(tmp_path, more="if (argc > 1) queue->run = kept1;") is Severity.NOTE
