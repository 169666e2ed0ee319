"""Objects that a function of the program makes by an allocator: as those that the allocator makes for its caller."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

BY_TYPE = "by its type"
PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct pair { long one, two; };
static struct pair *pair, spare;
#define APART __attribute__((noinline))
WRAPPER
#define EACH for (;;) { __asm__ volatile("" ::: "memory");
static void *one(void *p) { EACH pair->one++; } return p; }
static void *two(void *p) { EACH pair->two++; } return p; }
int main(int count, char **words) {
  pthread_t t;
  pair = MADE;
  pthread_create(&t, 0, one, 0);
  pthread_create(&t, 0, two, 0);
  pthread_exit(0);
}
"""
FAILED = 'if (!p) { fputs("no memory", stderr); abort(); }'
XMALLOC = f"APART void *xmalloc(size_t n) {{ void *p = malloc(n); {FAILED} return p; }}"
NEW = {
    "malloc": (XMALLOC, "xmalloc(sizeof *pair)"),
    "calloc": (
        f"APART void *array(size_t n, size_t size) {{ void *p = calloc(n, size); {FAILED} return p; }}",
        "array(1, sizeof *pair)",
    ),
    "of a size of its own": (
        "APART struct pair *make(void) { struct pair *p = malloc(sizeof *p); if (p) p->one = p->two = 0; return p; }",
        "make()",
    ),
    "or nothing": ("APART void *get(size_t n) { if (n > 4096) return 0; return malloc(n); }", "get(sizeof *pair)"),
    "through two": (f"{XMALLOC} APART void *get(long n) {{ return xmalloc(n * 16); }}", "get(count)"),
}
OTHER = {
    "an old one": ("APART void *get(long n) { return n > 1 ? (void *)&spare : malloc(16); }", "get(count)"),
    "behind a head": ("APART void *get(long n) { char *p = malloc(n + 16); return p + 16; }", "get(sizeof *pair)"),
    "aligned as is asked": (
        "APART void *get(long a, long n) { return aligned_alloc(a, n); }",
        "get(count * 64, 2 * sizeof *pair)",
    ),
}


def found(compiled: Compile, tool: str, level: str, wrapper: str, made: str) -> set[str]:
    """Severities, and for what is told by the type alone that it is."""
    text = PROGRAM.replace("WRAPPER", wrapper).replace("MADE", made)
    report = api.audit(str(compiled(tool, "c", text, level, "-g")))
    said = [f for f in report.findings if f.rule == "independent-writers"]
    by_type = any("one object stands for all of this type" in e.text for f in said for e in f.evidence)
    return {f.severity for f in said} | ({BY_TYPE} if by_type else set())


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(("wrapper", "made"), NEW.values(), ids=NEW)
def test_what_it_returns_is_a_new_object(compiled: Compile, tool: str, wrapper: str, made: str) -> None:
    assert found(compiled, tool, "-O2", wrapper, made) == {"medium"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_unoptimised_it_is_as_well(compiled: Compile, tool: str) -> None:
    assert found(compiled, tool, "-O0", *NEW["malloc"]) == {"medium"}


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
@pytest.mark.parametrize(("wrapper", "made"), OTHER.values(), ids=OTHER)
def test_what_may_be_another_one_is_not(compiled: Compile, tool: str, wrapper: str, made: str) -> None:
    """Then the type alone tells that threads use one."""
    told = found(compiled, tool, "-O2", wrapper, made)
    assert told == {"medium", BY_TYPE} or not told


@pytest.mark.parametrize("tool", ["gcc", "clang-19"])
def test_members_that_are_a_line_apart_are_not_found(compiled: Compile, tool: str) -> None:
    """The size that is asked for is known behind the function as well: the object may start anywhere."""
    program = PROGRAM.replace("long one, two", "long one; char apart[120]; long two")
    text = program.replace("WRAPPER", XMALLOC).replace("MADE", "xmalloc(sizeof *pair)")
    report = api.audit(str(compiled(tool, "c", text, "-O2", "-g")))
    assert not [f for f in report.findings if f.rule == "independent-writers"]
