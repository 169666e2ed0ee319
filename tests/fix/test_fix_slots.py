"""Elements of an array in a record, by the facts that Clang states: the edit compiles, or its reason is given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sharing.fix.edits import apply_edits
from sharing.fix.members import separate_member_elements
from sharing.fix.plan import Plan, Planner
from sharing.fix.style import FixOptions
from sharing.fix.tokens import Refused
from tests.fix.program import read
from tests.fix.test_fix_corpus import facts

LINE = 64
C = """
#include <stddef.h>
#include <string.h>
#define COUNT 4
struct pool {
  int workers;
  MEMBER
};
struct pool pool = {2 VALUES};
OTHERS
unsigned long use(struct pool *p, int at);
unsigned long use(struct pool *p, int at) {
  USES
  return 0;
}
"""
CXX = """
#include <atomic>
#include <cstring>
class Pool {
public:
  void run(int at) { USES }
  MEMBER
  int workers = 0;
};
Pool pool;
OTHERS
void use(Pool &p, int at);
void use(Pool &p, int at) { p.run(at); }
"""
SLOTS = "struct { _Alignas(64) unsigned long value; } hits[COUNT];"
CXX_SLOTS = "struct { alignas(64) std::atomic<long> value; } hits[4]{};"


def planned(folder: Path, name: str, text: str, **changes: str) -> tuple[Plan, str]:
    """The edit of ``pool.hits``, and the file with it, which gcc and clang compile."""
    for what in ("MEMBER", "VALUES", "OTHERS", "USES"):
        text = text.replace(what, changes.get(what, ""))
    path = folder / name
    path.write_text(text)
    cxx = name.endswith("cc")
    standard = "-std=gnu++17" if cxx else "-std=gnu11"
    program = facts(folder, [name], "g++" if cxx else "gcc", standard)
    record = next(r for r in program.records.values() if r.facts.name.lower() == "pool")
    plan = separate_member_elements(Planner(program, read, FixOptions(LINE)), record, "hits")
    path.write_bytes(apply_edits(path.read_bytes(), plan.edits))
    for compiler in ("g++", "clang++-19") if cxx else ("gcc", "clang-19"):
        command = [compiler, standard, "-w", "-fsyntax-only", name]
        subprocess.run(command, cwd=folder, check=True)
    return plan, path.read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pool.hits[at]++;", "pool.hits[at].value++;"),
        ("p->hits[at + 1] += p[0].hits[(at)];", "p->hits[at + 1].value += p[0].hits[(at)].value;"),
        ("memset(p, 0, sizeof *p); (&pool)->hits[0] = 1;", "memset(p, 0, sizeof *p); (&pool)->hits[0].value = 1;"),
        ("unsigned long hits = p->hits[at]; hits++;", "unsigned long hits = p->hits[at].value; hits++;"),
        ("unsigned size = sizeof p->hits[0]; (void)size;", "unsigned size = sizeof p->hits[0].value; (void)size;"),
        ("unsigned long x = at & p->hits[0]; (void)x;", "unsigned long x = at & p->hits[0].value; (void)x;"),
        ("BUMP(p, at);", "BUMP(p, at);"),
    ],
)
def test_uses_of_the_elements_follow(tmp_path: Path, before: str, after: str) -> None:
    _, text = planned(
        tmp_path,
        "pool.c",
        C,
        MEMBER="unsigned long hits[COUNT]; /* a worker each */",
        USES=before,
        OTHERS="#define BUMP(pool, at) ((pool)->hits[at]++)",
    )
    assert f"  {SLOTS} /* a worker each */\n" in text
    assert f"  {after}\n" in text
    assert "((pool)->hits[at].value++)" in text


@pytest.mark.parametrize("values", ["", ", {0}", ", .hits = {0}", ", .hits = {}, .workers = 3"])
def test_initialisers_of_zero_stay(tmp_path: Path, values: str) -> None:
    _, text = planned(tmp_path, "pool.c", C, MEMBER="unsigned long hits[COUNT];", VALUES=values)
    assert SLOTS in text
    assert f"{{2 {values}}}" in text


def test_the_address_of_an_element_that_is_computed_is_a_note(tmp_path: Path) -> None:
    member, text = "unsigned long hits[COUNT];", "unsigned long *mine = &p->hits[at]; ++*mine;"
    plan, _ = planned(tmp_path, "pool.c", C, MEMBER=member, USES=text)
    assert any("takes the address of an element" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("member", "uses", "others", "why"),
    [
        ("unsigned long hits[COUNT];", "return *p->hits;", "", "it is used as a whole"),
        ("unsigned long hits[COUNT];", "memset(p->hits, 0, sizeof(p->hits));", "", "it is used as a whole"),
        ("unsigned long hits[COUNT];", "use((void *)&p->hits[0], at);", "", "the address of one element is taken"),
        ("unsigned long hits[COUNT];", "return offsetof(struct pool, hits);", "", "a macro is handed its name"),
        ("unsigned long hits[COUNT];", "return GET(p, hits);", "#define GET(p, m) (p)->m[0]", "a macro is handed"),
        ("unsigned long hits[COUNT];", "", "struct other { int hits; };\nstruct other o;", "has a member hits too"),
        ("unsigned long hits[COUNT], misses[COUNT];", "", "", "hits is declared together with others"),
        ("unsigned long hits[COUNT][2];", "", "", "hits has rows"),
        ("unsigned long hits[COUNT];", "", "#include <stdlib.h>\nvoid *made(void);\n"
         "void *made(void) { struct pool *q = malloc(sizeof(struct pool)); return q; }", "without alignment"),
    ],
)  # fmt: skip
def test_what_is_no_use_of_single_elements_is_refused(
    tmp_path: Path, member: str, uses: str, others: str, why: str
) -> None:
    with pytest.raises(Refused, match=why):
        planned(tmp_path, "pool.c", C, MEMBER=member, USES=uses, OTHERS=others)


@pytest.mark.parametrize("values", [", {1, 2, 3, 4}", ", .hits = {[2] = 5}", ", .hits[1] = 7"])
def test_initialisers_of_single_elements_are_refused(tmp_path: Path, values: str) -> None:
    with pytest.raises(Refused, match="initialised one by one"):
        planned(tmp_path, "pool.c", C, MEMBER="unsigned long hits[COUNT];", VALUES=values)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("hits[at]++;", "hits[at].value++;"),
        ("this->hits[at] += 2;", "this->hits[at].value += 2;"),
        ("auto f = [this] { hits[0] = 1; }; f();", "auto f = [this] { hits[0].value = 1; }; f();"),
    ],
)  # fmt: skip
def test_methods_name_the_array_alone(tmp_path: Path, before: str, after: str) -> None:
    _, text = planned(tmp_path, "pool.cc", CXX, MEMBER="std::atomic<long> hits[4]{};", USES=before)
    assert CXX_SLOTS in text
    assert f"{{ {after} }}" in text


@pytest.mark.parametrize(
    ("uses", "others", "why"),
    [
        ("for (auto &one : hits) one++; workers = at;", "", "it is used as a whole"),
        ("long hits[2] = {at, 1}; hits[0]++;", "", "something else is called hits too"),
        ("hits[at]++;", "long hits;", "a variable is called hits too"),
    ],
)
def test_another_meaning_of_the_name_is_refused(tmp_path: Path, uses: str, others: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        planned(tmp_path, "pool.cc", CXX, MEMBER="std::atomic<long> hits[4]{};", USES=uses, OTHERS=others)


def test_values_of_single_elements_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="initialised one by one"):
        planned(tmp_path, "pool.cc", CXX, MEMBER="long hits[4] = {1, 2};", USES="hits[at]++;")
