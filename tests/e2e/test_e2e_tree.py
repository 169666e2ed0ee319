"""Several files and folders in one audit: each as if audited alone, and a bad one does not stop the others."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from linemate.auditing import processes
from linemate.auditing.asking import Answer, AuditingProcess, Task
from linemate.auditing.choosing import files_of
from linemate.auditing.spool import Spool
from linemate.auditing.tree import audit_files
from linemate.options import AuditOptions
from sharing.model.errors import LinemateError

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def programs(layouts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """slow and fast in a folder, padded in one below; a text, a link, a second name of one, and half of a program."""
    out = tmp_path_factory.mktemp("tree")
    (out / "below").mkdir()
    for name, place in (("slow", out), ("fast", out), ("padded", out / "below")):
        shutil.copy(layouts / name, place)
    (out / "text").write_text("not a program")
    (out / "link").symlink_to("slow")
    os.link(out / "slow", out / "second")
    (out / "half").write_bytes((out / "slow").read_bytes()[:3000])
    os.mkfifo(out / "pipe")
    return out


def audit(*arguments: str) -> tuple[int, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "linemate", "audit", "--format", "json", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def test_a_folder_has_the_findings_of_each_of_its_files(programs: Path) -> None:
    code, report = audit(str(programs))
    assert code == 3  # half could not be read
    alone = {name: audit(str(programs / name))[1] for name in ("slow", "fast", "below/padded")}
    assert {Path(target["path"]).name for target in report["targets"]} == {"second", "fast", "padded"}
    for name, other in alone.items():
        of = str(programs / name.replace("slow", "second"))
        mine = [finding for finding in report["findings"] if finding["target"] == of]
        assert [{**finding, "target": ""} for finding in mine] == other["findings"]
    notes = report["coverage"]["notes"]
    # The text, the link and the pipe; the first of two names of one file is meant.
    assert notes[0] == "3 files left out that are no ELF files or archives, or links in a folder"
    counts = report["coverage"]["counts"]
    assert {name: counts[name] for name in counts if name.startswith("files")} == {
        "files": 4,
        "files_failed": 1,
        "files_incomplete": 0,
        "files_left_out": 3,
        "files_resumed": 0,
        "files_unreadable": 0,
    }
    assert [note.startswith(f"not audited: {programs / 'half'}: offset 0xbb8: ") for note in notes[1:]] == [True]


def test_the_same_files_give_the_same_bytes_and_the_worst_decides_the_exit_code(programs: Path, tmp_path: Path) -> None:
    named = [str(programs / name) for name in ("slow", "fast")]
    code, report = audit("-j", "1", *named)
    kept = tmp_path / "report.json"
    assert audit("-j", "3", *named, "--resume", "-o", str(kept))[0] == code == 1
    assert json.loads(kept.read_text()) == report
    assert os.listdir(tmp_path) == ["report.json"]  # what was kept for another try is gone


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("gone", "fast"), "gone: no such file or folder"),
        (("empty",), "empty: no ELF file or archive there"),
        (("fast", "slow", "--samples", "perf.data"), "are of one binary: name that alone"),
        (("fast", "slow", "--resume"), "name that with -o FILE"),
        (("fast", "--resume", "-o", "gone"), "--resume is of several files or folders"),
    ],
)
def test_what_cannot_be_asked_is_bad_usage(
    programs: Path, tmp_path: Path, arguments: tuple[str, ...], why: str
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"gone": tmp_path, "empty": tmp_path, "fast": programs, "slow": programs}
    code, error = audit(*(str(places[word] / word) if word in places else word for word in arguments))
    assert code == 2
    assert why in error


def test_folders_are_read_in_the_order_of_names_and_each_file_once(programs: Path) -> None:
    chosen = files_of([str(programs), str(programs / "slow"), str(programs / "link")])
    assert [Path(name).name for name in chosen.files] == ["fast", "half", "second", "padded"]
    # A link that was named is followed; what a shell's * names besides programs is left out.
    named = files_of(str(programs / name) for name in ("link", "slow", "text", "fast", "pipe"))
    assert ([Path(name).name for name in named.files], named.others) == (["link", "fast"], 2)
    with pytest.raises(LinemateError, match="no such file or folder"):
        files_of([str(programs / "gone")])


def test_a_name_that_is_no_utf8_is_audited_as_any_other(programs: Path, tmp_path: Path) -> None:
    shutil.copy(programs / "fast", os.fsdecode(bytes(tmp_path) + b"/a\xffb"))
    code, report = audit(str(tmp_path))
    assert (code, [target["path"] for target in report["targets"]]) == (0, [f"{tmp_path}/a\\xffb"])


@pytest.mark.parametrize("kills", [1, 2])
def test_a_file_is_tried_twice_and_a_process_that_is_killed_loses_no_other(
    programs: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    paths = [str(programs / "fast"), str(programs / "below" / "padded")]
    small, large = sorted(paths, key=os.path.getsize)
    asked: list[str] = []

    class Fragile(AuditingProcess):
        def ask(self, question: Task) -> None:
            super().ask(question)
            asked.append(os.fsdecode(question.file))
            if asked[-1] == large and asked.count(large) <= kills:
                assert self._process is not None
                os.kill(self._process.pid, signal.SIGKILL)

    monkeypatch.setattr(processes, "AuditingProcess", Fragile)
    with Spool(options := AuditOptions("", spread=False)) as spool:
        report = audit_files(files_of(paths), options, 1, spool)
    assert asked == [large, small, large]
    assert {target.path for target in report.targets} == ({small, large} if kills == 1 else {small})
    why = f"not audited: {large}: the process that read it ended"
    assert report.coverage.notes == (() if kills == 1 else (why,))
    assert report.incomplete == (kills == 2)


def test_a_process_that_ends_after_its_answer_is_asked_nothing_more() -> None:
    """It may not have ended yet when the next question comes."""
    with AuditingProcess() as process:
        for last in (False, True):
            if process._process is None:
                echo = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                process._process = echo
            process.ask(Answer(error="a line", last=last))
            assert process.answer() == Answer(error="a line")
            assert (process._process is None) == last
    assert echo.poll() is not None


def test_a_file_that_takes_too_long_is_given_up(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(AuditingProcess):
        def ask(self, question: object) -> None:
            super().ask(question)
            assert self._process is not None
            os.kill(self._process.pid, signal.SIGSTOP)

        def answer(self) -> Answer | None:
            raise AssertionError("it never answers")

    monkeypatch.setattr(processes, "AuditingProcess", Slow)
    monkeypatch.setattr(processes, "FILE_S", 0.2)
    with Spool(options := AuditOptions("")) as spool:
        report = audit_files(files_of([str(programs / "fast")]), options, 1, spool)
    assert report.coverage.notes == (f"not audited: {programs / 'fast'}: not done after 0.2 s",)


@pytest.mark.parametrize(("quiet", "told"), [((), True), (("-q",), False)])
def test_a_report_that_goes_to_a_file_is_told_of_on_the_terminal(
    programs: Path, tmp_path: Path, quiet: tuple[str, ...], told: bool
) -> None:
    out = tmp_path / "report.html"
    code, said = audit("--format", "html", *quiet, "--resume", str(programs), "-o", str(out))
    assert code == 3
    lines = said.splitlines()
    assert any(f"4 files audited; the report is in {out}" in line for line in lines) == told
    assert any("findings: " in line and "high" in line for line in lines) == told
    assert any("incomplete (exit code 3): 1 not audited" in line for line in lines) == told
