"""Answers of the DWARF reader that two threads decode at once, before anything of the kind was decoded."""

from __future__ import annotations

import subprocess
import sys

# msgspec evaluates annotations when it first meets a type; slowed down, both threads are in there together.
SCRIPT = """
import threading, typing, time
import msgspec
evaluate = typing.ForwardRef._evaluate
def slowly(self, *rest, **more):
    time.sleep(0.001)
    return evaluate(self, *rest, **more)
from elfscan.debug import dwarf
typing.ForwardRef._evaluate = slowly
class Job:
    def result(self): return msgspec.msgpack.encode([dwarf.VERSION, [], [], [], [], []])
threads = [threading.Thread(target=lambda: dwarf.DwarfJob("a", Job()).result()) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("whole")
"""


def test_two_first_answers_at_once(repository: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=str(repository), capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr
