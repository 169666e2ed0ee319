"""Callbacks of source: handed to a function that keeps them in a record, and called from there by a thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model import Severity
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding

STREAM = """\
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
struct stream {{ size_t (*rd)(void *, char *); void *rd_arg; int (*wr)(void *, char *); void *wr_arg; char buf[512]; }};
static _Alignas(64) struct {{ unsigned long got, put; }} io;
static size_t fill(void *arg, char *to) {{ (void)arg; *to = 1; io.got++; return 1; }}
static int drain(void *arg, char *from) {{ (void)arg; io.put += *from; return 0; }}
static void *reads(void *p) {{ struct stream *s = p; for (;;) s->rd(s->rd_arg, s->buf); }}
static void *writes(void *p) {{ struct stream *s = p; for (;;) if (s->wr(s->wr_arg, s->buf + 256)) return 0; }}
static void run(struct stream *s, size_t (*rd)(void *, char *), int (*wr)(void *, char *))
{{
  pthread_t a, b;
  s->rd = rd;
  s->wr = wr;
  pthread_create(&a, 0, reads, s);
  {second}
}}
int main(void)
{{
  static struct stream s;
  run(&s, fill, drain);
  return 0;
}}
"""
BOTH = "pthread_create(&b, 0, writes, s); pthread_join(a, 0); pthread_join(b, 0);"
IN_TURN = "pthread_join(a, 0); pthread_create(&b, 0, writes, s); pthread_join(b, 0);"

PLUGINS = """\
#include <pthread.h>
#include <stdatomic.h>
struct sums {{ atomic_uint cpu, net; }};
static _Alignas(64) struct sums sums;
static void cpu(struct sums *m) {{ for (;;) atomic_fetch_add(&m->cpu, 1); }}
static void net(struct sums *m) {{ for (;;) atomic_fetch_add(&m->{second}, 1); }}
struct plugin {{ const char *name; void (*run)(struct sums *); }};
static const struct plugin plugins[] = {{ {{"cpu", cpu}}, {{"net", net}} }};
static void *begin(void *arg) {{ const struct plugin *p = arg; p->run(&sums); return 0; }}
int main(void)
{{
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, begin, (void *)&plugins[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}}
"""


def _findings(folder: Path, text: str) -> tuple[Finding, ...]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    (folder / "program.c").write_text(text)
    request = FactsRequest(sources=(str(folder / "program.c"),), flags=("-O2",))
    options = CheckOptions(min_severity=Severity.LOW)
    return check_program(read_program(CheckOptions(facts=request)), options).findings


def _pair(findings: tuple[Finding, ...], first: str, second: str) -> list[Finding]:
    named = [(f, [one.name for one in f.participants]) for f in findings]
    return [f for f, names in named if all(any(n.endswith(end) for n in names) for end in (first, second))]


def test_callbacks_are_work_of_the_threads_that_call_them_through_a_member(tmp_path: Path) -> None:
    findings = _pair(_findings(tmp_path, STREAM.format(second=BOTH)), "got", "put")
    assert [f.severity.rank >= Severity.MEDIUM.rank for f in findings] == [True]


def test_callbacks_of_threads_that_never_meet_do_not(tmp_path: Path) -> None:
    assert not _pair(_findings(tmp_path, STREAM.format(second=IN_TURN)), "got", "put")


def test_functions_of_a_table_are_entries_of_a_thread_each(tmp_path: Path) -> None:
    findings = _pair(_findings(tmp_path, PLUGINS.format(second="net")), "cpu", "net")
    assert [f.severity for f in findings] == [Severity.HIGH]


def test_what_one_of_them_leaves_alone_is_no_pair(tmp_path: Path) -> None:
    assert not _pair(_findings(tmp_path, PLUGINS.format(second="cpu")), "cpu", "net")
