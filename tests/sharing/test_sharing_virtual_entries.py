"""A class of threads whose `start()` runs a virtual function: each class that derives has a thread of its own."""

from __future__ import annotations

import pytest

from linemate import api
from tests.sharing.conftest import Compile

PROGRAM = """
#include <memory>
#include <thread>
#include <vector>
namespace net {
class Task {
public:
  virtual ~Task() = default;
  void start() { thread_ = std::thread([this] { run(); }); }
  void join() { thread_.join(); }
protected:
  virtual void run() = 0;
private:
  std::thread thread_;
};
volatile long received, sent;
class Receiver : public Task { void run() override { for (;;) received++; } };
class Sender : public Task {
public:
  explicit Sender(int n) : n_(n) {}
private:
  void run() override { for (;;) sent += n_; }
  int n_;
};
OTHERS
}
int main(int argc, char **) {
  std::vector<std::unique_ptr<net::Task>> tasks;
  tasks.push_back(std::make_unique<net::Receiver>());
  for (int i = 0; i < argc + 1; i++) tasks.push_back(std::make_unique<net::Sender>(i));
  USES
  for (auto &t : tasks) t->start();
  for (auto &t : tasks) t->join();
}
"""
# Two more classes with a function at the same place in their tables, which no thread begins with.
CODECS = """
class Codec { public: virtual ~Codec() = default; virtual long decode(long) = 0; };
class Fast : public Codec { long decode(long n) override { return n * 3; } };
class Slow : public Codec { long decode(long n) override { for (int i = 0; i < 9; i++) n += n >> 3; return n; } };
"""
DECODES = """
  std::unique_ptr<net::Codec> c;
  if (argc > 1) c.reset(new net::Fast); else c.reset(new net::Slow);
  net::sent = c->decode(argc);"""


def threads(compiled: Compile, tool: str, *flags: str, others: str = "", uses: str = "") -> str:
    """What the report says of threads."""
    text = PROGRAM.replace("OTHERS", others).replace("USES", uses)
    report = api.audit(str(compiled(tool, "cpp", text, "-std=c++17", "-pthread", *flags)))
    return next(note for note in report.coverage.notes if note.startswith("threads:"))


@pytest.mark.parametrize("tool", ["g++", "clang++-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(("others", "uses"), [("", ""), (CODECS, DECODES)], ids=["alone", "beside others"])
def test_each_class_that_derives_has_one(compiled: Compile, tool: str, level: str, others: str, uses: str) -> None:
    said = threads(compiled, tool, level, "-g", others=others, uses=uses)
    assert "net::Receiver::run" in said
    assert "net::Sender::run (several)" in said
    assert "decode" not in said


def test_without_names_where_one_family_has_such_a_function(compiled: Compile) -> None:
    assert threads(compiled, "g++", "-O2", "-s").count("fn_") >= 2


def test_without_names_nothing_tells_one_of_two_families(compiled: Compile) -> None:
    alone = threads(compiled, "g++", "-O2", "-s").count("fn_")
    assert threads(compiled, "g++", "-O2", "-s", others=CODECS, uses=DECODES).count("fn_") < alone
