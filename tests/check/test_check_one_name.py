"""A pair has one id, whoever reads its names: the source, or what a compiler says in what was linked.

What is in an anonymous namespace has the source's name; template arguments are spelled in many ways.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from sharing.model.finding import GUARDED
from tests.check.repositories import Project, need_analyzer

FLAGS = ("-O2", "-g", "-std=c++17", "-pthread")
COMPILERS = ["g++", "clang++-19"]
START = """
#include <atomic>
#include <thread>
namespace app {
namespace {
"""
MEMBERS = f"""{START}
struct Tally {{
  std::atomic<unsigned long> parsed;
  std::atomic<unsigned long> written;
}};
Tally tally;
void parser(unsigned long n) {{
  while (n--) tally.parsed.fetch_add(1);
}}
void writer(unsigned long n) {{
  while (n--) tally.written.fetch_add(1);
}}
}}
}}
int main(int n, char **) {{
  std::thread one(app::parser, 1000u * n), two(app::writer, 1000u * n);
  one.join();
  two.join();
}}
"""
VARIABLES = f"""{START}
std::atomic<bool> closed;
std::atomic<unsigned long> pushed;
void work() {{
  while (!closed.load(std::memory_order_relaxed)) pushed.fetch_add(1);
}}
}}
}}
int main(int n, char **) {{
  std::thread one(app::work), two(app::work);
  while (app::pushed.load() < 1000u * n) std::this_thread::yield();
  app::closed = true;
  one.join();
  two.join();
}}
"""
TEMPLATES = f"""{START}
template <class T, T First> struct Ring {{
  std::atomic<T> head{{First}};
  std::atomic<T> tail{{First}};
}};
}}
Ring<unsigned long, 1> ring;
void push(unsigned n) {{
  while (n--) ring.head.fetch_add(1);
}}
void pop(unsigned n) {{
  while (n--) ring.tail.fetch_add(1);
}}
template <class T> struct Count {{ static std::atomic<T> hits, misses; }};
template <class T> std::atomic<T> Count<T>::hits{{1}};
template <class T> std::atomic<T> Count<T>::misses{{1}};
void hit(unsigned n) {{
  while (n--) Count<long>::hits.fetch_add(1);
}}
void miss(unsigned n) {{
  while (n--) Count<long>::misses.fetch_add(1);
}}
}}
int main(int n, char **) {{
  std::thread threads[] = {{std::thread(app::push, n), std::thread(app::pop, n),
                           std::thread(app::hit, n), std::thread(app::miss, n)}};
  for (auto &thread : threads) thread.join();
}}
"""
# Each with the two that meet, and what is edited.
PAIRS = {
    "members": (
        MEMBERS,
        {"app::tally.parsed", "app::tally.written"},
        "+  alignas(64) std::atomic<unsigned long> written;",
    ),
    "variables": (VARIABLES, {"app::pushed", "app::closed"}, "+static union alignas(64) {"),
}
# Two units with variables of the same names.
LANE = """
#include <atomic>
#include <thread>
OPEN
LOCAL std::atomic<bool> closed;
LOCAL std::atomic<unsigned long> hits;
LOCAL void work() {
  while (!closed.load(std::memory_order_relaxed)) hits.fetch_add(1);
}
CLOSE
unsigned long LANE(unsigned long n) {
  std::thread one(work), two(work);
  while (hits.load() < n) std::this_thread::yield();
  closed = true;
  one.join();
  two.join();
  return hits;
}
"""
LANES = """
unsigned long left(unsigned long), right(unsigned long);
int main(int n, char **) { return left(n) + right(n) == 0; }
"""


def build(project: Project, compiler: str, out: str, *units: str) -> None:
    subprocess.run([compiler, *FLAGS, "-o", out, *units], cwd=project.top, check=True)


def findings(run: Callable[..., Any], *arguments: str) -> list[dict[str, Any]]:
    ran = run(*arguments, "--format", "json", "--min-severity", "low", "--fail-on", "never")
    assert ran.code == 0, ran.err
    found: list[dict[str, Any]] = json.loads(ran.out)["findings"]
    return found


def names(finding: dict[str, Any]) -> frozenset[str]:
    return frozenset(".".join(filter(None, (who["name"], who.get("member")))) for who in finding["participants"])


def piped(project: Project, compiler: str, text: str) -> None:
    need_analyzer(compiler)
    project.write({"pipe.cc": text})
    project.database("pipe.cc", flags=FLAGS, folder=".")
    build(project, compiler, "pipe", "pipe.cc")


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("text", "pair", "edit"), PAIRS.values(), ids=PAIRS)
def test_an_audit_and_a_check_have_one_id_for_a_pair(
    project: Project, run: Callable[..., Any], compiler: str, text: str, pair: set[str], edit: str
) -> None:
    piped(project, compiler, text)
    said = set()
    for how in (("audit", "pipe"), ("check",), ("check", "--binary", "pipe")):
        found = findings(run, *how)
        assert not any("anonymous" in name for one in found for name in names(one))
        met = [one["id"] for one in found if pair <= names(one)]
        assert len(met) == 1, (how, met)
        said.update(met)
    assert len(said) == 1
    for more in ((), ("--binary", "pipe")):
        edited = run("fix", *said, *more)
        assert edited.code == 0, edited.err
        assert edit in edited.out, (more, edited.err)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_arguments_of_templates_make_no_other_id(project: Project, run: Callable[..., Any], compiler: str) -> None:
    piped(project, compiler, TEMPLATES)
    said = []
    for how in (("audit", "pipe"), ("check", "--binary", "pipe")):
        found = findings(run, *how)
        said.append({one["id"] for one in found if any("Count<" in name for name in names(one))})
        assert len(said[-1]) == 1, (how, [names(one) for one in found])
    assert said[0] == said[1]


def test_names_with_the_scope_mean_the_same(project: Project, run: Callable[..., Any]) -> None:
    """As they stand in guards, configurations and notes of before, and as other tools print them."""
    unwritten = "app::(anonymous namespace)::"
    piped(project, "g++", MEMBERS)
    for name in ("tally", "tally.written", "Tally", "Tally.written"):
        long, short = (run("lines", "pipe", scope + name, "--format", "json") for scope in (unwritten, "app::"))
        assert long.code == 0, long.err
        assert long.out.replace(unwritten, "app::") == short.out
    assert len(findings(run, "audit", "pipe", "--symbol", f"{unwritten}tally.*")) == 1
    apart = f'names = ["{unwritten}tally.parsed", "{unwritten}tally.written"]'
    project.write({"guards.toml": f'schema = "linemate-guards-1"\n[[apart]]\n{apart}\n'})
    assert GUARDED in [one["rule"] for one in findings(run, "audit", "pipe", "--guards", "guards.toml")]
    project.write({"linemate.toml": suppression(f"{unwritten}tally.*")})
    assert findings(run, "audit", "pipe") == []


def suppression(symbol: str) -> str:
    return f'[[suppress]]\nrule = "*"\nsymbol = "{symbol}"\nreason = "a test"\n'


@pytest.mark.parametrize(("compiler", "stripped"), [("g++", False), ("g++", True), ("clang++-19", False)])
def test_units_with_one_name_are_as_apart_as_statics_are(
    project: Project, run: Callable[..., Any], compiler: str, stripped: bool
) -> None:
    need_analyzer(compiler, "strip")
    told = []
    for opened, local, closed in (("namespace {", "", "}"), ("", "static", "")):
        lane = LANE.replace("OPEN", opened).replace("LOCAL", local).replace("CLOSE", closed)
        project.write({f"{side}.cc": lane.replace("LANE", side) for side in ("left", "right")} | {"lanes.cc": LANES})
        build(project, compiler, "lanes", "lanes.cc", "left.cc", "right.cc")
        if stripped:
            subprocess.run([str(shutil.which("strip")), "--strip-debug", "lanes"], cwd=project.top, check=True)
        objects = [e["object"] for one in json.loads(run("lines", "lanes", "hits", "--format", "json").out)["layouts"]
                   for e in one["excerpts"]]  # fmt: skip
        assert len({one["address"] for one in objects}) == 2
        told.append(
            sorted((found["id"], found["severity"], sorted(names(found))) for found in findings(run, "audit", "lanes"))
        )
    assert told[0]
    assert told[0] == told[1]
