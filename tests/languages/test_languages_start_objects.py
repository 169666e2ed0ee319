"""Members of the object whose methods or closures ``std::thread`` starts, wherever that object is."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.image import read_images
from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.judge.passes import Passes, run_passes
from sharing.knowledge import default_knowledge
from sharing.model.finding import Finding, Severity
from tests import cpp

PROGRAM = """
#include <atomic>
#include <thread>
#include <vector>
struct Server {
    void start();
    void stop();
    void accept() { while (!ended.load()) { FIRST.fetch_add(1); } }
    void serve() { while (!ended.load()) { SECOND.fetch_add(1); } }
    alignas(64) std::atomic<long> accepted{0};
    std::atomic<long> served{0};
    alignas(64) std::atomic<long> alone{0};
    alignas(64) std::atomic<bool> ended{false};
    std::vector<std::thread> threads;
};
__attribute__((noinline)) void Server::start() { STARTS }
__attribute__((noinline)) void Server::stop() {
    ended = true;
    for (auto &thread : threads) thread.join();
}
static std::vector<Server *> servers;
OBJECT
"""
BY_METHOD = "std::thread one(&Server::accept, this), two(&Server::serve, this); one.detach(); two.detach();"
BY_LAMBDA = "threads.emplace_back([this] { accept(); }); threads.emplace_back([this] { serve(); });"
ON_HEAP = "int main(int argc, char **) { auto *s = new Server; s->start(); if (argc > 1) s->stop(); delete s; }"
STATIC = "static Server server; int main(int argc, char **) { server.start(); if (argc > 1) server.stop(); }"


def found_in(folder: Path, starts: str, program: str, first: str, second: str, compiler: str = "g++") -> list[Finding]:
    """What is said of a server, at low and above."""
    text = PROGRAM.replace("STARTS", starts).replace("OBJECT", program)
    source = folder / "server.cpp"
    source.write_text(text.replace("FIRST", first).replace("SECOND", second))
    built = source.with_suffix("")
    cpp.build("g++", source, built, "-std=c++17", "-O2", "-g", "-pthread")
    findings = audit(AuditOptions(binary=str(built))).findings
    return [finding for finding in findings if finding.severity.rank >= Severity.LOW.rank]


def pairs(folder: Path, starts: str, program: str, first: str, second: str) -> list[tuple[set[str], Severity]]:
    """What is said of members of a server: their names, and how severe it is."""
    findings = found_in(folder, starts, program, first, second)
    return [({p.name.rpartition(".")[2] for p in f.participants}, f.severity) for f in findings]


@pytest.mark.parametrize("starts", [BY_METHOD, BY_LAMBDA], ids=["method", "lambda"])
@pytest.mark.parametrize("program", [ON_HEAP, STATIC], ids=["heap", "static"])
def test_members_that_two_threads_of_one_object_change(tmp_path: Path, starts: str, program: str) -> None:
    (found,) = pairs(tmp_path, starts, program, "accepted", "served")
    assert found[0] >= {"accepted", "served"}
    assert found[1].rank >= Severity.MEDIUM.rank


def passes_of(folder: Path, starts: str, compiler: str) -> Passes:
    """What is told of a server whose object is on the heap."""
    text = PROGRAM.replace("STARTS", starts).replace("OBJECT", ON_HEAP)
    source = folder / "listed.cpp"
    source.write_text(text.replace("FIRST", "accepted").replace("SECOND", "served"))
    built = source.with_suffix("")
    cpp.build(compiler, source, built, "-std=c++17", "-O2", "-g", "-pthread")
    return run_passes(next(read_images(str(built))), default_knowledge(), lambda names: names)


def given_data(folder: Path, starts: str, compiler: str) -> set[bool]:
    """Of each place that makes a closure of a method, is it known on which object that runs?"""
    return {bool(one.data) for one in passes_of(folder, starts, compiler).image.given}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_closures_that_a_list_of_threads_makes(tmp_path: Path, compiler: str) -> None:
    """What they hold is handed to where they are made by its address on the stack."""
    listed = "for (int i = 0; i < 4; i++) threads.emplace_back(&Server::accept, OF);"
    assert given_data(tmp_path, listed.replace("OF", "this"), compiler) == {True}
    several = given_data(tmp_path, listed.replace("OF", "i % 2 ? this : (Server *)&threads"), compiler)
    assert True not in several


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_methods_of_which_one_function_makes_the_closures(tmp_path: Path, compiler: str) -> None:
    """It is handed each method by its address on the stack: the closure's own function is no thread besides."""
    listed = "threads.emplace_back(&Server::accept, this); threads.emplace_back(&Server::serve, this);"
    passes = passes_of(tmp_path, listed, compiler)
    assert {bool(one.data) for one in passes.image.given} == {True}
    assert {root.name for root in passes.calls.roots} == {"main", "_ZN6Server6acceptEv", "_ZN6Server5serveEv"}


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_a_method_that_is_not_known_is_given_no_object(tmp_path: Path, compiler: str) -> None:
    chosen = (
        "static void (Server::*volatile any)() = &Server::accept; auto one = any; threads.emplace_back(one, this); "
    )
    passes = passes_of(tmp_path, chosen + "threads.emplace_back(&Server::serve, this);", compiler)
    names = {int(row["address"]): passes.image.names[row["name"]] for row in passes.image.functions}
    assert {names[one.entry] for one in passes.image.given} <= {"_ZN6Server5serveEv"}


@pytest.mark.parametrize("starts", [BY_METHOD, BY_LAMBDA], ids=["method", "lambda"])
@pytest.mark.parametrize("program", [ON_HEAP, STATIC], ids=["heap", "static"])
def test_members_on_lines_of_their_own(tmp_path: Path, starts: str, program: str) -> None:
    assert not pairs(tmp_path, starts, program, "accepted", "alone")


def test_members_that_all_threads_change_alike(tmp_path: Path) -> None:
    """Both counters are changed by the thread that serves: nobody else's line is taken."""
    both = "served.fetch_add(1); accepted"
    assert not pairs(tmp_path, BY_METHOD, ON_HEAP, "alone", both)


def test_the_object_is_told_by_the_function_that_starts_the_threads_as_the_program_names_it(tmp_path: Path) -> None:
    (finding,) = found_in(tmp_path, BY_METHOD, ON_HEAP, "accepted", "served")
    evidence = [one.text for one in finding.evidence]
    assert any("`this` of Server::start" in text for text in evidence)
    assert "_ZN" not in " ".join([finding.message, *evidence, *(p.name for p in finding.participants)])


LISTED = """
#include <atomic>
#include <thread>
#include <vector>
struct Server {
    std::atomic<bool> ended{false};
    unsigned long rounds = 0;
    void flush() { while (!ended.load()) ++rounds; }
};
static Server server;
static void monitor() { server.flush(); }
__attribute__((noinline)) void start(std::vector<std::thread> &threads) { STARTS }
int main(int, char **) {
    std::vector<std::thread> threads;
    start(threads);
    server.ended = true;
    for (auto &one : threads) one.join();
}
"""
FUNCTION, METHOD = "threads.emplace_back(monitor);", "threads.emplace_back(&Server::flush, &server);"


@pytest.mark.parametrize(("times", "many"), [(1, False), (2, True)])
def test_a_list_of_threads_is_filled_by_what_fills_it_and_not_by_its_end(
    tmp_path: Path, times: int, many: bool
) -> None:
    """All in one function: the place of what it handed over is not written again, and its end is handed that list."""
    source = tmp_path / "filled.cpp"
    text = LISTED.replace("__attribute__((noinline)) void start", "static inline void start")
    source.write_text(text.replace("STARTS", METHOD * times))
    built = source.with_suffix("")
    cpp.build("g++", source, built, "-std=c++17", "-O2", "-g", "-pthread")
    passes = run_passes(next(read_images(str(built))), default_knowledge(), lambda names: {n: n for n in names})
    assert {root.name: root.many for root in passes.calls.roots}["_ZN6Server5flushEv"] == many


# Neither is what the other comes to, though one call of the function comes to both.
TWICE = "std::thread one(monitor), other(monitor); one.detach(); other.detach();"


@pytest.mark.parametrize(
    ("starts", "many"),
    [(FUNCTION, False), (METHOD, False), (METHOD * 2, True), (TWICE, True)],
    ids=["function", "method", "two", "twice"],
)
def test_a_list_of_threads_that_makes_what_it_starts_in_either_of_two_objects(
    tmp_path: Path, starts: str, many: bool
) -> None:
    """Whether the list has room or not the thread is one, and the function's: no closure calls what nobody knows."""
    source = tmp_path / "listed.cpp"
    source.write_text(LISTED.replace("STARTS", starts))
    built = source.with_suffix("")
    cpp.build("g++", source, built, "-std=c++17", "-O2", "-g", "-pthread")
    passes = run_passes(next(read_images(str(built))), default_knowledge(), lambda names: {n: n for n in names})
    roots = {root.name: root.many for root in passes.calls.roots}
    assert [found for name, found in roots.items() if "monitor" in name or "flush" in name] == [many]
    assert not [name for name in roots if "_M_run" in name]
