"""What changes when a person is watching: colour, width and progress, and nothing of it in a pipe."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linemate import output
from tests.builders.report import REPORT

Run = Callable[..., Any]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def on_terminal(run: Run, pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """``on_terminal("audit", …)``: what a terminal of 72 columns gets to see of the shared report."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "72")
    pipeline.report = REPORT

    def invoke(*arguments: str) -> str:
        screen = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", screen)
            run(*arguments)
        return screen.getvalue()

    return invoke


def test_a_terminal_gets_colour_and_its_own_width(on_terminal: Callable[..., str]) -> None:
    text = on_terminal("audit", "server", "--details")
    assert "\x1b[1;37;41mCRITICAL" in text
    assert "\n  LOCK_open (bytes 0-15 are written by every lock operation) and\n" in text


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colour_can_be_refused(
    on_terminal: Callable[..., str], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    text = on_terminal("audit", "server")
    assert "CRITICAL" in text
    assert "\x1b" not in text


def test_an_empty_no_color_is_no_refusal(on_terminal: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert "\x1b" in on_terminal("audit", "server")


def test_a_file_gets_no_colour_though_a_person_watches(on_terminal: Callable[..., str]) -> None:
    assert on_terminal("audit", "server", "-o", "report.txt") == ""
    assert "\x1b" not in Path("report.txt").read_text()


def test_names_cannot_colour_a_terminal(on_terminal: Callable[..., str]) -> None:
    text = on_terminal("audit", "server")
    assert "\x1b[31m\n" not in text
    assert "\x1b]0;" not in text
    assert "\\x1b[31m\\x0a" in text
    assert "[bold]" in text


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PROGRESS_AFTER_S", 0.0)
    monkeypatch.setattr(output, "PROGRESS_EVERY_S", 0.001)


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, *, quiet: bool) -> str:
    monkeypatch.setattr("sys.stderr", stream)
    with output.progress("reading server", quiet=quiet):
        deadline = time.monotonic() + 0.5
        while not stream.getvalue() and time.monotonic() < deadline and not quiet and stream.isatty():
            time.sleep(0.001)
    return stream.getvalue()


@pytest.mark.usefixtures("quick")
def test_long_work_is_shown_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, Terminal(), quiet=False)
    assert "reading server: 0 s" in text
    assert text.endswith("\r\x1b[K")
    assert "\n" not in text


@pytest.mark.usefixtures("quick")
def test_progress_is_silent_in_a_pipe_and_when_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, io.StringIO(), quiet=False) == ""
    assert shown(monkeypatch, Terminal(), quiet=True) == ""


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with output.progress("reading server", quiet=False):
        pass
    assert screen.getvalue() == ""


def test_in_a_pipe_the_width_is_that_of_columns(run: Run, pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline.report = REPORT
    for columns, widest in (("64", 64), ("0", 100), ("wide", 100), ("9" * 40, 100)):
        monkeypatch.setenv("COLUMNS", columns)
        prose = [line for line in run("audit", "server", "--top", "0").out.splitlines() if line.startswith("  ")]
        assert widest - 20 < max(map(len, prose)) <= widest


def test_the_short_form_has_blocks_of_the_worst_and_details_have_all(run: Run, pipeline: Any) -> None:
    pipeline.report = REPORT
    one, none, details = (
        run("audit", "server", *flags).out for flags in (("--top", "1"), ("--top", "0"), ("--details",))
    )
    assert one.count("   what ") == 1
    assert none.count("   what ") == 0
    assert "linemate show LM-4c1f0a9be2d7" in one
    # The evidence of the third finding is behind --details alone.
    assert [text.count("fix (") for text in (one, none, details)] == [0, 0, 3]
