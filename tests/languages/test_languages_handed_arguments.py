"""Data that ``std::thread`` hands to its function as arguments: a record's members, as of a thread of C."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model.finding import Report
from sharing.static.startcalls import parsed
from tests import cpp

PROGRAM = """
#include <atomic>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>
#include <vector>
struct Stats {
    std::atomic<long> in{0};
    std::atomic<long> out{0};
    void arrive() { while (!ended.load()) in.fetch_add(1); }
    void leave() { while (!ended.load()) out.fetch_add(1); }
    static std::atomic<bool> ended;
};
alignas(64) std::atomic<bool> Stats::ended{false};
alignas(64) static Stats stats;
alignas(64) static Stats others;
static void reader(Stats *s) { s->arrive(); }
static void writer(Stats *s) { s->leave(); }
static void until(std::stop_token token, Stats *s) { while (!token.stop_requested()) s->in.fetch_add(1); }
static void adding(int, Stats &s, const char *) { s.arrive(); }
static void taking(Stats &s, int) { s.leave(); }
int main() {
    STARTS
    return 0;
}
"""
JOINED = " one.join(); two.join();"
LISTED = "std::vector<std::thread> all; ADD for (auto &one : all) one.join();"
TOGETHER = {
    "pointers": "std::thread one(reader, &stats), two(writer, &stats);" + JOINED,
    "references": 'std::thread one(adding, 3, std::ref(stats), "x"), two(taking, std::ref(stats), 4);' + JOINED,
    "methods": "std::thread one(&Stats::arrive, &stats), two(&Stats::leave, &stats);" + JOINED,
    "listed": LISTED.replace("ADD", "all.emplace_back(reader, &stats); all.emplace_back(writer, &stats);"),
    "tokens": "std::jthread one(until, &stats), two(writer, &stats);",
}
# Here nothing follows what ``std::ref`` returns.
UNOPTIMISED = ["pointers", "methods", "listed", "tokens"]
FUTURES = """
    auto one = std::async(std::launch::async, reader, &stats);
    auto two = std::async(std::launch::async, [] { writer(&stats); });
    one.get(); two.get();
"""
APART = {
    "two records": TOGETHER["pointers"].replace("writer, &stats", "writer, &others"),
    "one function, two records": "std::thread one(reader, &stats), two(reader, &others), three(writer, &stats);"
    + JOINED
    + " three.join();",
    "two listed records": TOGETHER["listed"].replace("writer, &stats", "writer, &others"),
}


def report(folder: Path, starts: str, compiler: str = "g++", level: str = "-O2") -> Report:
    source = folder / "handed.cpp"
    source.write_text(PROGRAM.replace("STARTS", starts))
    built = source.with_suffix("")
    cpp.build(compiler, source, built, "-std=c++20", level, "-g", "-pthread")
    return audit(AuditOptions(binary=str(built)))


def pairs(found: Report) -> list[set[str]]:
    return [{p.name for p in one.participants} for one in found.findings]


def threads(found: Report) -> set[str]:
    note = next(note for note in found.coverage.notes if note.startswith("threads: "))
    return set(note.removeprefix("threads: ").split(", "))


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("starts", TOGETHER.values(), ids=TOGETHER.keys())
def test_members_of_a_record_that_two_threads_are_handed(tmp_path: Path, starts: str, compiler: str) -> None:
    found = report(tmp_path, starts, compiler)
    assert {"stats.in", "stats.out"} in pairs(found)
    assert len(threads(found)) == 3


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("starts", UNOPTIMISED, ids=UNOPTIMISED)
def test_without_optimization(tmp_path: Path, starts: str, compiler: str) -> None:
    found = report(tmp_path, TOGETHER[starts], compiler, "-O0")
    assert {"stats.in", "stats.out"} in pairs(found)
    assert len(threads(found)) == 3


@pytest.mark.parametrize("starts", APART.values(), ids=APART.keys())
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_not_of_two_records_nor_where_one_function_is_handed_several(tmp_path: Path, starts: str, level: str) -> None:
    assert not pairs(report(tmp_path, starts, level=level))


def test_a_start_with_several_arguments_is_one_and_two_are_several(tmp_path: Path) -> None:
    once, twice = TOGETHER["references"], "three(taking, std::ref(stats), 5), two("
    assert threads(report(tmp_path, once)) == {"main", "adding", "taking"}
    again = once.replace("two(", twice) + " three.join();"
    assert threads(report(tmp_path, again)) == {"main", "adding", "taking (several)"}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_what_a_loop_starts_is_several_beside_another_thread(tmp_path: Path, compiler: str) -> None:
    loop = "for (int i = 0; i < n; i++) all.emplace_back(writer, &stats);"
    adding = f"std::thread two(reader, &stats); {loop} two.join();"
    starts = "volatile int some = 4; const int n = some; " + LISTED.replace("ADD", adding)
    assert threads(report(tmp_path, starts, compiler)) == {"main", "reader", "writer (several)"}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_futures_are_threads_of_what_they_call(tmp_path: Path, compiler: str, level: str) -> None:
    found = report(tmp_path, FUTURES, compiler, level)
    assert {"stats.in", "stats.out"} in pairs(found)
    main, closure, function = sorted(threads(found), key=lambda one: (one != "main", one))
    assert (main, function) == ("main", "reader")
    assert closure.startswith("main::")


class TestNames:
    """What the name of a template says of what it is given."""

    def test_a_function_and_what_it_is_handed(self) -> None:
        text = "std::thread::thread<void (&)(int, S&), int, R<S>, void>(void (&)(int, S&), int&&, R<S>&&)"
        template = parsed(text)
        assert template is not None
        assert template[:3] == (1, "void (&)(int, S&)", ["int&&", "R<S>&&"])

    def test_a_policy_in_front_is_no_function(self) -> None:
        text = "std::future<R> std::async<void (T::*)(), T*>(std::launch, void (T::*&&)(), T*&&)"
        template = parsed(text)
        assert template is not None
        assert template[:3] == (2, "void (T::*&&)()", ["T*&&"])

    @pytest.mark.parametrize("text", ["std::thread::join()", "std::thread::thread(std::thread&&)", "std::x<int>(int)"])
    def test_others_start_nothing(self, text: str) -> None:
        assert parsed(text) is None
