"""An object that stands for all of its type bears the same whether source or debug information names the type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct item { struct item *next; unsigned key; };
struct store { MEMBERS };
static __attribute__((noinline)) unsigned long serve_one(struct store *store, unsigned long sum) {
  WORK
  return sum;
}
static __attribute__((noinline)) unsigned long watch_one(struct store *store, unsigned long sum) {
  OTHER
  return sum;
}
static void *serve(void *argument) {
  unsigned long sum = 0;
  while (sum != 7) sum = serve_one(argument, sum);
  return (void *)sum;
}
static void *watch(void *argument) {
  unsigned long sum = 0;
  while (sum != 7) sum = watch_one(argument, sum);
  return (void *)sum;
}
static struct store *store_new(unsigned size) {
  struct store *store = calloc(1, sizeof *store);
  store->size = size;
  return store;
}
int main(int argc, char **argv) {
  pthread_t threads[4];
  for (int n = 0; n < argc; n++) {
    struct store *store = store_new(argc + n);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, serve, store);
    pthread_create(&threads[3], 0, watch, store);
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  return argv == 0;
}
"""
COUNTED = {
    "MEMBERS": "atomic_ulong served; unsigned size;",
    "WORK": "sum += atomic_fetch_add(&store->served, 1);",
    "OTHER": '__asm__ volatile("" ::: "memory"); sum += store->size;',
}
LOCKED = {
    "MEMBERS": "pthread_mutex_t lock; unsigned long held; atomic_ulong size;",
    "WORK": "pthread_mutex_lock(&store->lock); store->held++; pthread_mutex_unlock(&store->lock);",
    "OTHER": "sum += atomic_fetch_add(&store->size, 1);",
}


def text_of(words: dict[str, str]) -> str:
    text = SOURCE
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def said(findings: tuple[Finding, ...], pair: set[str]) -> Severity:
    """How severe the worst finding is that names both members."""
    about = [f.severity for f in findings if pair <= {part.full_name.split(".")[-1] for part in f.participants}]
    return max(about, key=lambda severity: severity.rank, default=Severity.NOTE)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    ("words", "pair", "least"),
    [(COUNTED, {"served", "size"}, Severity.HIGH), (LOCKED, {"lock", "size"}, Severity.MEDIUM)],
    ids=["counter", "lock"],
)
def test_audit_says_of_a_type_what_check_says(
    compiled: Compile, tmp_path: Path, tool: str, words: dict[str, str], pair: set[str], least: Severity
) -> None:
    text = text_of(words)
    file = tmp_path / "store.c"
    file.write_text(text)
    arguments = [tool, "-O2", "-g", "-c", str(file)]
    row = {"directory": str(tmp_path), "file": str(file), "arguments": arguments}
    (tmp_path / "compile_commands.json").write_text(json.dumps([row]))
    audited = api.audit(str(compiled(tool, "c", text, "-g", "-O2", "-pthread")), min_severity=Severity.LOW).findings
    checked = api.check(database=tmp_path, min_severity=Severity.LOW, config=False).findings
    assert said(audited, pair) == said(checked, pair) == least
