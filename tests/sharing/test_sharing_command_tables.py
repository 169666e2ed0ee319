"""Functions that a table has by the names of commands: as busy as the loop that calls them, whoever sends commands."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static struct { long set, served; } both __attribute__((aligned(64)));
static void change(char *argument) { both.set += strlen(argument); }
static void list(char *argument) { puts(argument); }
static void keep(char *argument) { fputs(argument, stderr); }
static const struct { const char *name; void (*run)(char *); } commands[] = {
    {"NAME", change}, {"list", list}, {"keep", keep}};
static void *serve(void *p) { for (;;) __atomic_fetch_add(&both.served, 1, 5); return p; }
int main(void) {
  pthread_t thread;
  char line[256];
  pthread_create(&thread, 0, serve, 0);
  while (fgets(line, sizeof line, stdin)) {
    char *argument = strchr(line, ' ');
    if (!argument) continue;
    *argument++ = 0;
    for (unsigned i = 0; i < 3; i++)
      if (!strcmp(line, commands[i].name)) {
        commands[i].run(argument);
        break;
      }
  }
  return 0;
}
"""


def is_found(compiled: Compile, tool: str, name: str) -> bool:
    report = api.audit(str(compiled(tool, "c", PROGRAM.replace("NAME", name), "-O2", "-g")), config=False)
    return any({"both.set", "both.served"} <= {p.full_name for p in f.participants} for f in report.findings)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_what_a_command_does_may_be_what_the_program_does_all_day(compiled: Compile, tool: str) -> None:
    assert is_found(compiled, tool, "limit")


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_but_for_those_that_speak_of_diagnosis(compiled: Compile, tool: str) -> None:
    assert not is_found(compiled, tool, "debug")
