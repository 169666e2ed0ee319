"""Runs that are killed at a moment drawn by lot, and what is looked at before and after.

Owns the programs that the runs work on and the drawing of moments.  What has to hold is said by the tests.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.process.conftest import SOON_S, Watched

FILES = 20
_LOOK_S = 0.0005
ENDS = (signal.SIGKILL, signal.SIGTERM)
_GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org")

_UNIT = """#include <pthread.h>
struct slot_{n} {{ long count; }};
static struct slot_{n} slots_{n}[8];
static void *work_{n}(void *at)
{{
  struct slot_{n} *own = at;
  for (long i = 0; i < 1000000; i++)
    own->count++;
  return 0;
}}
void start_{n}(void)
{{
  pthread_t threads[8];
  for (int i = 0; i < 8; i++)
    pthread_create(&threads[i], 0, work_{n}, &slots_{n}[i]);
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], 0);
}}
"""


@dataclass
class Program:
    """Files in each of which ``fix`` has one edit, below ``work`` with their compile database."""

    folder: Path
    old: dict[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)

    @classmethod
    def write(cls, folder: Path, files: int = FILES) -> Program:
        made = cls(folder)
        for n in range(files):
            text = _UNIT.format(n=n)
            edited = text.replace("long count; };", "long count; } __attribute__((aligned(64)));")
            made.old[f"u{n}.c"], made.new[f"u{n}.c"] = text, edited
        calls = "".join(f"  start_{n}();\n" for n in range(files))
        declared = "".join(f"void start_{n}(void);\n" for n in range(files))
        (folder / "main.c").write_text(f"{declared}int main(void)\n{{\n{calls}  return 0;\n}}\n")
        rows = [
            {"directory": str(folder), "file": name, "arguments": ["gcc", "-O2", "-c", name]}
            for name in (*made.old, "main.c")
        ]
        (folder / "compile_commands.json").write_text(json.dumps(rows))
        made.restore()
        return made

    def restore(self) -> None:
        for name, text in self.old.items():
            (self.folder / name).write_text(text)

    def state(self) -> str:
        """``old``, ``new`` or what is neither."""
        found = {name: (self.folder / name).read_text() for name in self.old}
        if found == self.old:
            return "old"
        if found == self.new:
            return "new"
        changed = sum(found[name] != self.old[name] for name in found)
        lost = [name for name in found if found[name] not in (self.old[name], self.new[name])]
        return f"{changed} of {len(found)} changed, lost: {lost}"

    @property
    def others(self) -> list[str]:
        """Names in the folder that are not the program's."""
        own = {*self.old, "main.c", "compile_commands.json", ".git"}
        return sorted(path.name for path in self.folder.iterdir() if path.name not in own)


@dataclass
class Killer:
    """Ends runs at any time of their life, or soon after a sign that something is under way.

    A sign is a folder and a part of a name in it.
    """

    watched: Watched
    draw: random.Random
    arguments: list[str | Path]
    signs: tuple[tuple[Path, str], ...] = ()
    lasts_s: float = 0.0
    shown_s: list[float] = field(default_factory=list)  # how long each sign is there

    def measure(self) -> None:
        """Let it run to its end once, to know how long it takes."""
        began = time.monotonic()
        process = self.watched.start(*self.arguments)
        seen: list[list[float]] = [[] for _ in self.signs]
        while process.poll() is None:
            for times, sign in zip(seen, self.signs, strict=True):
                if _is_there(*sign):
                    times.append(time.monotonic())
            time.sleep(_LOOK_S)
        assert process.returncode == 0, process.communicate()[1]
        self.lasts_s = 1.1 * (time.monotonic() - began)
        self.shown_s = [max(times) - min(times) + _LOOK_S if times else _LOOK_S for times in seen]

    def end(self) -> tuple[signal.Signals, int]:
        """(signal sent, exit code)."""
        number = self.draw.choice(ENDS)
        which = self.draw.randrange(1 + len(self.signs))
        process = self.watched.start(*self.arguments)
        if which < len(self.signs):
            deadline = time.monotonic() + SOON_S
            while process.poll() is None and not _is_there(*self.signs[which]):
                assert time.monotonic() < deadline
                time.sleep(_LOOK_S)
            time.sleep(self.draw.uniform(0, self.shown_s[which]))
        else:
            time.sleep(self.draw.uniform(0, self.lasts_s))
        process.send_signal(number)
        process.communicate(timeout=60)
        return number, process.returncode


def _is_there(folder: Path, part: str) -> bool:
    try:
        return any(part in name for name in os.listdir(folder))
    except FileNotFoundError:
        return False


def commit_all(folder: Path, subject: str) -> None:
    for line in (("add", "--all"), ("commit", "--quiet", "--allow-empty", "-m", subject)):
        subprocess.run([*_GIT, *line], cwd=folder, check=True)


def worktrees(repository: Path) -> list[str]:
    """What git has written down of working trees."""
    command = [*_GIT, "worktree", "list", "--porcelain"]
    listed = subprocess.run(command, cwd=repository, check=True, capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if line.startswith("worktree ")]
