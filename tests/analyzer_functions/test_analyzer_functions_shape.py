"""How rarely code runs, what comes before what, and that hostile sizes end.

Owns the comparisons of rarity and order, which depend on a whole function and so are no single words.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyzer_functions.facts_in_words import Unit, read_unit, rows, tool
from tests.nativetools import computed_by_helpers_s, not_with_sanitizers

pytestmark = pytest.mark.skipif(tool() is None, reason="linemate-facts is not built")

USUAL_LIMIT = 4  # one even branch: 4 * -log2(1/2)


def read(folder: Path, text: str, *flags: str) -> Unit:
    source = folder / "unit.c"
    source.write_text(text)
    return read_unit(source, list(flags))


def column(unit: Unit, function: str, index: int) -> dict[str, int]:
    """A column of the accesses of a function, by the variable."""
    accesses = rows(unit.functions[function].get("accesses", []), 16)
    return {unit.symbol(row[1]): row[index] for row in accesses}


RARE = [
    ("__builtin_expect(x, 0)", "", 12, 16),
    ("__builtin_expect(!!(x), 0)", "", 12, 16),
    ("x", "abort();", 30, 80),
    ("x", "exit(1);", 30, 80),
    ("x < 0", "", 8, 12),
    ("x == -1", "", 8, 12),
    ("!p", "", 5, 7),
    ("p == 0", "", 5, 7),
    ("x", "return -1;", 12, 16),
    ("x", "goto err;", 12, 16),
    ("x", "y = -1; goto out;", 12, 16),
    ("x", "y = -1;", 4, 4),
    ("x", "do { y = -1; goto out; } while (0);", 12, 16),
    ("x", "do { return -1; } while (0);", 12, 16),
    ("x", "", 4, 4),
    ("x > y", "", 4, 4),
]


@pytest.mark.parametrize(("condition", "tail", "least", "most"), RARE, ids=[f"{c} {t}" for c, t, _l, _m in RARE])
def test_rarity_follows_what_the_condition_and_its_branch_say(
    tmp_path: Path, condition: str, tail: str, least: int, most: int
) -> None:
    text = f"""
    void abort(void) __attribute__((noreturn)); void exit(int) __attribute__((noreturn));
    static int seen, after;
    int f(int x, int y, char *p) {{
      if ({condition}) {{ seen = 1; {tail} }}
      after = 1;
      return 0;
    err:
      return -1;
    out:
      return y;
    }}
    """
    rarity = column(read(tmp_path, text), "f", 13)
    assert least <= rarity["seen"] <= most
    assert rarity["after"] <= 2 if tail else rarity["after"] == 0


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("if (mine < 0) mine = next++;", True),
        ("if (mine == NONE) mine = next++ % 8;", True),
        ("if (!record) record = make(next++);", True),
        ("if (mine < 0) mine = next++; else other++;", True),
        ("if (shared < 0) shared = next++;", False),  # of all threads
        ("if (mine < 0) { next++; mine = 0; }", False),  # something may undo it
        ("if (mine == 0) mine = refill(next++); mine--;", False),  # used up, and filled again
        ("if (mine > 0) mine = next++;", False),
        ("if (mine == shared) mine = next++;", False),  # comes to be so again
        ("if (mine < 0) fill(&mine, next++);", False),
    ],
)
def test_what_a_thread_gets_as_it_has_none_it_gets_once(tmp_path: Path, text: str, once: bool) -> None:
    rarity = column(
        read(
            tmp_path,
            f"""
    enum {{ NONE = -1 }};
    static _Thread_local int mine = -1; static _Thread_local char *record;
    static int shared, next, other;
    char *make(int); int refill(int); void fill(int *, int);
    void f(void) {{ {text} }}
    """,
        ),
        "f",
        13,
    )
    assert (rarity["next"] >= 40) == once
    assert rarity.get("other", 0) <= 1


@pytest.mark.parametrize("tail", ["y = 1; goto out;", "kept = -1; goto out;", "*z = -1; goto out;", "goto out;"])
def test_a_way_out_that_notes_no_failure_is_as_likely_as_any(tmp_path: Path, tail: str) -> None:
    text = f"""
    static int seen, after, kept;
    int f(int x, int y, int *z) {{
      if (x) {{ seen = 1; {tail} }}
      after = 1;
    out:
      return y;
    }}
    """
    rarity = column(read(tmp_path, text), "f", 13)
    assert rarity["seen"] == rarity["after"] == USUAL_LIMIT


def test_a_likely_branch_is_no_rarer_than_its_function(tmp_path: Path) -> None:
    text = "static int a, b; void f(int x) { if (__builtin_expect(x, 1)) a = 1; else b = 1; }"
    rarity = column(read(tmp_path, text), "f", 13)
    assert rarity["a"] <= 1
    assert rarity["b"] >= 12


@pytest.mark.parametrize(
    ("condition", "rarely"),
    [
        ("unlikely(x && set(&a))", True),
        ("unlikely(x && y && set(&a))", True),
        ("unlikely(!(x || set(&a)))", True),
        ("!likely(x || set(&a))", True),
        ("unlikely(x) && set(&a)", True),
        ("likely(x && set(&a))", False),
        ("x && set(&a)", False),
        ("unlikely(set(&a) && x)", False),  # comes first: called each time
    ],
)
def test_what_is_said_of_a_whole_is_said_of_its_operands(tmp_path: Path, condition: str, rarely: bool) -> None:
    """As gcc takes it: the second operand is not come to, where the first is expected to decide."""
    text = f"""
    #define likely(e) __builtin_expect(!!(e), 1)
    #define unlikely(e) __builtin_expect(!!(e), 0)
    static int a;
    #define set(p) __sync_bool_compare_and_swap(p, 1, 0)
    int f(int x, int y) {{ if ({condition}) return 1; return 0; }}
    """
    rarity = column(read(tmp_path, text), "f", 13)["a"]
    assert (rarity >= 12) == rarely


def test_attributes_of_cxx20_say_the_same(tmp_path: Path) -> None:
    source = tmp_path / "unit.cpp"
    source.write_text("int a, b; void f(int x) { if (x) [[unlikely]] a = 1; else b = 1; }")
    facts = read_unit(source, ["-std=c++20"])
    rarity = column(facts, "f", 13)
    assert rarity["a"] >= 12 > USUAL_LIMIT > rarity["b"]


def test_rarity_leaves_loops_to_their_depth(tmp_path: Path) -> None:
    text = "static int a, b; void f(int n) { for (int i = 0; i < n; i++) { a = 1; if (i == 7) break; } b = 1; }"
    unit = read(tmp_path, text)
    assert column(unit, "f", 13) == {"a": 0, "b": 0}
    assert column(unit, "f", 12) == {"a": 1, "b": 0}


@pytest.mark.parametrize(
    ("body", "rarely"),
    [
        ("while (n) { long d = get(); if (d < 0) { a++; return -1; } n -= d; } b++;", True),
        ("for (;;) { if (get() < 0) break; } a++;", False),  # its only exit
        ("while (n) { long d = get(); if (d <= 0) { a++; return 1; } n -= d; } b++;", False),  # the end of a file
        ("long d; while ((d = get()) > 0) { if (d == 9) return -1; n += d; } a++;", False),
        ("for (; n >= 0; n--) { if (get() == n) return 1; } a++;", False),  # it counts down
    ],
)
def test_a_loop_seldom_ends_where_a_call_failed(tmp_path: Path, body: str, rarely: bool) -> None:
    text = f"static int a, b; long get(void); long f(long n) {{ {body} return 0; }}"
    rarity = column(read(tmp_path, text), "f", 13)
    assert (rarity["a"] >= 8) == rarely
    assert rarity.get("b", 0) == 0


def test_order_puts_what_follows_a_loop_behind_all_of_it(tmp_path: Path) -> None:
    text = """
    static int first, inside, deep, last;
    void f(int n) {
      first = 1;
      while (n--) { inside = 1; if (n & 1) deep = 1; }
      last = 1;
    }
    """
    order = column(read(tmp_path, text), "f", 14)
    assert sorted(order, key=lambda name: order[name]) == ["first", "inside", "deep", "last"]
    assert len(set(order.values())) == 4


def test_nested_loops_count(tmp_path: Path) -> None:
    body = "{ while (a) " * 6 + "{ a = 1; if (a) return; }" + "}" * 6
    unit = read(tmp_path, f"static volatile int a; void f(void) {body}")
    assert {row[12] for row in rows(unit.functions["f"]["accesses"], 16) if row[5] == 2} == {6}


@not_with_sanitizers("how time grows is seen without them")
@pytest.mark.parametrize(
    "body",
    [
        "pthread_mutex_lock(&m); a++; pthread_mutex_unlock(&m);\n" * 20_000,
        "if (a) { pthread_mutex_lock(&m); a++; pthread_mutex_unlock(&m); }\n" * 10_000,
        "while (a) { a++; if (a == 3) break; }\n" * 10_000,
        "switch (x) {" + "".join(f"case {i}: a = {i}; break;\n" for i in range(20_000)) + "}",
    ],
    ids=["straight", "branches", "loops", "switch"],
)
def test_a_huge_function_takes_linear_time(tmp_path: Path, body: str) -> None:
    text = f"#include <pthread.h>\nstatic int a; static pthread_mutex_t m; void f(int x) {{\n{body}\n}}"
    before = computed_by_helpers_s()
    unit = read(tmp_path, text)
    assert computed_by_helpers_s() - before < 10
    assert len(unit.functions["f"]["accesses"]) >= 10_000 * 16


def test_more_locks_than_the_analysis_follows_are_unknown(tmp_path: Path) -> None:
    locks = "".join(f"pthread_mutex_lock(&m[{i}]);" for i in range(80))
    text = f"#include <pthread.h>\nstatic int a; static pthread_mutex_t m[80]; void f(void) {{ {locks} a = 1; }}"
    assert column(read(tmp_path, text), "f", 15) == {"a": -1}


def test_bits_say_what_runs_before_main_and_what_is_cold(tmp_path: Path) -> None:
    text = """
    __attribute__((constructor)) void early(void) {}
    __attribute__((cold)) void rare(void) {}
    __attribute__((hot)) void often(void) {}
    __attribute__((noreturn)) void ends(void) { for (;;) ; }
    static void hidden(void) {}
    static inline void small(void) {}
    void visible(void) { hidden(); small(); }
    """
    bits = {name: facts["bits"] for name, facts in read(tmp_path, text).functions.items()}
    assert bits == {"early": 4, "rare": 8, "often": 64, "ends": 16, "hidden": 1, "small": 1, "visible": 0}


NEW = """
struct node { long a, b, c, d; struct node *next; };
extern "C" void *malloc(unsigned long);
struct node *make(int n) {
  struct node *made = (node *)malloc(sizeof *made);
  made->a = n;
  while (n-- > 0)
    made->b = n;
  return made;
}
struct node *fill(int n) {
  struct node *all = (node *)malloc(n * sizeof *all);
  for (int i = 0; i < n; i++)
    all[i].a = i;
  all->c++;
  return all;
}
void change(struct node *old) { old->a = 1; }
struct object { object(long v) : a(v) { b = v; } ~object() { a = 0; } void set() { b = 1; } long a, b; };
object *place(long v) { return new object(v); }
"""


def test_what_a_function_stores_to_its_new_object_is_marked(tmp_path: Path) -> None:
    """Not what it stores over and over, nor what it counts."""
    source = tmp_path / "unit.cc"
    source.write_text(NEW)
    unit = read_unit(source, [])
    names = {
        key: name for key in unit.functions for name in ("make", "fill", "change", "~object", "set") if name in key
    }
    found = {
        name: [(row[3], bool(row[7] & 64)) for row in rows(unit.functions[key]["accesses"], 16) if row[5] in (2, 3)]
        for key, name in names.items()
    }
    assert found == {
        "make": [(0, True), (8, False)],
        "fill": [(0, True), (16, False)],
        "change": [(0, False)],
        "~object": [(0, True)],
        "set": [(8, False)],
    }


NEVER = 80  # the least chance that is told


@pytest.mark.parametrize(
    ("declared", "condition", "elsewhere", "never"),
    [
        ("static int debug;", "debug", "", True),
        ("static int debug;", "debug && x", "", True),
        ("static int debug;", "x && unlikely(debug)", "", True),
        ("static int level = 1;", "level > 2", "", True),
        ("static int level = 1;", "level == 2", "", True),
        ("static unsigned flags = 4;", "flags & 3", "", True),
        ("static int quiet = 1;", "!quiet", "", True),
        ("const int debug = 0;", "debug", "", True),
        ("static const int debug = 0;", "debug", "int g(void) { return sizeof debug; }", True),
        ("", "of_function()", "", False),
        # Known to be so: the way is the usual one.
        ("static int level = 3;", "level > 2", "", False),
        # Somebody changes it, or may.
        ("static int debug;", "debug", "void g(void) { debug = 1; }", False),
        ("static int debug;", "debug", "void g(void) { debug++; }", False),
        ("static int debug;", "debug", "int *g(int y, int *p) { return y ? &debug : p; }", False),
        ("static int debug;", "debug", "struct option { int *flag; } options[] = {{&debug}};", False),
        ("static int debug;", "debug", 'void g(void) { __asm__("" : "=m"(debug)); }', False),
        ("static volatile int debug;", "debug", "", False),
        ("static int debug __attribute__((used));", "debug", "", False),
        ('static int debug __attribute__((section(".settings")));', "debug", "", False),
        ("int debug;", "debug", "", False),
        ("extern int debug;", "debug", "", False),
        ("extern const int debug;", "debug", "", False),
        # What it begins with is no number, or is compared with what is none.
        ("static int level = 1;", "level > x", "", False),
        ("static unsigned level = 1;", "level > -1", "", False),
    ],
)
def test_a_variable_that_nothing_changes_decides_what_never_runs(
    tmp_path: Path, declared: str, condition: str, elsewhere: str, never: bool
) -> None:
    text = f"""
    #define unlikely(e) __builtin_expect(!!(e), 0)
    int of_function(void);
    long counted, after;
    {declared}
    {elsewhere}
    void f(int x) {{ for (int i = 0; i < x; i++) {{ if ({condition}) counted++; after++; }} }}
    """
    rarity = column(read(tmp_path, text), "f", 13)
    # Of a constant, Clang leaves out what never runs itself.
    assert (rarity.get("counted", NEVER) >= NEVER) == never
    assert rarity["after"] <= 1


@pytest.mark.parametrize(
    "changed",
    [
        "struct A { int *p = &debug; };",
        "void g(int *p = &debug);",
        "template <int *P> struct T { void set() { *P = 1; } }; void g() { T<&debug>().set(); }",
        "struct A { int &r; A() : r(debug) {} };",
        "void g(int n) { int other; (n ? debug : other) = 1; }",
        "void g() { auto set = [&x = debug] { x = 2; }; set(); }",
        "template <class T> void g(T x) { debug = x; }",
        "int &g() { return debug; }",
    ],
)
def test_whatever_names_it_but_to_load_its_value_may_change_it(tmp_path: Path, changed: str) -> None:
    source = tmp_path / "unit.cpp"
    for text, never in ((changed, False), ("", True)):
        source.write_text(f"static int debug; {text} long counted; void f() {{ if (debug) counted++; }}")
        assert (column(read_unit(source, ["-std=c++17"]), "f", 13)["counted"] >= NEVER) == never


@pytest.mark.parametrize(
    ("body", "depths"),
    [
        ("for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < n; j++) x += p[i] * p[j];", {1, 2}),
        ("for (unsigned i = 0; i < n; i++) x = x * 31 + i;", {1}),
        ("x = p[n] * p[1] + n;", set()),
    ],
)
def test_loops_are_as_much_work_whatever_they_are_on(tmp_path: Path, body: str, depths: set[int]) -> None:
    unit = read(tmp_path, f"unsigned f(const unsigned char *p, unsigned n) {{ unsigned x = 0; {body} return x; }}")
    done = {depth: operations for depth, _, operations in rows(unit.functions["f"].get("loops", []), 3)}
    assert set(done) == depths
    assert done.get(max(depths, default=0), 5) >= 5  # of the inmost the update, its operands, the step, the test
