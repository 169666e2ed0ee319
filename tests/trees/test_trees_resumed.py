"""An audit of many files that was ended goes on where it was: what is done is not read again, what changed is."""

from __future__ import annotations

import os
import shlex
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from linemate.auditing import tree
from linemate.auditing.asking import Answer, Task
from linemate.auditing.choosing import files_of
from linemate.auditing.spool import Spool
from linemate.options import AuditOptions
from sharing.model.errors import LinemateError
from sharing.model.finding import ASK_SERVERS, SCHEMA, Coverage, Remedy, Report, Target
from tests.builders.report import REPORT

OPTIONS = AuditOptions("")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four files that begin as programs do, and one that does not."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("a", "b", "c", "d\udc80"):
        (folder / name).write_bytes(b"\x7fELF" + os.fsencode(name))
    (folder / "script").write_text("#!/bin/sh\n")
    return folder


class Engine:
    """Answers about a file by its bytes, in reverse order, and notes which were asked; ends after ``most``."""

    def __init__(self, most: int = 99, lost: str = "") -> None:
        self.most, self.lost, self.asked = most, lost, list[str]()

    def __call__(self, tasks: Sequence[Task], jobs: int) -> Iterator[tuple[str, Answer]]:
        for file in (os.fsdecode(task.file) for task in reversed(tasks)):
            if len(self.asked) == self.most:
                raise KeyboardInterrupt
            name = Path(file).name
            self.asked.append(name)
            content = Path(file).read_text(errors="replace")
            target = Target(content, "", "x86_64", "executable", "", 64, "")
            yield (
                file,
                (
                    Answer(error=f"{name}: lost", lost=True)
                    if name == self.lost
                    else Answer(Report(SCHEMA, "audit", (target,), Coverage({"functions": 1}, ()), ()))
                ),
            )


def run(folder: Path, kept: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch, **options: bool) -> Report:
    monkeypatch.setattr(tree, "answers", engine)
    with Spool(wanted := AuditOptions("", **options), kept) as spool:
        return tree.audit_files(files_of([str(folder)]), wanted, 1, spool)


def test_what_was_done_is_not_read_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "out.json.partial"
    with pytest.raises(KeyboardInterrupt):
        run(folder, kept, Engine(most=2), monkeypatch)
    resumed = run(folder, kept, second := Engine(), monkeypatch)
    assert second.asked == ["b", "a"]
    whole = run(folder, tmp_path / "other", Engine(), monkeypatch)
    assert (resumed.targets, resumed.findings) == (whole.targets, whole.findings)
    assert (resumed.coverage.counts["files_resumed"], whole.coverage.counts["files_resumed"]) == (2, 0)


def test_a_file_that_changed_is_read_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(folder, kept := tmp_path / "kept", Engine(), monkeypatch)
    (folder / "b").write_bytes(b"\x7fELF, longer")
    report = run(folder, kept, second := Engine(), monkeypatch)
    assert second.asked == ["b"]
    assert [target.path for target in report.targets][1] == "\x7fELF, longer"


def test_another_file_of_that_size_and_time_is_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reproducible builds and archives set times."""
    was = (folder / "b").stat()
    run(folder, kept := tmp_path / "kept", Engine(), monkeypatch)
    (folder / "new").write_bytes((folder / "b").read_bytes()[:-1] + b"x")
    os.utime(folder / "new", ns=(was.st_atime_ns, was.st_mtime_ns))
    (folder / "new").replace(folder / "b")
    assert ((folder / "b").stat().st_size, (folder / "b").stat().st_mtime_ns) == (was.st_size, was.st_mtime_ns)
    run(folder, kept, second := Engine(), monkeypatch)
    assert second.asked == ["b"]


def test_other_options_begin_anew(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(folder, kept := tmp_path / "kept", Engine(), monkeypatch)
    run(folder, kept, second := Engine(), monkeypatch, assume_threads=True)
    assert len(second.asked) == 4
    with Spool(AuditOptions("", assume_threads=True), kept) as spool:
        assert not spool.dropped
    with Spool(OPTIONS, kept) as spool:
        assert spool.dropped


def test_a_file_whose_process_was_lost_is_tried_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = run(folder, kept := tmp_path / "kept", Engine(lost="c"), monkeypatch)
    assert report.incomplete
    assert report.coverage.notes[1:] == ("not audited: c: lost",)
    report = run(folder, kept, second := Engine(), monkeypatch)
    assert (second.asked, report.incomplete) == (["c"], False)


def test_wherever_it_was_cut_only_whole_answers_count(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(folder, kept := tmp_path / "kept", Engine(), monkeypatch)
    data = kept.read_bytes()
    (head,) = struct.unpack_from("=I", data)
    asked = []
    for left in range(4 + head, len(data), 37):
        kept.write_bytes(data[:left])
        again = Engine()
        assert run(folder, kept, again, monkeypatch).targets == whole.targets
        asked.append(len(again.asked))
        assert kept.stat().st_size == len(data)
    assert asked == sorted(asked, reverse=True)
    assert set(asked) == {1, 2, 3, 4}


def test_what_is_none_of_ours_is_refused(folder: Path, tmp_path: Path) -> None:
    for content in (b"\xff" * 3000, b"notes of mine", b"\0\0", b"\x03\0\0\0\x81\xa1\xff"):
        (kept := tmp_path / "kept").write_bytes(content)
        with pytest.raises(LinemateError, match="is not what an interrupted audit left"):
            Spool(OPTIONS, kept)
        assert kept.read_bytes() == content
    (tmp_path / "link").symlink_to(kept)
    with pytest.raises(LinemateError, match="link"):
        Spool(OPTIONS, tmp_path / "link")
    with Spool(OPTIONS, new := tmp_path / "new"), pytest.raises(LinemateError, match="another run is at work on it"):
        Spool(OPTIONS, new)


def test_a_command_about_one_file_has_its_name_in_a_report_of_several(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "b").rename(folder / "b c")
    remedy = Remedy(
        "pad-type", f"let it be named ({ASK_SERVERS}), then pad FILE", "", "C", 0, breaks_abi=False, protects_tail=True
    )
    engine = Engine()

    def with_finding(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[str, Answer]]:
        for file, answer in engine(tasks, jobs):
            assert answer.report is not None
            found = replace(REPORT.findings[0], target="", remedies=(remedy,))
            yield file, Answer(replace(answer.report, findings=(found,)))

    monkeypatch.setattr(tree, "answers", with_finding)
    with Spool(OPTIONS, tmp_path / "kept") as spool:
        report = tree.audit_files(files_of([str(folder / "a"), str(folder / "b c")]), OPTIONS, 1, spool)
    texts = [finding.remedies[0].text for finding in report.findings]
    command = f"linemate audit {shlex.quote(str(folder / 'b c'))} --debuginfod"
    assert sorted(texts)[0] != sorted(texts)[1]
    assert f"let it be named ({command}), then pad FILE" in texts
