"""Locksets against Clang's own -Wthread-safety, on code that is annotated for it.

Owns the comparison: an access to a guarded member that Clang accepts has the guard in our lockset, and one that it
warns about has not.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.analyzer_functions.facts_in_words import Unit, read_unit, rows, tool

SOURCE = Path(__file__).parent / "annotated" / "thread_safety.cpp"
GUARD_OF = {"money_": "mutex_", "other_": "second_", "global": "global_mutex", "value": "mutex"}
CLANG = shutil.which("clang++-19")

pytestmark = [
    pytest.mark.skipif(tool() is None, reason="linemate-facts is not built"),
    pytest.mark.skipif(CLANG is None, reason="clang++-19 is not installed"),
]


def lines_clang_warns_about() -> set[tuple[int, str]]:
    command = [str(CLANG), "-std=c++17", "-fsyntax-only", "-Wthread-safety", str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = re.findall(r":(\d+):\d+: warning: (?:reading|writing) variable '([\w:]+)' requires", done.stderr)
    return {(int(line), name.split("::")[-1]) for line, name in found}


def guarded_accesses(unit: Unit) -> dict[tuple[int, str], bool]:
    """(line, member) of every access to a guarded member: is its guard held?"""
    out: dict[tuple[int, str], bool] = {}
    for _identity, facts in unit.document["functions"]:
        locks = facts.get("locks", [])
        for row in rows(facts.get("accesses", []), 16):
            base, number, record, offset = row[:4]
            name = unit.symbol(number) if base == 1 else unit.member(record, offset).lstrip(".")
            if name not in GUARD_OF:
                continue
            held = [locks[i] for i in facts.get("locksets", [[]])[row[15]]]
            out[row[10], name] = any(_is_guard(unit, lock, row, GUARD_OF[name]) for lock in held)
    return out


def _is_guard(unit: Unit, lock: list[object], access: list[int], guard: str) -> bool:
    """The same object's guard: equal base, and the guard by name."""
    base, number, record, offset = (int(str(x)) for x in lock[:4])
    if (base, number) != (access[0], access[1]) and base != 1:
        return False
    name = unit.symbol(number) if base == 1 else unit.member(record, offset).lstrip(".")
    return name == guard


def test_clang_accepts_exactly_the_accesses_under_their_guard() -> None:
    warned = lines_clang_warns_about()
    ours = guarded_accesses(read_unit(SOURCE, ["-std=c++17"]))
    assert warned <= set(ours)
    assert {key for key, held in ours.items() if not held} == warned


def test_the_comparison_covers_both_verdicts() -> None:
    ours = guarded_accesses(read_unit(SOURCE, ["-std=c++17"]))
    assert sum(ours.values()) >= 15
    assert len(lines_clang_warns_about()) >= 12


@pytest.mark.parametrize(
    ("function", "column", "lock"),
    [
        ("Account::needs", "requires", "mutex_"),
        ("Account::acquires", "acquires", "mutex_"),
        ("Account::releases", "releases", "mutex_"),
    ],
)
def test_what_annotations_and_bodies_say_of_callers(function: str, column: str, lock: str) -> None:
    unit = read_unit(SOURCE, ["-std=c++17"])
    facts = unit.functions[function]
    assert [unit.member(facts["locks"][i][2], facts["locks"][i][3]).lstrip(".") for i in facts[column]] == [lock]


WRAPPER = """
#include <mutex>
class __attribute__((capability("mutex"))) Wrapper {
public:
  void take() __attribute__((acquire_capability()));
  void drop() __attribute__((release_capability()));
private:
  MEMBERS
};
class __attribute__((scoped_lockable)) Holder {
public:
  explicit Holder(Wrapper *one) __attribute__((acquire_capability(one)));
  ~Holder() __attribute__((release_capability()));
};
struct Counted {
  int before[4];
  Wrapper lock;
  int value;
  void count() { Holder held(&lock); value++; }
};
void use(Counted &all) { all.count(); }
"""


@pytest.mark.parametrize(
    ("members", "offset", "kind"),
    [
        ("std::mutex one;", 16, "std::mutex"),
        ("const char *name; std::mutex one;", 24, "std::mutex"),
        ("std::mutex one, other;", 16, ""),
        ("std::mutex *one;", 16, ""),
        ("long word;", 16, ""),
    ],
    ids=["a lock", "behind a name", "one of two", "elsewhere", "of its own"],
)
def test_a_lock_that_is_annotated_is_the_one_that_it_wraps(
    tmp_path: Path, members: str, offset: int, kind: str
) -> None:
    source = tmp_path / "wrapper.cpp"
    source.write_text(WRAPPER.replace("MEMBERS", members))
    facts = read_unit(source, ["-std=c++17"]).functions["Counted::count"]
    (held,) = {lock for row in rows(facts["accesses"], 16) for lock in facts["locksets"][row[15]]}
    assert (facts["locks"][held][3], facts["locks"][held][6]) == (offset, kind)
