"""Surroundings that fail: closed or full streams, folders that are gone, foreign or full: one line, the right code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from sharing.model.errors import LinemateError
from tests.process.conftest import Watched

LINEMATE = f"{sys.executable} -m linemate"
ERROR = "linemate: error: "


def shell(watched: Watched, script: str, **more: str) -> tuple[int, str, str]:
    """A script that calls ``$L``; exit code, standard output, standard error."""
    environment = watched.environment | {"L": LINEMATE} | more
    done = subprocess.run(
        ["bash", "-c", script], cwd=watched.folder, env=environment, capture_output=True, text=True, timeout=100
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def unit(watched: Watched) -> Path:
    """A source with a finding, beside its compile database."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    source = watched.folder / "a.c"
    source.write_text("int first, second;\nint main(void) { return first + second; }\n")
    return source


@pytest.mark.parametrize("arguments", ["rules", "--help", "--version"])
@pytest.mark.parametrize(("where", "why"), [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")])
def test_output_that_goes_nowhere_is_an_error(watched: Watched, arguments: str, where: str, why: str) -> None:
    assert shell(watched, f"$L {arguments} {where}") == (2, "", f"{ERROR}standard output: {why}\n")


@pytest.mark.parametrize("arguments", ["rules", "--help", "--version"])
def test_a_reader_that_went_away_is_no_error(watched: Watched, arguments: str) -> None:
    script = f"trap '' PIPE; (sleep 0.1; $L {arguments}; echo $? >code) | true; cat code"
    assert shell(watched, script) == (0, "141\n", "")


def test_with_a_file_for_the_report_nobody_needs_standard_output(watched: Watched) -> None:
    shutil.copy("/bin/true", watched.folder / "program")
    assert shell(watched, "$L audit program -o report.json >&-")[0] == 0
    assert (watched.folder / "report.json").stat().st_size > 0


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_what_nobody_can_be_told_changes_no_exit_code(watched: Watched, where: str) -> None:
    assert shell(watched, f"$L audit nothing {where}") == (2, "", "")
    assert shell(watched, f"$L rules {where}")[0] == 0


def test_closed_streams_do_not_end_in_a_file(watched: Watched) -> None:
    """A file that got the number of standard error would be written to with every message."""
    shutil.copy("/bin/true", watched.folder / "program")
    code, _, _ = shell(watched, "$L audit program -o report.txt <&- >&- 2>&-")
    assert code == 0
    assert "linemate:" not in (watched.folder / "report.txt").read_text()


def test_a_folder_that_was_deleted_is_named_as_such(watched: Watched) -> None:
    script = "mkdir gone && cd gone && rmdir ../gone && $L audit program"
    assert shell(watched, script) == (2, "", f"{ERROR}the current folder was deleted: change to one that exists\n")


def test_a_file_that_grows_too_large_leaves_the_old_one(watched: Watched) -> None:
    (watched.folder / "table.csv").write_text("revision,qps\n" + "".join(f"r{n},{100 + n % 3}\n" for n in range(12)))
    script = "echo old >report.json; ulimit -f 0; exec $L history --table table.csv -o report.json"
    code, out, said = shell(watched, script)
    assert (code, out, said) == (2, "", f"{ERROR}report.json: File too large\n")
    assert (watched.folder / "report.json").read_text() == "old\n"
    assert sorted(os.listdir(watched.folder)) == ["report.json", "table.csv"]


def test_a_full_disk_below_the_analysis_is_one_line(watched: Watched, unit: Path) -> None:
    code, out, said = shell(watched, f"ulimit -f 0; exec $L check {unit.name} --")
    assert (code, out) == (2, "")
    assert re.fullmatch(f"{ERROR}.*\n", said)


def checked(watched: Watched, unit: Path, **more: str) -> str:
    """What a check that finds nothing says on standard error."""
    code, _, said = shell(watched, f"$L check {unit.name} --", **more)
    assert code == 0, said
    return said


def note(folder: Path | str, why: str) -> str:
    return f"linemate: note: cache {folder} is not used: {why}; LINEMATE_CACHE names another place\n"


def test_a_cache_of_ones_own_is_used_without_a_word(watched: Watched, unit: Path) -> None:
    assert checked(watched, unit) == ""
    assert len(list(watched.home.glob("cache/facts/*.facts"))) == 1
    assert (watched.home / "cache/facts").stat().st_mode & 0o077 == 0


def test_what_a_killed_analyzer_left_in_the_cache_is_removed(watched: Watched, unit: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    facts = watched.home / "cache/facts"
    facts.mkdir(parents=True)
    (facts / f"0123.facts.{gone.pid}").touch()
    (facts / f"4567.facts.{os.getpid()}").touch()
    checked(watched, unit)
    assert {path.name for path in facts.iterdir() if path.suffix != ".facts"} == {f"4567.facts.{os.getpid()}"}


@pytest.mark.parametrize(("where", "mode"), [("cache", 0o1777), ("cache", 0o770), ("cache/facts", 0o757)])
def test_a_cache_that_others_may_write_to_is_not_used(watched: Watched, unit: Path, where: str, mode: int) -> None:
    folder = watched.home / where
    folder.mkdir(parents=True)
    folder.chmod(mode)
    assert checked(watched, unit) == note(folder, "others may write to it (chmod go-w)")
    assert list(watched.home.glob("cache/facts/*.facts")) == []


def test_another_users_cache_is_not_used(watched: Watched, unit: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give folders away")
    folder = watched.home / "cache"
    folder.mkdir(parents=True)
    os.chown(folder, 12345, 12345)
    assert checked(watched, unit) == note(folder, "it belongs to another user (number 12345)")


def test_a_cache_that_cannot_be_made_is_not_used(watched: Watched, unit: Path) -> None:
    (watched.folder / "file").touch()
    folder = watched.folder / "file" / "cache"
    assert checked(watched, unit, LINEMATE_CACHE=str(folder)) == note(folder, "Not a directory")
    # Not even root writes there.
    assert checked(watched, unit, LINEMATE_CACHE="/proc/cache") == note("/proc/cache", "No such file or directory")


@pytest.mark.parametrize("home", ["/dev/null", "relative"])
def test_a_home_that_is_none_is_no_obstacle(watched: Watched, unit: Path, home: str) -> None:
    script = f"unset LINEMATE_CACHE XDG_STATE_HOME; HOME={home} $L check {unit.name} --"
    code, _, said = shell(watched, script)
    assert code == 0
    assert said == "" or said.startswith("linemate: note: ")
    assert [path.name for path in watched.folder.iterdir()] == [unit.name]  # and nothing is made here


@pytest.mark.parametrize("place", ["/nonexistent/tmp", "/proc"])
def test_a_folder_for_temporary_files_that_is_none_is_passed_over(watched: Watched, unit: Path, place: str) -> None:
    assert checked(watched, unit, TMPDIR=place) == ""
    assert sorted(os.listdir(watched.folder)) == [unit.name]


def test_without_a_cache_a_history_is_made_all_the_same(watched: Watched) -> None:
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    lines: list[Sequence[str]] = [["init", "-q"], *[["commit", "-q", "--allow-empty", "-m", str(n)] for n in range(2)]]
    for line in lines:
        subprocess.run([*git, *line], cwd=watched.folder, check=True)
    (watched.home / "cache").mkdir(parents=True)
    (watched.home / "cache").chmod(0o777)
    code, _, said = watched.run("history", "HEAD~1..HEAD", "--build", "cp /bin/true server", "--binary", "server")
    assert code == 0, said
    assert "others may write to it" in said
    assert list((watched.home / "cache").iterdir()) == []
    assert watched.left() == []
