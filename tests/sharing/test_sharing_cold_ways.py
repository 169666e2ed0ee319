"""What is counted on ways that a program seldom goes is no sharing; the same counted in every round is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from linemate import api
from sharing.model import Finding, Severity
from tests.sharing.conftest import Compile

# One thread reads the switch all the time; OFTEN and SELDOM are what the other one does in each round and on a branch.
PROGRAM = """
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
struct { long mode, seen; } shared __attribute__((aligned(64)));
volatile long results[64] __attribute__((aligned(64)));
#define SEEN __atomic_fetch_add(&shared.seen, 1, __ATOMIC_SEQ_CST)
__attribute__((noinline)) long next(long x) { for (int i = 0; i < 30; i++) x = x * 48271 + 11 + results[56]; return x; }
DEFINED
static void *work(void *given) {
  for (long x = 1;;) {
    x = next(x);
    OFTEN;
    if (x == 7) { SELDOM; }
    results[8] = x;
  }
  return given;
}
static void *watch(void *given) {
  for (long x = 0;;) {
    if (__atomic_load_n(&shared.mode, __ATOMIC_RELAXED)) x += next(x);
    results[32] = x;
  }
  return given;
}
int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, work, 0);
  pthread_create(&t[1], 0, watch, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}
"""
ASIDE = "__attribute__((cold, noinline)) void away(long x) { SEEN; results[9] = x; }"
ERROR = '__attribute__((noinline)) void tell(const char *f, long x) { fprintf(stderr, "error: %s %ld\\n", f, x); }'
ANSWER = '__attribute__((noinline)) void tell(const char *f, long x) { fprintf(stdout, "%s %ld\\n", f, x); }'
SYSTEM = """__attribute__((noinline)) void tell(const char *f, ...) {
  va_list a;
  va_start(a, f);
  vsyslog(LOG_ERR, f, a);
  va_end(a);
}"""
LEVEL = """__attribute__((noinline)) void tell(const char *f, long x, int level) {
  char b[99];
  if (level > 2) return;
  snprintf(b, 99, f, x);
  write(2, b, strlen(b));
}"""
ASKED = "volatile int verbose;" + LEVEL.replace("level > 2", "level > verbose")
HANDED = 'SEEN; tell("bad %ld", x, 1)'
COMMANDS = """static void first(long x) { results[16] = next(x); }
static void second(long x) { results[17] = next(x) + 1; }
static void third(long x) { SEEN; results[18] = next(x) + 2; }
struct { const char *name; void (*run)(long); int arguments; } commands[] =
  {{"get", first, 1}, {"put", second, 2}, {"shutdown", third, 0}};
static void serve(long x) {
  char name[64];
  if (read(3, name, sizeof name) <= 0) exit(1);
  for (int i = 0; i < 3; i++) if (!strcmp(name, commands[i].name)) commands[i].run(x);
}"""
TOLD = 'SEEN; tell("bad %ld", x)'


def filled(defined: str, seldom: str, often: str = "") -> str:
    return PROGRAM.replace("DEFINED", defined).replace("SELDOM", seldom).replace("OFTEN", often)


def severe(findings: Iterable[Finding]) -> bool:
    return any(finding.severity is not Severity.NOTE for finding in findings)


def audited(compiled: Compile, tool: str, text: str, *flags: str) -> bool:
    return severe(api.audit(str(compiled(tool, "c", text, "-O2", "-w", *flags))).findings)


def checked(folder: Path, text: str) -> bool:
    source = folder / "program.c"
    source.write_text(text)
    return severe(api.check([source], flags=["-O2"], cache=False, config=False).findings)


@pytest.mark.parametrize("strip", [(), ("-s",)])
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_one_function_that_a_compiler_set_aside(compiled: Compile, tool: str, strip: tuple[str, ...]) -> None:
    assert not audited(compiled, tool, filled(ASIDE, "away(x)"), *strip)


@pytest.mark.parametrize("strip", [(), ("-s",)])
def test_the_same_function_among_all_others(compiled: Compile, strip: tuple[str, ...]) -> None:
    assert audited(compiled, "gcc", filled(ASIDE.replace("cold, ", ""), "", "away(x)"), *strip)


@pytest.mark.parametrize(("defined", "seldom"), [(ERROR, TOLD), (SYSTEM, TOLD)])
def test_ways_on_which_source_tells_of_errors(tmp_path: Path, defined: str, seldom: str) -> None:
    assert not checked(tmp_path, filled(defined, seldom))
    assert checked(tmp_path, filled(defined, "", "SEEN"))


def test_ways_on_which_source_answers(tmp_path: Path) -> None:
    assert checked(tmp_path, filled(ANSWER, TOLD))


@pytest.mark.parametrize("strip", [(), ("-s",)])
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_messages_that_an_argument_lets_through(compiled: Compile, tool: str, strip: tuple[str, ...]) -> None:
    """A program that is told what to say at run time calls so on all ways."""
    assert not audited(compiled, tool, filled(LEVEL, HANDED), *strip)
    assert audited(compiled, tool, filled(ASKED, HANDED), *strip)
    assert audited(compiled, tool, filled(LEVEL, "", HANDED), *strip)


def test_messages_that_an_argument_lets_through_in_source(tmp_path: Path) -> None:
    assert not checked(tmp_path, filled(LEVEL, HANDED))
    assert checked(tmp_path, filled(ASKED, HANDED))
    assert checked(tmp_path, filled(LEVEL, "", HANDED))


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_command_whose_name_in_a_table_is_an_administrators(compiled: Compile, tool: str) -> None:
    """Without symbols the table alone says what a function is for."""
    assert not audited(compiled, tool, filled(COMMANDS, "", "serve(x)"), "-s")
    assert audited(compiled, tool, filled(COMMANDS.replace("shutdown", "append"), "", "serve(x)"), "-s")


# A branch of a thread that reads a file: what a line says it sets by name, or adds up.
READ = """static void line(char *text) {
  char *key = strtok(text, " "), *value = strtok(0, " ");
  if (!strcmp(key, "seen")) KEEP;
  else if (!strcmp(key, "limit")) results[40] = atol(value);
}
__attribute__((noinline)) void load(const char *name) {
  FILE *file = fopen(name, "r");
  char text[256];
  while (fgets(text, sizeof text, file)) line(text);
  fclose(file);
}"""
SET = READ.replace("KEEP", "__atomic_store_n(&shared.seen, atol(value), __ATOMIC_SEQ_CST)")
ADDED = READ.replace("KEEP", "shared.seen += atol(value)")
LOADED = 'load("/etc/settings")'


@pytest.mark.parametrize("strip", [(), ("-s",)], ids=["symbols", "stripped"])
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_settings_that_are_read_again(compiled: Compile, tool: str, strip: tuple[str, ...]) -> None:
    """What is added up comes from a file to work on."""
    assert not audited(compiled, tool, filled(SET, LOADED), *strip)
    assert audited(compiled, tool, filled(ADDED, LOADED), *strip)


def test_settings_that_are_read_again_in_source(tmp_path: Path) -> None:
    assert not checked(tmp_path, filled(SET, LOADED))
    assert checked(tmp_path, filled(ADDED, LOADED))


# The same by a table of functions, of which only this code, or a client as well, picks one.
NAMED = """struct setting { const char *name; void (*set)(const char *); };
static void set_seen(const char *value) { KEEP; }
static void set_limit(const char *value) { results[40] = atol(value); }
static const struct setting settings[] = {{"seen", set_seen}, {"limit", set_limit}};
static void pick(const char *key, const char *value) {
  for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++)
    if (!strcmp(settings[i].name, key)) settings[i].set(value);
}
__attribute__((noinline)) void load(const char *name) {
  FILE *file = fopen(name, "r");
  char text[256];
  while (fgets(text, sizeof text, file)) {
    char *key = strtok(text, " ");
    pick(key, strtok(0, " "));
  }
  fclose(file);
}"""
BY_NAME = NAMED.replace("KEEP", "__atomic_store_n(&shared.seen, atol(value), __ATOMIC_SEQ_CST)")
COMMANDED = 'pick("seen", (const char *)&results[8])'


# Code knows such a table by its texts, of which there are some.
LISTED = NAMED.replace(
    "static const",
    """static void set_depth(const char *value) { results[41] = atol(value); }
static void set_name(const char *value) { free(name); name = strdup(value); }
static const""",
).replace('{"limit", set_limit}', '{"limit", set_limit}, {"depth", set_depth}, {"name", set_name}')
LISTED = LISTED.replace("struct setting {", "char *name;\nstruct setting {", 1)
KEPT = LISTED.replace("KEEP", "__atomic_store_n(&shared.seen, atol(value), __ATOMIC_SEQ_CST)")
SUMMED = LISTED.replace("KEEP", "shared.seen += atol(value)")


@pytest.mark.parametrize("strip", [(), ("-s",)], ids=["symbols", "stripped"])
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_settings_that_a_table_has(compiled: Compile, tool: str, strip: tuple[str, ...]) -> None:
    """A client's commands may be picked from the same table, and numbers be added up."""
    assert not audited(compiled, tool, filled(KEPT, LOADED), *strip)
    assert audited(compiled, tool, filled(SUMMED, LOADED), *strip)
    assert audited(compiled, tool, filled(KEPT, LOADED, COMMANDED), *strip)


INLINED = "static inline __attribute__((always_inline)) void load"


@pytest.mark.parametrize("strip", [(), ("-s",)], ids=["symbols", "stripped"])
@pytest.mark.parametrize("text", [SET, KEPT], ids=["compared", "table"])
@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_settings_that_a_thread_reads_in_its_own_loop(
    compiled: Compile, tool: str, text: str, strip: tuple[str, ...]
) -> None:
    """Optimised code has no function for it any more."""
    text = text.replace("__attribute__((noinline)) void load", INLINED)
    assert not audited(compiled, tool, filled(text, LOADED), *strip)


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_a_file_that_a_thread_lives_in_is_its_work(compiled: Compile, tool: str) -> None:
    """One that opens it once, and goes on to read lines of it."""
    text = SET.replace("__attribute__((noinline)) void load", INLINED)
    assert audited(compiled, tool, filled(text, "").replace("for (long x = 1;;) {", f"{LOADED}; for (long x = 1;;) {{"))


def test_what_asks_for_settings_does_so_seldom(compiled: Compile) -> None:
    """Behind a branch; a thread that does nothing else does it as often as it goes round."""
    asked = f"shared.seen = x; {LOADED}"
    other = SET.replace("&shared.seen", "&results[42]")
    assert not audited(compiled, "gcc", filled(other, asked))
    assert audited(compiled, "gcc", filled(other, "", asked))


def test_settings_that_a_table_has_in_source(tmp_path: Path) -> None:
    """A client's commands may be picked from the same table, and numbers be added up."""
    assert not checked(tmp_path, filled(BY_NAME, LOADED))
    assert checked(tmp_path, filled(NAMED.replace("KEEP", "shared.seen += atol(value)"), LOADED))
    assert checked(tmp_path, filled(BY_NAME, LOADED, COMMANDED))
    assert checked(tmp_path, filled(BY_NAME.replace("void load", "void unused"), "", COMMANDED))
