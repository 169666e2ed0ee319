"""Builds: made once, resumed after any end, left out and named where they fail; the user's files stay as they are."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sharing.model.errors import LinemateError
from sharing.model.history import RevisionState
from tests.history.conftest import COPY, Repository, RunHistory, builds_made

ALL = "HEAD~5..HEAD"


def test_nothing_is_built_twice(run_history: RunHistory, copies: Repository) -> None:
    first = run_history(copies, ALL)
    assert [r.state for r in first.revisions] == [RevisionState.BUILT] * 6
    assert builds_made() == 6
    assert run_history(copies, ALL) == first
    assert builds_made() == 6
    copies.commit("Note 6", note="6\n")
    assert len(run_history(copies, "HEAD~6..HEAD").revisions) == 7
    assert builds_made() == 7


def test_equal_trees_are_one_build(run_history: RunHistory, copies: Repository) -> None:
    copies.git("revert", "--no-edit", "HEAD")
    copies.commit("Nothing")
    run_history(copies, "HEAD~7..HEAD")
    assert builds_made() == 6


@pytest.mark.parametrize("other", ["command", "flags"])
def test_another_command_or_other_flags_are_another_build(
    other: str, run_history: RunHistory, copies: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_history(copies, "HEAD~1..HEAD")
    if other == "flags":
        monkeypatch.setenv("CFLAGS", "-O3")
    run_history(copies, "HEAD~1..HEAD", build=f"{COPY} && true" if other == "command" else COPY)
    assert builds_made() == 4


def test_a_failing_build_is_left_out_and_named_with_its_log(run_history: RunHistory, copies: Repository) -> None:
    copies.commit("Break it", broken="")
    (copies.path / "broken").unlink()
    copies.commit("Mend it")
    found = run_history(copies, "HEAD~3..HEAD")
    assert [r.state.value for r in found.revisions] == ["built", "built", "failed", "built"]
    failed = found.revisions[2]
    assert (failed.subject, failed.why) == ("Break it", "the build ended with 3")
    assert "something is broken" in Path(failed.log).read_text()
    assert found.incomplete
    made = builds_made()
    assert run_history(copies, "HEAD~3..HEAD") == found
    assert builds_made() == made
    run_history(copies, "HEAD~3..HEAD", retry_failed=True)
    assert builds_made() == made + 1


def test_a_build_that_makes_no_binary_fails(run_history: RunHistory, copies: Repository) -> None:
    found = run_history(copies, "HEAD~1..HEAD", build="true")
    assert {r.why for r in found.revisions} == {"the build made no server"}


def test_a_binary_that_is_none_is_named(run_history: RunHistory, copies: Repository) -> None:
    found = run_history(copies, "HEAD~1..HEAD", build="echo no program > server")
    assert all(r.state is RevisionState.FAILED for r in found.revisions)
    assert found.incomplete


def test_bisection_steps_around_builds_that_fail(run_history: RunHistory, copies: Repository) -> None:
    """Of eight commits the fifth is slower; the middle ones do not build."""
    for name in ("Break it", "Still broken"):
        copies.commit(name, broken=name)
    (copies.path / "broken").unlink()
    copies.commit("Slow down", slow="")
    copies.commit("Rest", note="rest\n")
    found = run_history(
        copies, "HEAD~7..HEAD", bisect=True, metric="qps", rounds=4,
        bench='if test -e slow; then echo qps 90; else echo qps 100; fi',
    )  # fmt: skip
    assert found.bisection is not None
    names = [found.revisions[i].subject for i in found.bisection.suspects]
    assert names == ["Break it", "Still broken", "Slow down"]
    assert found.steps[0].slower
    assert found.incomplete


def test_the_users_repository_is_only_read(run_history: RunHistory, copies: Repository) -> None:
    (copies.path / "untracked").write_text("mine")
    (copies.path / "note").write_text("changed and not committed")
    before = copies.state()
    run_history(copies, ALL, bench="echo qps 5", metric="qps", rounds=1)
    assert copies.state() == before


def test_a_build_that_asks_git_does_not_reach_the_users_repository(
    run_history: RunHistory, copies: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from a hook, to which git passes its folders on."""
    monkeypatch.setenv("GIT_DIR", str(copies.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(copies.path))
    with monkeypatch.context() as plain:
        plain.delenv("GIT_DIR")
        plain.delenv("GIT_WORK_TREE")
        before = copies.state()
    found = run_history(copies, "HEAD~1..HEAD", build=f"git config --local probe.reached yes && {COPY}")
    assert not found.incomplete
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_WORK_TREE")
    assert copies.state() == before


def test_a_build_sees_the_tags_of_its_repository(run_history: RunHistory, copies: Repository) -> None:
    copies.git("tag", "-a", "v7", "-m", "seven")
    found = run_history(copies, "HEAD~1..HEAD", build=f"git describe --match v7 || git rev-parse HEAD; {COPY}")
    assert not found.incomplete


@pytest.mark.parametrize(
    ("revisions", "why"),
    [
        ("HEAD", "not a range"),
        ("HEAD~1...HEAD", "not a range"),
        ("HEAD..HEAD~1", "not an ancestor"),
        ("HEAD..HEAD", "holds one revision"),
        ("nowhere..HEAD", "knows no commit 'nowhere'"),
        ("--all..HEAD", "not a revision"),
    ],
)
def test_what_is_no_range_is_refused(revisions: str, why: str, run_history: RunHistory, copies: Repository) -> None:
    with pytest.raises(LinemateError, match=why):
        run_history(copies, revisions)
    assert builds_made() == 0


@pytest.mark.parametrize("binary", ["/bin/true", "../server", ""])
def test_a_binary_outside_of_the_tree_is_refused(binary: str, run_history: RunHistory, copies: Repository) -> None:
    with pytest.raises(LinemateError, match="below the top"):
        run_history(copies, ALL, binary=binary)


# The build of the fourth commit waits until it is told to go on.
WAITING = f'{COPY}; if test "$(cat note)" = 3 && test ! -e "$GO"; then touch "$WAITS"; sleep 60; fi'


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_an_interrupted_run_is_taken_up_where_it_ended(
    how: signal.Signals, copies: Repository, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, go = tmp_path / "waits", tmp_path / "go"
    monkeypatch.setenv("WAITS", str(waits))
    monkeypatch.setenv("GO", str(go))
    store = tmp_path / "store.sqlite"
    command = [
        *(sys.executable, "-m", "linemate", "history", "--repo", str(copies.path), "--build", WAITING),
        *("--binary", "server", "--store", str(store), ALL),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not waits.exists():
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, how)
    process.communicate(timeout=30)
    assert process.returncode == (-how if how is signal.SIGKILL else 128 + how)
    assert builds_made() == 4
    go.touch()
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert builds_made() == 7  # three were whole
    # The tree of the interrupted build is gone, and nothing else is left.
    assert list((next(cache.glob("history/*"))).glob("trees/*")) == []


def test_measurements_are_taken_up_where_they_ended(
    run_history: RunHistory, copies: Repository, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    bench = f'echo run >> {runs}; test "$(wc -l < {runs})" != 10 || kill -INT {os.getpid()}; echo qps 100'
    asked = {"bench": bench, "metric": "qps", "rounds": 3}

    def lines() -> int:
        return len(runs.read_text().splitlines())

    with pytest.raises(KeyboardInterrupt):
        run_history(copies, ALL, **asked)
    assert lines() == 10
    kept = sqlite3.connect(tmp_path / "store.sqlite").execute("SELECT count(*) FROM measured").fetchone()[0]
    assert 1 <= kept <= 9
    found = run_history(copies, ALL, **asked)
    assert all(len(values) == 3 for values in found.series[0].values)
    # What was kept is not run again; each build is warmed up once more.
    assert lines() == 10 + (18 - kept) + 6
    run_history(copies, ALL, **asked)
    assert lines() == 10 + (18 - kept) + 6


def test_a_cleaned_cache_loses_time_and_no_results(run_history: RunHistory, copies: Repository, cache: Path) -> None:
    first = run_history(copies, ALL, bench="echo qps 5", metric="qps", rounds=2)
    shutil.rmtree(cache)
    assert run_history(copies, ALL, bench="echo qps 5", metric="qps", rounds=2).series == first.series
    assert builds_made() == 6


def test_what_was_not_used_for_long_makes_room(
    run_history: RunHistory, copies: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above the bound, trees and binaries that nobody used for a day go; those of the last day stay, whatever it is."""
    asked = {"bench": "echo qps 5", "metric": "qps"}

    def kept() -> tuple[int, int]:
        (home,) = (cache / "history").iterdir()
        trees = [path for path in (home / "trees").iterdir() if path.is_dir()]
        assert len(trees) == len(list((home / "trees").glob("*.tree")))
        return len(trees), len(list((home / "binaries").glob("*/*")))

    first = run_history(copies, ALL, rounds=1, **asked)
    assert kept() == (6, 1)  # one binary: all builds are copies of it
    for path in cache.rglob("*"):
        os.utime(path, (0, 0), follow_symlinks=False)
    assert run_history(copies, ALL, rounds=1, **asked).series == first.series
    assert kept() == (6, 1)  # old, and within the bound
    monkeypatch.setattr("linemate.history.builds.MOST_KEPT_BYTES", 0)
    run_history(copies, "HEAD~1..HEAD", rounds=2, **asked)
    assert kept() == (2, 1)  # those that it measured were made again
    assert builds_made() == 8
    run_history(copies, "HEAD~2..HEAD~1", rounds=2, **asked)
    assert kept() == (3, 1)  # what was used today is nobody's to remove
    assert builds_made() == 9
