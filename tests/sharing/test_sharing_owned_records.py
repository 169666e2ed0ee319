"""Threads that each own an object of one type, in a pointer that is moved to them, do not meet in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Report
from sharing.static.ownedrecords import owned_records
from tests.sharing.conftest import Compile

PROGRAM = """
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>
SPACE
struct Counters { std::atomic<unsigned long> in{0}, out{0}; char rest[240]; };
std::atomic<bool> stop{false};
using Held = HELD;
void reader(Held HOW c) {
  while (!stop.load(std::memory_order_relaxed)) (AT)->in.fetch_add(1, std::memory_order_relaxed);
}
void writer(Held HOW c) {
  while (!stop.load(std::memory_order_relaxed)) (AT)->out.fetch_add(1, std::memory_order_relaxed);
}
void watcher(Counters *c) {
  while (!stop.load(std::memory_order_relaxed)) c->out.fetch_add(1, std::memory_order_relaxed);
}
END
int main() {
  STARTS
  getchar();
  stop = true;
  r.join();
  w.join();
}
"""
ONE, SEVERAL, SHARED = (
    "std::unique_ptr<Counters>",
    "std::vector<std::unique_ptr<Counters>>",
    "std::shared_ptr<Counters>",
)
MOVED = "auto a = std::make_unique<Counters>(), b = std::make_unique<Counters>(); "
MOVED += "std::thread r(reader, std::move(a)), w(writer, std::move(b));"
LISTS = "std::vector<std::unique_ptr<Counters>> a(4), b(4); for (auto &x : a) x.reset(new Counters); "
LISTS += "for (auto &x : b) x.reset(new Counters); std::thread r(reader, std::move(a)), w(writer, std::move(b));"
REFERRED = "auto a = std::make_unique<Counters>(); std::thread r(reader, std::ref(a)), w(writer, std::ref(a));"
COUNTED = "auto a = std::make_shared<Counters>(); std::thread r(reader, a), w(writer, a);"
WATCHED = "auto a = std::make_unique<Counters>(); Counters *p = a.get(); "
WATCHED += "std::thread r(reader, std::move(a)), w(watcher, p);"
OWN = {
    "one": (ONE, "", "c", MOVED, ""),
    "a list": (SEVERAL, "", "c[1]", LISTS, ""),
    "in a namespace": (ONE, "", "c", MOVED, "namespace net {"),
}
OTHERS = {
    "referred to": (ONE, "&", "c", REFERRED, ""),
    "shared": (SHARED, "", "c", COUNTED, ""),
    "watched": (ONE, "", "c", WATCHED, ""),
}
BUILDS = ["g++ -O0", "g++ -O2", "clang++-19 -O0", "clang++-19 -O2", "source"]
INLINED = "clang++-19 -O2"  # nothing there says any more which record the pointer leads to
Case = tuple[str, str, str, str, str]


def of_both(report: Report) -> str:
    both = {"in", "out"}
    found = ({p.full_name.rsplit(".")[-1] for p in f.participants} for f in report.findings if f.severity != "note")
    return "found" if any(both <= names for names in found) else "none"


def severity(compiled: Compile, folder: Path, build: str, case: Case) -> str:
    held, how, at, starts, space = case
    text = PROGRAM.replace("HELD", held).replace("HOW", how).replace("(AT)", at)
    text = (
        text.replace("STARTS", starts).replace("SPACE", space).replace("END", "} using namespace net;" if space else "")
    )
    if build == "source":
        source = folder / "program.cpp"
        source.write_text(text)
        return of_both(api.check([source], flags=["-O2", "-std=c++17"], cache=False, config=False))
    tool, level = build.split()
    return of_both(api.audit(str(compiled(tool, "cpp", text, level, "-g", "-std=c++17"))))


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("case", OWN.values(), ids=OWN)
def test_threads_that_own_one_each_do_not_meet(compiled: Compile, tmp_path: Path, build: str, case: Case) -> None:
    assert severity(compiled, tmp_path, build, case) == "none"


@pytest.mark.parametrize("build", [build for build in BUILDS if build != INLINED])
@pytest.mark.parametrize("case", OTHERS.values(), ids=OTHERS)
def test_threads_that_may_have_one_together_meet(compiled: Compile, tmp_path: Path, build: str, case: Case) -> None:
    assert severity(compiled, tmp_path, build, case) == "found"


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("f(std::unique_ptr<A, std::default_delete<A> >)", "A"),
        ("net::f(int, std::unique_ptr<net::A, std::default_delete<net::A>>) const", "net::A"),
        ("f(std::__1::vector<std::__1::unique_ptr<A, std::__1::default_delete<A>>, B<int> >)", "A"),
        ("f(std::unique_ptr<A, std::default_delete<A> >&)", ""),
        ("f(std::unique_ptr<A, std::default_delete<A> > const&)", ""),
        ("f(std::vector<std::unique_ptr<A, std::default_delete<A> > >&)", ""),
        ("f(std::map<int, std::unique_ptr<A, std::default_delete<A> > >&)", ""),
        ("f(void (*)(std::unique_ptr<A, std::default_delete<A> >))", ""),
        ("f(std::unique_ptr<A, void (*)(A*)>)", ""),
        ("f(std::shared_ptr<A>)", ""),
        ("unique_ptr)", ""),
        ("unique_ptr", ""),
    ],
)
def test_names_say_who_owns_what(name: str, record: str) -> None:
    owned = owned_records(
        ["main", f"unique_ptr{name}"], lambda names: [one.removeprefix("unique_ptr") for one in names]
    )
    assert owned == ({record: 2} if record else {})


@pytest.mark.parametrize("name", ["unique_ptr(a>", "unique_ptr)(", "unique_ptr<(", "unique_ptr"])
def test_a_name_with_odd_parentheses_has_no_parameters(name: str) -> None:
    assert owned_records([name], lambda names: names) == {}
