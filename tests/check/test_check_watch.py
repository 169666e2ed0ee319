"""``linemate check --watch``: what each save changes is a line, and Ctrl-C ends it."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from typing import Any

import pytest

from linemate.checking import watching
from sharing.model.process.stopping import Stopped
from tests.check.repositories import Project
from tests.check.test_check_end_to_end import FILES, QUEUE_H, UNITS, WITHOUT_PAD

Run = Callable[..., Any]
CLOCK = re.compile(r"^\d\d:\d\d:\d\d  ")


def test_each_save_is_a_line(
    run: Run, project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A person who saves one file after the other, each when the answer to the one before is there."""
    project.commit(FILES)
    project.database(*UNITS)
    saves = iter(
        (
            lambda: (project.top / "queue.h").write_text(WITHOUT_PAD),
            lambda: (project.top / "other.c").write_text("int other(int x) { return x + 2; }\n"),
            lambda: (project.top / "queue.h").write_text(WITHOUT_PAD.replace("pthread_mutex_t lock;", "pthread_mu")),
            lambda: (project.top / "queue.h").write_text(QUEUE_H),
            lambda: (project.top / "build/compile_commands.json").write_text("[{"),
        )
    )
    said: list[str] = []

    def pause(_seconds: float) -> None:
        if new := capfd.readouterr().out:
            said.append(new)
            save = next(saves, None)
            if save is None:
                raise Stopped(signal.SIGINT)
            save()

    monkeypatch.setattr(watching.time, "sleep", pause)
    result = run("check", "--watch")
    assert result.code == 130
    assert result.err == ""
    report, *lines = (CLOCK.sub("", text) for text in said)
    assert "two-locks-one-line" in report
    assert lines[0].startswith("new      high    queue.lock / queue.stop  false sharing")
    assert lines[1] == "nothing changed: 2 findings (other.c)\n"
    assert lines[2].startswith("incomplete: ")
    assert "queue.h" in lines[2]
    assert lines[3].startswith("gone     high    queue.lock / queue.stop  false sharing")
    assert "compile_commands.json" in lines[4]
    assert [line.count("\n") for line in lines] == [1] * 5


def test_what_is_no_terminal_text_is_refused(run: Run, project: Project) -> None:
    for options in (("-o", "report.txt"), ("--format", "json"), ("--write-baseline", "accepted.json")):
        result = run("check", "--watch", *options)
        assert result.code == 2
        assert "--watch" in result.err
