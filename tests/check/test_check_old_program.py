"""A linked program that was made before the change: what of it shows that, and what a linker drops by itself."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.check.repositories import Project, need_analyzer

Run = Callable[..., Any]

UNIT = """
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long total;
long before[2];
static long seen;
void add(long n) { pthread_mutex_lock(&lock); total += n; seen++; pthread_mutex_unlock(&lock); }
long sum(void) { return total + seen + before[0]++; }
"""
MAIN = """
#include <pthread.h>
void add(long);
long sum(void);
static void *work(void *p) { for (int i = 0; i < 100; i++) add(i); return p; }
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return (int)sum();
}
"""
OTHER = "char tool_buffer[64]; long tool_total; int main(void) { return (int)tool_total++ + tool_buffer[0]; }\n"
DROPPING = ("-O2", "-fdata-sections", "-ffunction-sections", "-Wl,--gc-sections")


@pytest.fixture
def base(project: Project) -> str:
    """A program of two units, built, and the unit of another program in the same compile database."""
    need_analyzer("gcc")
    commit = project.commit({"unit.c": UNIT, "main.c": MAIN, "other.c": OTHER})
    project.database("unit.c", "main.c", "other.c")
    make(project)
    return commit


def make(project: Project, *flags: str) -> None:
    command = ["gcc", *(flags or ("-O2",)), "-pthread", "-o", "build/server", "unit.c", "main.c"]
    subprocess.run(command, cwd=project.top, check=True, capture_output=True)


def said(run: Run, base: str, *flags: str) -> tuple[int, list[str]]:
    command = f"mkdir -p build && gcc {' '.join(flags or ('-O2',))} -pthread -o build/server unit.c main.c"
    result = run("check", "--base", base, "--build", command, "--binary", "build/server", "--format", "json")
    notes = json.loads(result.out)["coverage"]["notes"]
    return result.code, [note.partition("it ")[2] for note in notes if "was not built of these sources" in note]


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        ("long total;", "long total; char log_buffer[208];", "lacks log_buffer, which unit.c defines"),
        ("before[2]", "before[9]", "has before with 16 bytes, which in unit.c has 72"),
        ("long total;", "long total; long more;", "lacks more, which unit.c defines"),
    ],
)
def test_a_program_of_before_the_change_is_no_answer(
    run: Run, project: Project, base: str, was: str, now: str, expected: str
) -> None:
    project.write({"unit.c": UNIT.replace(was, now)})
    assert said(run, base) == (3, [expected])
    make(project)
    assert said(run, base)[1] == []


def test_a_removed_variable_that_the_program_still_has(run: Run, project: Project, base: str) -> None:
    project.write({"unit.c": UNIT.replace("long before[2];", "").replace(" + before[0]++", "")})
    assert said(run, base) == (3, ["has before, which unit.c no longer defines"])
    make(project)
    assert said(run, base)[1] == []


def test_a_static_variable_counts_where_the_program_is_older_as_well(run: Run, project: Project, base: str) -> None:
    """A compiler may drop one: that it is missing is not enough."""
    make(project, "-O1")  # else all that it loads would be the base's
    text = UNIT.replace("static long seen;", "static long seen, times;").replace("seen++;", "seen++; times += seen;")
    project.write({"unit.c": text.replace("total + seen", "total + seen + times")})
    os.utime(project.top / "build" / "server", (1, 1))
    assert said(run, base) == (3, ["lacks times, which unit.c defines"])
    os.utime(project.top / "unit.c", (0, 0))
    assert said(run, base)[1] == []


def test_without_a_base_what_all_its_functions_are_linked_with_has_to_be_there(
    run: Run, project: Project, base: str
) -> None:
    project.write({"unit.c": UNIT.replace("long total;", "long total; char log_buffer[208];")})
    result = run("check", "--binary", "build/server")
    assert result.code == 3
    assert "lacks log_buffer" in result.out


@pytest.mark.parametrize("flags", [DROPPING, ("-O2", "-flto")])
def test_what_a_linker_drops_is_not_missed(run: Run, project: Project, base: str, flags: tuple[str, ...]) -> None:
    text = UNIT + "long unused[4]; long never_called(void) { return unused[0]++; }\n"
    project.write({"unit.c": text})
    project.database("unit.c", "main.c", "other.c", flags=flags[:3])
    make(project, *flags)
    assert said(run, base)[1] == []


def test_a_stripped_program_says_nothing_of_its_age(run: Run, project: Project, base: str) -> None:
    project.write({"unit.c": UNIT.replace("long total;", "long total; char log_buffer[208];")})
    make(project, "-O2", "-rdynamic", "-s")
    assert said(run, base)[1] == []


PAIR = "struct Pair { long hits; const char *name; int flag; } pair = { NAMED };\n"
USE = "int flagged(void) { return pair.flag + (int)pair.hits++; }\n"
BEFORE = UNIT + PAIR.replace("NAMED", '.name = "x"') + USE


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        # As long as before, so that no size tells.
        (BEFORE.replace("long hits; const char *name;", "const char *name; long hits;"), True),
        (BEFORE.replace("int flagged", "/* no change */ int flagged"), False),
        (
            BEFORE.replace("int flag;", "int mark;").replace("pair.flag", "pair.mark"),
            False,
        ),  # a rename makes the same program
    ],
)
def test_a_program_with_the_layout_of_the_base_and_the_same_sizes(
    run: Run, project: Project, base: str, now: str, expected: bool
) -> None:
    second = project.commit({"unit.c": BEFORE})
    make(project)
    project.write({"unit.c": now})
    moved = "loads what the base's does, though members of pair of unit.c moved"
    assert said(run, second) == ((3, [moved]) if expected else (0, []))
    make(project)
    assert said(run, second) == (0, [])


STATIC = UNIT.replace(
    "long total;",
    "#include <string.h>\nlong total;\nstatic char name[16];\nstatic char other[64];\nvoid rename_it(const char *s) {"
    " strncpy(name, s, sizeof name); }\n"
    "char second(int i) { return other[i]; }\nvoid put(int i, char c) { other[i] = c; }\n",
)
WRITTEN = "strncpy(name, s, sizeof name);"
WITH_OWNER = STATIC.replace("static char name", "static char owner[32];\nstatic char name")


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-g")])
@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (WITH_OWNER.replace(WRITTEN, f"{WRITTEN} strncpy(owner, s, 31);"), "lacks owner, which unit.c defines"),
        (STATIC.replace("other[64]", "other[192]"), "has other with 64 bytes, which in unit.c has 192"),
        (
            STATIC.replace("static char name[16];\n", "").replace(WRITTEN, "(void)s;"),
            "has name, which unit.c no longer defines",
        ),
        (
            STATIC.replace("long n) {", "long n) { static long times; total += times > total; times = n;"),
            "lacks times, which unit.c defines",
        ),
        (
            STATIC.replace("total += n", "static int times; __atomic_add_fetch(&times, 1, 0); total += n"),
            "lacks times, which unit.c defines",
        ),
        # What a compiler drops makes no other program.
        (WITH_OWNER, ""),
        (WITH_OWNER.replace(WRITTEN, f"{WRITTEN} owner[3] = *s;"), ""),
        (STATIC.replace("void rename_it", "/* nothing\n\n */ void rename_it"), ""),
        (STATIC.replace("long n)", "long count)").replace("total += n", "total += count"), ""),
        (STATIC.replace("long sum(void) {", "long sum(void) { if (0) { total += seen; }"), ""),
    ],
)
def test_a_static_variable_counts_where_all_that_is_loaded_is_the_bases(
    run: Run, project: Project, base: str, now: str, expected: str, flags: tuple[str, ...]
) -> None:
    """Though the program is newer than the sources, as after a checkout."""
    second = project.commit({"unit.c": STATIC})
    make(project, *flags)
    project.write({"unit.c": now})
    os.utime(project.top / "unit.c", (0, 0))
    code, notes = said(run, second, *flags)
    assert (code, notes) == ((3, [expected]) if expected else (0, []))
    make(project, *flags)
    assert said(run, second, *flags)[1] == []


@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-g"), ("-O2", "-g", "-gz")])
@pytest.mark.parametrize(
    "added",
    [
        "static long dead; static void never(void) { if (dead) total++; dead = total; }",
        "static long constant; long get(void); static inline long got(void) { return constant; }",
        "static long mark; static void marked(long n) { mark = n; (void)mark; }",
        # Read where nothing comes of it.
        ("long n) {", "long n) { static long last; last = n; if (0) total += last;"),
        ("long n) {", "long n) { enum { DEBUG = 0 }; static long last; last = n; if (DEBUG > 1) total += last;"),
    ],
)
def test_a_program_built_anew_without_a_static_that_was_dropped(
    run: Run, project: Project, base: str, added: str | tuple[str, str], flags: tuple[str, ...]
) -> None:
    second = project.commit({"unit.c": STATIC})
    project.write({"unit.c": f"{STATIC}{added}\n" if isinstance(added, str) else STATIC.replace(*added)})
    make(project, *flags)
    assert said(run, second, *flags) == (0, [])


def test_debug_information_tells_of_a_static_whose_value_is_read_for_nothing(
    run: Run, project: Project, base: str
) -> None:
    """Without it such a program cannot be told from one of before the change."""
    second = project.commit({"unit.c": STATIC})
    dropped = "long n) { static long last; long then = last; last = n; (void)then;"
    project.write({"unit.c": STATIC.replace("long n) {", dropped)})
    make(project, "-O2", "-g")
    assert said(run, second, "-O2", "-g") == (0, [])
