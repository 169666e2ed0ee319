"""Threads of source whose entry calls a virtual function of the object that they are handed."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model import Severity
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding

CLASSES = """\
#include <pthread.h>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
class Worker {{
 public:
  virtual ~Worker() {{}}
  void start();
  void join();
 protected:
  virtual void run() = 0;
 private:
  static void *enter(void *self);
  {thread} thread_;
}};
struct alignas(64) Io {{ unsigned long got, put; }};
static Io io;
alignas(64) static std::atomic<unsigned long> hits;
static volatile int input;
class Reader : public Worker {{ public: Reader(); private: void run() override {{ for (;;) io.got += input; }} }};
class Writer : public Worker {{ public: Writer(); private: void run() override {{ for (;;) io.put += input; }} }};
class Poller : public Worker {{ public: Poller(); private: void run() override {{ for (;;) hits++; }} }};
Reader::Reader() {{}}
Writer::Writer() {{}}
Poller::Poller() {{}}
void *Worker::enter(void *self) {{ static_cast<Worker *>(self)->run(); return nullptr; }}
void Worker::start() {{ {start} }}
int main(int count, char **) {{
  {main}
}}
"""
POSIX = {"thread": "pthread_t", "start": "pthread_create(&thread_, nullptr, enter, this);"}
CALLABLE = {"thread": "std::thread", "start": "thread_ = std::thread([this] { run(); });"}
METHOD = {"thread": "std::thread", "start": "thread_ = std::thread(&Worker::run, this);"}
ADDS_ONCE = """\
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
struct Work {{ virtual ~Work() = default; virtual void run() = 0; }};
struct Sums {{ std::atomic<long> odd, even; }};
struct Odd : Work {{
  Odd(Sums &to) : to(to) {{}}
  void run() override {{ long n = 0; for (int i = 0; i < 2000000; i++) {{ {odd} }} to.odd += n; }}
  Sums &to;
}};
struct Even : Work {{
  Even(Sums &to) : to(to) {{}}
  void run() override {{ long n = 0; for (int i = 0; i < 2000000; i++) {{ {even} }} to.even += n; }}
  Sums &to;
}};
int main() {{
  auto sums = std::make_unique<Sums>();
  std::vector<std::unique_ptr<Work>> jobs;
  jobs.push_back(std::make_unique<Odd>(*sums));
  jobs.push_back(std::make_unique<Even>(*sums));
  std::vector<std::thread> threads;
  for (auto &job : jobs) threads.emplace_back(&Work::run, job.get());
  for (auto &one : threads) one.join();
}}
"""
TWO_CLASSES = "Reader r; Writer w; r.start(); w.start(); for (;;) {}"
ONE = "Reader r; {maker} r.start(); p{way}start(); for (;;) {{}}"
ONE_HERE = ONE.format(maker="Poller p;", way=".")
ONE_BEHIND_A_POINTER = ONE.format(maker="auto p = std::make_unique<Poller>();", way="->")
SEVERAL = "Reader r; r.start(); for (int i = 0; i < count; i++) (new Poller)->start(); for (;;) {}"


def _findings(folder: Path, main: str, how: dict[str, str]) -> tuple[Finding, ...]:
    return _of_text(folder, CLASSES.format(main=main, **how))


def _of_text(folder: Path, text: str) -> tuple[Finding, ...]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    (folder / "program.cc").write_text(text)
    request = FactsRequest(sources=(str(folder / "program.cc"),), flags=("-O2", "-std=c++17"))
    options = CheckOptions(min_severity=Severity.NOTE)
    return check_program(read_program(CheckOptions(facts=request)), options).findings


def _naming(findings: tuple[Finding, ...], *ends: str) -> list[Finding]:
    named = [(f, [one.name for one in f.participants]) for f in findings]
    return [f for f, names in named if all(any(n.endswith(end) for n in names) for end in ends)]


def _rules(findings: tuple[Finding, ...], end: str) -> list[str]:
    return [finding.rule for finding in _naming(findings, end)]


@pytest.mark.parametrize("how", [POSIX, CALLABLE, METHOD], ids=["pthread", "std::thread", "a method"])
def test_each_class_has_threads_of_its_own(tmp_path: Path, how: dict[str, str]) -> None:
    findings = _naming(_findings(tmp_path, TWO_CLASSES, how), "got", "put")
    assert [f.severity.rank >= Severity.MEDIUM.rank for f in findings] == [True]


@pytest.mark.parametrize("main", [ONE_HERE, ONE_BEHIND_A_POINTER], ids=["variable", "make_unique"])
def test_a_class_of_which_one_object_is_made_has_one_thread(tmp_path: Path, main: str) -> None:
    assert "shared-counter" not in _rules(_findings(tmp_path, main, POSIX), "hits")


def test_a_class_of_which_several_are_made_has_several(tmp_path: Path) -> None:
    assert "shared-counter" in _rules(_findings(tmp_path, SEVERAL, POSIX), "hits")


def test_a_virtual_method_that_a_thread_is_handed_is_that_of_each_class(tmp_path: Path) -> None:
    """Near miss: threads that add up by themselves, and put the sum there once."""
    often = _of_text(tmp_path, ADDS_ONCE.format(odd="to.odd += i & 1;", even="to.even += !(i & 1);"))
    assert [f.severity.rank >= Severity.MEDIUM.rank for f in _naming(often, "odd", "even")] == [True]
    once = _of_text(tmp_path, ADDS_ONCE.format(odd="n += i & 1;", even="n += !(i & 1);"))
    assert [f.rule for f in once if f.severity.rank >= Severity.LOW.rank] == []
