"""What every command keeps: help by name, endings that are refused, manual pages and completions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import BashComplete

from linemate.cli import cli
from linemate.commands import COMMANDS, load
from linemate.completion import VARIABLE
from linemate.version import __version__
from reports import EMITTERS
from tests.cli.conftest import Result

Run = Callable[..., Result]


def test_the_version_has_a_short_option(run: Run) -> None:
    assert run("-V").out == run("--version").out == f"linemate {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_what_the_command_says(run: Run, name: str) -> None:
    assert run("help", name).out == run(name, "--help").out != ""


@pytest.mark.parametrize("name", ["show", "fix"])
def test_help_says_how_much_of_an_id_finds_it(run: Run, name: str) -> None:
    assert "all ten digits behind its last dash" in " ".join(run(name, "--help").out.split())


def test_help_alone_lists_the_commands(run: Run) -> None:
    assert run("help").out == run("--help").out


def test_help_of_no_command_is_bad_usage(run: Run) -> None:
    result = run("help", "adit")
    assert result.code == 2
    assert result.err.startswith("linemate: error: No such command 'adit'")


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "server"),
        ("check", "a.c"),
        ("explain", "old", "new"),
        ("history", "--table", "a.csv"),
        ("diff", "a.json", "b.json"),
        ("show", "ID", "--in", "a.json"),
        ("lines", "server"),
        ("doctor",),
        ("record", "--counters"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_ending_of_no_format_is_refused_before_any_work(run: Run, pipeline: Any, arguments: tuple[str, ...]) -> None:
    more = ("--", "true") if arguments[0] == "record" else ("--", "-O2") if arguments[0] == "check" else ()
    result = run(*arguments, "-o", "report.pdf", *more)
    assert (result.code, pipeline.asked, pipeline.checked) == (2, [], [])
    assert "report.pdf: no format ends in .pdf: .txt (text), .json (json)" in result.err
    assert not Path("report.pdf").exists()


def test_a_named_format_goes_into_any_file(run: Run, pipeline: Any) -> None:
    assert run("audit", "server", "-o", "report.pdf", "--format", "json").code == 0
    assert run("audit", "server", "-o", "REPORT.JSON").code == 0
    assert Path("REPORT.JSON").read_text() == Path("report.pdf").read_text()


def test_a_command_without_pages_refuses_the_ending_of_one(run: Run) -> None:
    result = run("lines", "/bin/true", "-o", f"map{EMITTERS['html'].suffix}")
    assert result.code == 2
    assert "(html)" not in result.err


@pytest.fixture(scope="module")
def share(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What packages install beside the program."""
    folder = tmp_path_factory.mktemp("share")
    maker = str(repository / "packaging/fromcommands.py")
    subprocess.run([sys.executable, "-I", maker, str(folder)], check=True, timeout=60)
    return folder / "share"


def test_every_command_has_a_manual_page_with_all_of_its_options(share: Path) -> None:
    pages = {path.stem: path.read_text().replace("\\-", "-") for path in (share / "man/man1").iterdir()}
    assert set(pages) == {"linemate", *(f"linemate-{name}" for name in COMMANDS)}
    for name in COMMANDS:
        options = [p for p in load(name).params if isinstance(p, click.Option) and not p.hidden]
        missing = [word for option in options for word in option.opts if word not in pages[f"linemate-{name}"]]
        assert missing == []
        assert name in pages["linemate"]


def test_manual_pages_are_sound(share: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("no groff to read manual pages with")
    pages = sorted(str(path) for path in (share / "man/man1").iterdir())
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", *pages], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    assert "--fail-on" in plain


def test_the_shell_takes_the_completion(share: Path) -> None:
    script = share / "bash-completion/completions/linemate"
    assert VARIABLE in script.read_text()
    done = subprocess.run(["bash", "-c", f". {script} && complete -p linemate"], capture_output=True, text=True)
    assert (done.returncode, "linemate" in done.stdout) == (0, True), done.stderr


def completed(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[tuple[str, str]]:
    monkeypatch.setenv(VARIABLE, "bash_complete")
    found = BashComplete(cli, {}, "linemate", VARIABLE).get_completions(list(words[:-1]), words[-1])
    return [(item.type, item.value) for item in found]


def test_commands_options_choices_and_files_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(monkeypatch, "aud") == [("plain", "audit")]
    assert completed(monkeypatch, "help", "dif") == [("plain", "diff")]
    assert completed(monkeypatch, "audit", "--debug-") == [("plain", "--debug-file")]
    assert completed(monkeypatch, "audit", "--fail-on", "h") == [("plain", "high")]
    assert completed(monkeypatch, "audit", "serv") == [("file", "serv")]
    assert completed(monkeypatch, "check", "-p", "bui") == [("dir", "bui")]
    assert completed(monkeypatch, "audit", "--symbol", "x") == []
