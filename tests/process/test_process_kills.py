"""Runs killed at random: never a half write, a process or a temporary file after the next start.

A few with a fixed seed; ``LINEMATE_KILLS=200`` is the long version (CONTRIBUTING.md).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from sharing.model.errors import LinemateError
from tests.process.conftest import Watched
from tests.process.killing import ENDS, FILES, Killer, Program, commit_all, worktrees

KILLS = int(os.environ.get("LINEMATE_KILLS", "4"))
BATCH = 5  # a test, so that each has its time
IS_LONG = KILLS > 4
KINDS = ("history", "check", "record", "audit", *(("guard", "resume", "parquet") if IS_LONG else ()))
OTHERS = -(-KILLS // 4)  # of four commands together
TREE = ("cat", "cp", "false", "ls", "mv", "sed")  # below /bin
NEXT_START = ("check", "-p", "nowhere")  # cleans up, and then says that there is nothing
GUARDED = """#include <pthread.h>
pthread_mutex_t lock;
long hits;
static void *work(void *unused)
{
  for (long i = 0; i < 100000; i++) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    __atomic_fetch_add(&hits, i, __ATOMIC_RELAXED);
  }
  return unused;
}
int main(void)
{
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
}
"""
SOURCE = 'int hot;\nint main(void) { return hot; }\nconst char *const version = "%d";\n'


def batches(kills: int, size: int) -> list[tuple[int, int]]:
    """(seed, kills) of each test."""
    return [(seed, min(size, kills - seed * size)) for seed in range(-(-kills // size))]


@pytest.fixture(autouse=True)
def _built() -> None:
    try:
        for name in ("linemate-facts", "linemate-spawn"):
            tool_path(name)
    except LinemateError as error:
        pytest.skip(str(error))


def is_clean(watched: Watched) -> None:
    """Nothing runs and nothing temporary lies anywhere, after the next start."""
    assert watched.until(lambda: watched.alive() == {}), watched.alive()
    code, _, _ = watched.run(*NEXT_START)
    assert code == 2
    assert watched.left() == []
    assert [path for path in watched.home.parent.rglob("*.linemate-*") if "linemate-fix" not in path.name] == []
    assert list(watched.home.glob("state/linemate/fix/*")) == []


@pytest.mark.parametrize(("seed", "kills"), batches(KILLS, BATCH))
def test_a_write_to_twenty_files_is_whole_or_not_at_all(watched: Watched, seed: int, kills: int) -> None:
    program = Program.write(watched.folder)
    assert len(program.old) == FILES
    fix: list[str | Path] = ["fix", "-p", ".", "--above", "note", "--apply", "-q"]
    signs = ((watched.folder, ".u0.c.linemate-"), (watched.home / "state/linemate/fix", ".commit"))
    killer = Killer(watched, random.Random(seed), fix, signs)
    killer.measure()
    assert program.state() == "new"
    seen: dict[str, int] = {}
    for at in range(kills):
        program.restore()
        number, code = killer.end()
        then = program.state()
        if number is signal.SIGTERM:
            # 0: it was done; -15: it had not begun.
            assert code in (0, 128 + number, -number), at
            assert then in ("old", "new"), (at, then)
            assert program.others == [], at
        is_clean(watched)
        now = program.state()
        assert now in ("old", "new"), (at, number, now)
        assert program.others == [], (at, number)
        name = f"{number.name} {then if then in ('old', 'new') else 'half'} -> {now}"
        seen[name] = seen.get(name, 0) + 1
    print(f"seed {seed}: {seen}")  # with -s, for the figures of the long version


def results(kind: str, tmp_path: Path) -> list[str]:
    """What a run that can be resumed made of each file; nothing for other kinds."""
    if kind == "resume":
        report = json.loads((tmp_path / "out.json").read_text())
        return [json.dumps(part, sort_keys=True) for part in (*report["targets"], *report["findings"])]
    if kind == "parquet":
        from pyarrow import parquet

        found = sorted((tmp_path / "data").glob("*/*/*.parquet"))
        return [
            f"{file.parent.parent.name}/{file.name}: {parquet.ParquetFile(file).metadata.num_rows}" for file in found
        ]
    return []


def arguments_of(kind: str, watched: Watched, tmp_path: Path) -> list[str | Path]:
    """A run that takes a second or so; it finds what it works on in ``work``."""
    if kind == "audit":
        shutil.copy("/bin/bash", watched.folder / "program")
        return ["audit", "program", "-o", "report.json", "--fail-on", "never"]
    if kind == "guard":
        (watched.folder / "main.c").write_text(GUARDED)
        subprocess.run(["gcc", "-O1", "-pthread", "main.c", "-o", "program"], cwd=watched.folder, check=True)
        return ["guard", "program", "--above", "note", "-o", "guards.toml"]
    if kind in ("resume", "parquet"):
        if kind == "parquet":
            pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install -r requirements-fleet.txt")
        for name in TREE:
            shutil.copy(f"/bin/{name}", watched.folder)
        how = ["-o", tmp_path / "out.json"] if kind == "resume" else ["--format", "parquet", "-o", tmp_path / "data"]
        return ["audit", ".", "--resume", "--fail-on", "never", *how]
    if kind == "record":
        line: list[str | Path] = ["record", "-o", "p.data", "--event", "cpu-clock", "-q", "--", "sleep", "0.3"]
        if not shutil.which("perf"):
            pytest.skip("no perf")
        code, _, said = watched.run(*line)
        if code:
            pytest.skip(f"nothing can be recorded here: {said.strip()}")
        return line
    subprocess.run(["git", "init", "-q"], cwd=watched.folder, check=True)
    if kind == "check":
        program = Program.write(watched.folder, 6)
        commit_all(watched.folder, "one")
        (watched.folder / "u0.c").write_text(program.new["u0.c"])
        return ["check", "-p", ".", "--base", "HEAD", "--fail-on", "never", "-o", tmp_path / "report.json"]
    for number in range(4):
        (watched.folder / "main.c").write_text(SOURCE % number)
        commit_all(watched.folder, str(number))
    build = "gcc -O1 -o server main.c && setsid sleep 0.05"
    return ["history", "HEAD~3..HEAD", "--build", build, "--binary", "server", "--store", tmp_path / "store.sqlite"]


@pytest.mark.parametrize(("seed", "kills"), batches(-(-OTHERS // 4), 5))
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_other_commands(watched: Watched, tmp_path: Path, kind: str, seed: int, kills: int) -> None:
    arguments = arguments_of(kind, watched, tmp_path)
    killer = Killer(watched, random.Random(f"{kind} {seed}"), arguments)
    killer.measure()
    made = sorted(os.listdir(watched.folder))
    whole = results(kind, tmp_path)
    for at in range(kills):
        for kept in (watched.home / "cache", *(tmp_path / name for name in ("store.sqlite", "out.json", "data"))):
            if kind != "record":
                shutil.rmtree(kept, ignore_errors=True) if kept.is_dir() else kept.unlink(missing_ok=True)
        number, code = killer.end()
        if number is signal.SIGTERM:
            assert code in (0, 128 + number, -number), at
        is_clean(watched)
        assert sorted(os.listdir(watched.folder)) == made, (at, number)
    if kind == "history":
        # The checkouts of a build that was killed go with the next start on the same repository.
        assert killer.watched.run(*arguments)[0] == 0
        (clone,) = watched.home.glob("cache/history/*/clone")
        assert worktrees(clone) == [f"worktree {clone.resolve()}"]
        assert list(clone.parent.glob("trees/*")) == []
        assert worktrees(watched.folder) == [f"worktree {watched.folder.resolve()}"]
    if whole:
        assert watched.run(*arguments)[0] == 0
        assert results(kind, tmp_path) == whole
    assert sorted(os.listdir(watched.folder)) == made


@pytest.mark.skipif(not IS_LONG, reason="only in the long version: LINEMATE_KILLS=200")
@pytest.mark.parametrize(("seed", "kills"), batches(-(-OTHERS // 4), 5))
def test_nothing_is_left_of_the_language_server(watched: Watched, seed: int, kills: int) -> None:
    draw = random.Random(f"lsp {seed}")
    program = Program.write(watched.folder)
    uri = (watched.folder / "u0.c").as_uri()
    document = {"uri": uri, "languageId": "c", "version": 1, "text": program.old["u0.c"]}
    asked = [
        {"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None, "rootUri": uri}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
    ]
    for at in range(kills):
        process = watched.start("lsp", "-p", ".", stdin=subprocess.PIPE)
        assert process.stdin is not None
        for message in asked:
            body = json.dumps({"jsonrpc": "2.0", **message})
            process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}")
        process.stdin.flush()
        time.sleep(draw.uniform(0, 4))
        number = draw.choice(ENDS)
        process.send_signal(number)
        process.wait(timeout=60)
        assert process.returncode in (128 + number, -number), at
        is_clean(watched)
    assert program.state() == "old"
