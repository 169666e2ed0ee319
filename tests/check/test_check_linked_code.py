"""A check with the linked program at hand judges with its code too: what it says of lines that source says less of."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from linemate.checking.linked import joined
from sharing.judge.declarations import said_once
from sharing.model.finding import Confidence, Finding, LineRef, Participant, Severity, Verdict
from tests.check.repositories import Project, need_analyzer

FLAGS = ("-O2", "-g", "-std=c++17", "-pthread")
BUILD = "sh build.sh"
SCRIPT = f"mkdir -p build\ng++ {' '.join(FLAGS)} -o build/queue queue.cpp main.cpp\n"
HEADER = """
#include <atomic>
struct Job { int id; long payload; };
void push(const Job &job);
bool pop(Job &job);
long polls();
"""
QUEUE = """
#include "queue.h"
#include <deque>
#include <mutex>
alignas(64) static std::mutex queue_lock;
COUNTER
alignas(64) static std::deque<Job> jobs;  // the compiler puts the counter behind it
long polls() { return COUNT; }
void push(const Job &job) {
    std::lock_guard<std::mutex> guard(queue_lock);
    jobs.push_back(job);
}
bool pop(Job &job) {
    COUNTING
    std::lock_guard<std::mutex> guard(queue_lock);
    if (jobs.empty()) return false;
    job = jobs.front();
    jobs.pop_front();
    return true;
}
"""
MAIN = """
#include "queue.h"
#include <cstdio>
#include <thread>
#include <vector>
static void work(int) {
    Job job;
    for (;;)
        if (pop(job) && job.id == 1000000) return;
}
static void produce() {
    for (int i = 0; i <= 1000000; i++) push(Job{i, i * 2L});
}
int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back(work, i);
    std::thread producer(produce);
    producer.join();
    for (auto &t : threads) t.join();
    std::printf("%ld", polls());
}
"""
BESIDE = "static std::atomic<long> empty_polls{0};"
APART = "static struct alignas(64) { std::atomic<long> value; } empty_polls;"


def queue(counter: str) -> str:
    value = "empty_polls.value" if counter == APART else "empty_polls"
    count, counting = (f"{value}.load()", f"{value}.fetch_add(1);") if counter else ("0", "")
    return QUEUE.replace("COUNTER", counter).replace("COUNTING", counting).replace("COUNT", count)


@pytest.fixture
def base(project: Project) -> str:
    """A queue of the standard library whose pops nobody counts."""
    need_analyzer("g++")
    commit = project.commit({"queue.h": HEADER, "queue.cpp": queue(""), "main.cpp": MAIN, "build.sh": SCRIPT})
    project.database("queue.cpp", "main.cpp", flags=FLAGS)
    return commit


def changed(run: Callable[..., Any], project: Project, base: str, counter: str, *more: str) -> tuple[int, Any]:
    project.write({"queue.cpp": queue(counter)})
    subprocess.run(["sh", "build.sh"], cwd=project.top, check=True, capture_output=True)
    built = ("--base", base, "--build", BUILD, "--binary", "build/queue")
    result = run("check", *built, "--format", "json", *more)
    return result.code, json.loads(result.out)["findings"]


def names(finding: Any) -> set[str]:
    return {who["name"].partition(".")[0] for who in finding["participants"]}


def test_a_check_says_what_an_audit_of_its_program_says(run: Callable[..., Any], project: Project, base: str) -> None:
    """The members of a library's record are read at addresses that the linked code alone tells."""
    code, found = changed(run, project, base, BESIDE)
    assert code == 1
    audited = json.loads(run("audit", "build/queue", "--format", "json").out)["findings"]
    severe = {one["id"] for one in audited if one["severity"] == "high" and "empty_polls" in names(one)}
    assert severe
    assert severe <= {one["id"] for one in found if one["severity"] == "high"}


def test_a_counter_on_a_line_of_its_own_passes(run: Callable[..., Any], project: Project, base: str) -> None:
    code, found = changed(run, project, base, APART)
    assert (code, found) == (0, [])


def test_what_the_program_of_the_base_shows_is_not_new(run: Callable[..., Any], project: Project, base: str) -> None:
    project.write({"queue.cpp": queue(BESIDE)})
    second = project.commit()
    code, found = changed(run, project, second, BESIDE)
    assert (code, found) == (0, [])


def test_what_only_the_program_shows_is_fixed_by_its_id(run: Callable[..., Any], project: Project, base: str) -> None:
    _, found = changed(run, project, base, BESIDE)
    (one,) = [finding for finding in found if finding["severity"] == "high"]
    fixed = run("fix", one["id"], "--binary", "build/queue")
    assert fixed.code == 0
    assert "+static union alignas(64) { std::atomic<long> empty_polls{0}; };" in fixed.out
    # What the debug information says of another line than source has is nobody's to edit.
    project.write({"queue.cpp": f"// moved\n{queue(BESIDE)}"})
    moved = run("fix", one["id"], "--binary", "build/queue")
    assert (moved.code, moved.out) == (1, "")
    assert "queue.cpp:6 declares it by the debug information, and no unit that was analysed does there" in moved.err


def finding(name: str, severity: Severity, *who: str, rule: str = "independent-writers", at: str = "0x40") -> Finding:
    people = tuple(Participant(one, at, 8, ((0, 8),), "atomic", "") for one in who)
    return Finding(
        name, rule, severity, Confidence.STATIC, Verdict.FALSE_SHARING, LineRef(at, 64), people, "what it is", (), ()
    )


A, B = "rule-aaaaaaaaaa", "rule-bbbbbbbbbb"


def test_one_finding_has_the_severity_of_the_side_that_says_more() -> None:
    mild, severe = finding(A, Severity.MEDIUM, "a", "b"), finding(A, Severity.HIGH, "a", "b")
    for source, code in ((mild, severe), (severe, mild)):
        (one,) = joined((source,), (code,))
        assert one.severity is Severity.HIGH
        # Who audits the program sees the other one under the same id.
        said = f"{code.severity} by the linked code, {source.severity} by the source: the higher counts"
        assert one.evidence[0].text.startswith(said)
    (one,) = joined((mild,), (mild,))
    assert one.evidence == ()


def test_code_that_is_less_sure_changes_nothing() -> None:
    mild = finding(A, Severity.MEDIUM, "a", "b")
    sure = msgspec.structs.replace(finding(A, Severity.HIGH, "a", "b"), confidence=Confidence.LAYOUT)
    assert joined((mild,), (sure,)) == [mild]


def test_what_code_alone_shows_is_listed_from_medium_on() -> None:
    assert joined((), (finding(A, Severity.LOW, "a", "b"),)) == []
    (one,) = joined((), (finding(A, Severity.MEDIUM, "a", "b"),))
    assert one.severity is Severity.MEDIUM


def test_one_line_mate_under_two_names_is_said_once_by_the_side_that_says_more() -> None:
    source, code = finding(A, Severity.MEDIUM, "a", "b.x"), finding(B, Severity.HIGH, "a", "b.y")
    assert joined((source,), (code,)) == [code]
    source = finding(A, Severity.HIGH, "a", "b.x")
    assert joined((source,), (code,)) == [source]


def test_two_pairs_are_said_twice() -> None:
    source, code = finding(A, Severity.HIGH, "a", "b"), finding(B, Severity.HIGH, "c", "d")
    assert joined((source,), (code,)) == [source, code]
    elsewhere = finding(B, Severity.HIGH, "a", "b", at="0x80")
    assert joined((source,), (elsewhere,)) == [source, elsewhere]


def array(rule: str, severity: Severity, *who: str, at: str = "0x40") -> Finding:
    return msgspec.structs.replace(
        finding(f"{rule}-{len(who[0]):010x}", severity, *who, rule=rule, at=at),
        participants=tuple(Participant(one, at, 8, ((0, 8),), "array", "", member=inside) for one, _, inside in
                           (name.partition("|") for name in who)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("slots", "aligned", "left"),
    [
        (Severity.LOW, Severity.HIGH, ["array-aligned-not-element"]),
        (Severity.HIGH, Severity.HIGH, ["array-aligned-not-element"]),
        (Severity.HIGH, Severity.MEDIUM, ["packed-thread-slots"]),
    ],
)
def test_an_array_is_said_once(slots: Severity, aligned: Severity, left: list[str]) -> None:
    on_line = array("packed-thread-slots", slots, "stats|[0].hits")
    cause = array("array-aligned-not-element", aligned, "stats", at="0x0")
    assert [one.rule for one in said_once([on_line, cause])] == left
    for other in (
        array("packed-thread-slots", slots, "slots|[0].hits"),
        array("two-locks-one-line", slots, "stats|[0].lock"),
    ):
        assert said_once([other, cause]) == [other, cause]


def test_an_array_whose_members_code_alone_names_is_one_array() -> None:
    source = array("packed-thread-slots", Severity.LOW, "stats|[0].hits")
    code = array("packed-thread-slots", Severity.HIGH, "stats")
    assert joined((source,), (code,)) == [code]
    apart = array("packed-thread-slots", Severity.HIGH, "server|slots[0].hits")
    mine = array("packed-thread-slots", Severity.LOW, "server|others[0].hits")
    assert joined((mine,), (apart,)) == [apart, mine]
