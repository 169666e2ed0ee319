"""Edits keep the meaning of a program: before and after, it is compiled without warnings and run, and says the same."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sharing.fix.edits import apply_edits
from sharing.fix.members import align_member
from sharing.fix.plan import Plan, Planner
from sharing.fix.records import separate_element
from sharing.fix.style import FixOptions
from sharing.fix.tokens import Refused
from sharing.fix.variables import separate_elements, separate_variable
from sharing.model.facts import RecordFacts
from sharing.source.program import Defined, Program
from tests.fix.program import read
from tests.fix.test_fix_corpus import facts

HEADERS = "#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n"
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-missing-braces")
Way = Callable[[Planner], Plan]


def of_type(program: Program, name: str) -> Defined[RecordFacts]:
    (found,) = (each for each in program.records.values() if each.facts.name == name)
    return found


def member(record: str, path: str, *others: str) -> Way:
    return lambda planner: align_member(planner, of_type(planner.program, record), path, others=others)


def named(program: Program, name: str) -> str:
    (found,) = (identity for identity, each in program.variables.items() if each.facts.name.split("::")[-1] == name)
    return found


def variable(name: str) -> Way:
    return lambda planner: separate_variable(planner, named(planner.program, name))


def objects(name: str) -> Way:
    return lambda planner: separate_element(planner, of_type(planner.program, name))


def elements(name: str) -> Way:
    return lambda planner: separate_elements(planner, named(planner.program, name))


def planner_of(folder: Path, text: str, compiler: str, standard: str) -> tuple[Planner, Path]:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = folder / ("main.cc" if "++" in compiler else "main.c")
    source.write_text(text)
    return Planner(facts(folder, [source.name], compiler, standard), read, FixOptions(64)), source


def output(source: Path, compiler: str, standard: str, level: str) -> str:
    command = [
        compiler,
        standard,
        level,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-missing-braces",
        "-o",
        "program",
        source.name,
    ]
    done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run = subprocess.run([str(source.parent / "program")], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0
    assert run.stdout
    return run.stdout


REQUEST = "struct request {\n  unsigned op;  /* what */\n  unsigned key;  /* where */\n  unsigned long value;\n};\n"
POSITIONAL = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct request first = {1, 2, 3}, second = {.value = 4, .key = 5, .op = 6};
static struct request table[] = {{7, 8, 9}, {.key = 10}, 11, 12, 13};
int main(void) {
  struct request *made = HEAP, copy = {14, 15, 16};
  *made = (struct request){17, 18, 19};
  memcpy(&second, made, sizeof(*made));
  for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
    printf("%u %u %lu\\n", table[i].op, table[i].key, table[i].value);
  printf("%u %u %lu %u\\n", first.op, first.key, first.value, copy.key);
  printf("%u %u %lu\\n", second.op, second.key, second.value);
  printf("%d\\n", memcmp(&second.key, &made->key, sizeof(second.key)));
  return 0;
}
"""
STATIC, HEAP = "&table[2]", "malloc(sizeof(struct request))"
CXX = """#include <cstdio>
#include <cstdlib>
#include <memory>
struct Request {
  unsigned op;  // what
  unsigned key;  // where
  unsigned long value = 1;
};
struct Ring {
  unsigned head{1};  // consumer
  Request slots[4];
  unsigned tail = 2;
};
static Request kept{1, 2, 3};
Ring ring{4, {{5, 6, 7}, {8, 9}}, 10};
int main() {
  for (unsigned k = 0; k < 3; k++) {
    Request made = Request{k & 1, k & 4095, k};
    auto [op, key, value] = made;
    std::printf("%u %u %lu\\n", op, key, value);
  }
  auto heap = MAKE;
  *heap = ring;
  auto &[head, slots, tail] = *heap;
  std::printf("%u %u %u %u\\n", head, slots[1].key, slots[3].op, tail);
  std::printf("%u %u %lu %zu\\n", kept.op, kept.key, kept.value, sizeof(ring.slots) / sizeof(ring.slots[0]));
  FREE
}
"""
NEW = CXX.replace("MAKE", "std::make_unique<Ring>()").replace("FREE", "")
MALLOC = CXX.replace("MAKE", "static_cast<Ring *>(std::malloc(sizeof(Ring)))").replace("FREE", "std::free(heap);")
VARIABLES = """#include <stdio.h>
#include <string.h>
typedef struct { int a, b; } pair;
static pair both = {1, 2};
pair named = {.b = 3};
static long hits = 4, list[] = {5, 6, 7};
static pair slots[4] = {0};
static char text[] = "eight";
int main(void) {
  pair copy = both;
  both.b += memcmp(&both, &copy, sizeof(both));
  slots[3].b = 9;
  pair *at = &slots[list[2] - 4];
  for (unsigned long i = 0; i < sizeof(list) / sizeof(*list); i++) hits += list[i];
  printf("%d %d %d %d\\n", both.a, both.b, named.a, named.b);
  printf("%ld %zu %d %zu %zu\\n", hits, sizeof(slots) / sizeof(slots[0]), at->b, sizeof(text), sizeof(slots[0].a));
  printf("%s %zu\\n", text, sizeof(both));
}
"""
# Several members of one declaration, in what malloc returns; objects one after another, from calloc.
GROUP = """#include <stdio.h>
#include <stdlib.h>
struct ring {
  unsigned long mask; /* size */
  unsigned in, put, out[2]; /* ends */
  unsigned long name;
};
struct slot { /* of one thread */
  unsigned long done;
  char tag[3]; // short
};
int main(void) {
  struct ring *one = malloc(sizeof *one);
  *one = (struct ring){1, 2, 3, {4, 5}, 6};
  struct slot *slots = calloc(3, sizeof(struct slot));
  for (int i = 0; i < 3; i++) slots[i] = (struct slot){i + 1ul, "ab"};
  printf("%lu %u %u %u %lu\\n", one->mask, one->in, one->put, one->out[1], one->name);
  printf("%s %lu\\n", slots[2].tag, slots[1].done);
  free(one), free(slots);
}
"""
GROUP_CXX = (
    GROUP.replace("one = malloc", "one = (ring *)malloc")
    .replace("slots = calloc", "slots = (slot *)calloc")
    .replace("(struct ring){", "ring{")
    .replace("(struct slot){", "slot{")
)
CASES: dict[str, tuple[str, str, str, Way]] = {
    "member, c11": ("gcc", "-std=c11", REQUEST + POSITIONAL.replace("HEAP", STATIC), member("request", "op")),
    "last member": ("gcc", "-std=c11", REQUEST + POSITIONAL.replace("HEAP", STATIC), member("request", "value")),
    "member, c99": ("gcc", "-std=c99", REQUEST + POSITIONAL.replace("HEAP", STATIC), member("request", "key")),
    "member, gnu90": ("gcc", "-std=gnu90", REQUEST + POSITIONAL.replace("HEAP", STATIC).replace(
        "unsigned i = 0; i", "i = 0; i").replace("copy = {14, 15, 16};", "copy = {14, 15, 16}; unsigned i;"),
        member("request", "op")),
    "malloc": ("gcc", "-std=c11", REQUEST + POSITIONAL.replace("HEAP", HEAP), member("request", "op")),
    "malloc, middle": ("gcc", "-std=c99", REQUEST + POSITIONAL.replace("HEAP", HEAP), member("request", "key")),
    "malloc, last": ("clang-19", "-std=c11", REQUEST + POSITIONAL.replace("HEAP", HEAP), member("request", "value")),
    "first of a declaration": ("gcc", "-std=c11", GROUP, member("ring", "in")),
    "middle of a declaration": ("clang-19", "-std=gnu17", GROUP, member("ring", "put")),
    "last of a declaration": ("gcc", "-std=c99", GROUP, member("ring", "out")),
    "objects from calloc": ("gcc", "-std=c11", GROUP, objects("slot")),
    "c++, objects from calloc": ("g++", "-std=c++17", GROUP_CXX, objects("slot")),
    "c++, member": ("g++", "-std=c++17", NEW, member("Request", "op")),
    "c++, new": ("g++", "-std=c++17", NEW, member("Ring", "head", "tail")),
    "c++, new, c++20": ("clang++-19", "-std=c++20", NEW, member("Ring", "tail", "head")),
    "c++, array": ("g++", "-std=c++17", NEW, member("Ring", "slots[0].op", "head")),
    "c++, in element": ("g++", "-std=c++17", NEW, member("Ring", "slots[0].op", "slots[0].key")),
    "c++, malloc": ("g++", "-std=c++17", MALLOC, member("Ring", "head", "tail")),
    "c++, malloc, clang": ("clang++-19", "-std=c++17", MALLOC, member("Ring", "slots[0].op", "tail")),
    "c++, union": ("g++", "-std=c++17", NEW, variable("kept")),
    "c++, wrapper": ("g++", "-std=c++17", NEW, variable("ring")),
    "wrapped struct": ("gcc", "-std=c11", VARIABLES, variable("both")),
    "wrapped, designated": ("clang-19", "-std=c11", VARIABLES, variable("named")),
    "wrapped, one of two": ("gcc", "-std=c99", VARIABLES, variable("hits")),
    "wrapped array": ("gcc", "-std=c11", VARIABLES, variable("list")),
    "wrapped text": ("gcc", "-std=c11", VARIABLES, variable("text")),
    "wrapped elements": ("gcc", "-std=c11", VARIABLES, elements("slots")),
}  # fmt: skip


@pytest.mark.parametrize(("compiler", "standard", "text", "way"), CASES.values(), ids=CASES.keys())
def test_the_program_says_the_same_after_the_edit(
    tmp_path: Path, compiler: str, standard: str, text: str, way: Way
) -> None:
    planner, source = planner_of(tmp_path, text, compiler, standard)
    before = output(source, compiler, standard, "-O2")
    plan = way(planner)
    assert plan.edits
    source.write_bytes(apply_edits(read(str(source)), plan.edits))
    assert output(source, compiler, standard, "-O0") == before
    assert output(source, compiler, standard, "-O2") == before
    # A comment stays in the line of the declaration that it is about.
    kept = {line.strip() for line in source.read_text().splitlines()}
    for comment, word in (("what", "op"), ("where", "key"), ("consumer", "head")):
        lines = [line for line in kept if line.endswith((f"/* {comment} */", f"// {comment}"))]
        assert all(f" {word}" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "way", "why"),
    [
        ("struct a { int n, m; } a, b; int same(void) { return memcmp(&a, &b, sizeof(a)); }", member("a", "n"),
         "main.c:4 passes the bytes of a to memcmp, which would see its new size"),
        ("struct a { int n, m; } a; int f(FILE *o) { struct a x = a; return fwrite(&x, sizeof x, 1, o); }",
         member("a", "m"), "main.c:4 passes the bytes of x to fwrite"),
        ("struct a { int n, m; }; struct b { struct a a; } b; int f(int o) { return write(o, &b, sizeof(struct b)); }",
         member("a", "n"), "main.c:4 passes the bytes of b to write"),
        ("struct a { int n, m; }; union u { struct a a; int raw[2]; } u;", member("a", "m"),
         "the union u gives its bytes other meanings too"),
        ("struct __attribute__((packed)) a { int n, m; } a;", member("a", "n"), "a is packed"),
        ("struct a { int n, m : 3; } a;", member("a", "n"), "a bit-field follows n"),
        ("struct a { int n; struct { int m; }; } a;", member("a", "n"), "an anonymous member follows n"),
        ("struct a { int n; int m[]; } *a;", member("a", "n"), "ends in an array without bounds, m"),
        ("struct a { int n;\n#ifdef X\nint x;\n#endif\nint m; } *a;", member("a", "n"), "a preprocessor directive"),
        ("struct a { int n, m; }; struct a *f(void) { struct a *p = aligned_alloc(64, 64); p->n = 1; return p; }",
         member("a", "n"), "main.c:4 allocates it by a number of bytes"),
        ("struct a { int n, m; }; struct b { struct a a; }; enum { SLOT = 32 };\n"
         "struct b *f(int n) { struct b *p = calloc(n, SLOT * 2); return p; }",
         member("a", "n"), "main.c:5 allocates it by a number of bytes"),
        ("struct a { int n, m; }; struct a *f(void) { void *p; posix_memalign(&p, 64, 64); return p; }\n"
         "struct a *g(void) { struct a *p; posix_memalign((void **)&p, 64, 64); return p; }",
         objects("a"), "main.c:5 allocates it by a number of bytes"),
        ("struct a { int n, m; } a; _Static_assert(sizeof(struct a) == 8, \"\");", member("a", "n"),
         "main.c:4 passes the bytes of a to _Static_assert"),
        ("static long s[4]; long f(int i) { return s[i] + sizeof(s); }", elements("s"), "its size is taken as a whole"),
        ("static long s[4]; long f(int i) { return s[i] + sizeof(s) / sizeof(long); }", elements("s"),
         "its size is taken as a whole"),
        ("static long s[4]; void g(long *); void f(int i) { s[i]++; g(&s[0]); }", elements("s"),
         "the address of one element is taken"),
    ],
)  # fmt: skip
def test_what_would_change_the_meaning_is_refused(tmp_path: Path, text: str, way: Way, why: str) -> None:
    planner, _ = planner_of(tmp_path, f"{HEADERS}{text}\n", "gcc", "-std=gnu11")
    with pytest.raises(Refused, match=r".*" + why.replace("[", r"\[")):
        way(planner)


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("struct a { int n, m; } a, b; int same(void) { return memcmp(&a.n, &b.n, sizeof(a.m)); }", member("a", "n")),
        ("struct a { int n, m; } a; struct b { int m; } b; void f(FILE *o) { fwrite(&b, sizeof b, 1, o); }",
         member("a", "n")),
        ("struct a { int n, m; } a, b; void f(void) { memcpy(&a, &b, sizeof(a)); memset(&b, 0, sizeof b); }",
         member("a", "n")),
        ("struct a { int n, m; }; union u { int raw[2]; } u; struct a a;", member("a", "m")),
        ("struct a { int n, m; }; enum { SLOT = sizeof(struct a) };\n"
         "struct a *f(int n) { struct a *p = malloc(n * SLOT); return p; }\n"
         "struct a *g(void) { struct a *p = calloc(64, sizeof *p); return p; }",
         member("a", "n")),
        ("struct a { int n, m; }; struct a *f(unsigned long n) { struct a *p = malloc(n); return p; }", objects("a")),
        ("struct a { int n, m; } a; _Static_assert(sizeof(struct a) <= 4096 && sizeof(struct a) % 4 == 0, \"\");",
         member("a", "n")),
    ],
)  # fmt: skip
def test_what_keeps_its_meaning_is_not_refused(tmp_path: Path, text: str, way: Way) -> None:
    planner, _ = planner_of(tmp_path, f"{HEADERS}{text}\n", "gcc", "-std=gnu11")
    assert way(planner).edits


def test_a_type_whose_bytes_are_used_is_wrapped_not_aligned(tmp_path: Path) -> None:
    text = (
        '#include <stdio.h>\nstruct conf { char name[8]; };\nstatic struct conf conf = {"abc"};\n'
        'int main(void) { printf("%zu\\n", fwrite(&conf, 1, sizeof(conf), stdout)); }\n'
    )
    planner, source = planner_of(tmp_path, text, "gcc", "-std=c11")
    before = output(source, "gcc", "-std=c11", "-O2")
    source.write_bytes(apply_edits(read(str(source)), variable("conf")(planner).edits))
    assert "fwrite(&conf.value, 1, sizeof(conf.value), stdout)" in source.read_text()
    assert output(source, "gcc", "-std=c11", "-O2") == before


def test_what_is_aligned_already_is_not_aligned_again(tmp_path: Path) -> None:
    before = "struct ring {\n  _Alignas(64) long head;\n  long tail;\n} ring;\nlong f(void) { return ring.tail; }\n"
    planner, source = planner_of(tmp_path, before, "gcc", "-std=c11")
    after = apply_edits(source.read_bytes(), member("ring", "head")(planner).edits).decode()
    assert after == before.replace("  long tail", "  _Alignas(64) long tail")
