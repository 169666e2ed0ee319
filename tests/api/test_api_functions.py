"""``import linemate``: the functions give what the commands give, raise one kind of error, and cost nothing unused."""

from __future__ import annotations

import doctest
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

import linemate
from linemate.commands import load
from linemate.config import find_config

# Options that say how a document is shown, not what is in it, and the one name that differs.
SHOWING = {"format", "output", "quiet", "fail_on", "details", "top"}
SPELLED = {"p": "database", "jobs": "jobs", "rule": "rules", "symbol": "symbols", "no_cache": "cache"}
# A function returns a value and writes nothing: neither datasets nor what a run that was ended leaves.
COMMAND_ONLY = {"jobs", "write_baseline", "resume", "engine", "scheduler", "watch", "debuginfod"}


def command_json(folder: Path, command: str, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "linemate", command, "--format", "json", *arguments],
        cwd=folder,
        env={"PYTHONPATH": str(Path(linemate.__file__).parent.parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def as_json(document: Any) -> Any:
    return json.loads(msgspec.json.encode(document))


def test_the_examples_of_the_manual_hold(repository: Path, layouts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(layouts)
    page = (repository / "docs/api.md").read_text()
    examples = doctest.DocTestParser().get_doctest(page.replace("```", ""), {}, "api.md", "docs/api.md", 0)
    assert len(examples.examples) >= 12
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert result.failed == 0, "".join(said)


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (["audit", "slow"], lambda: linemate.audit("slow")),
        (["audit", "slow", "--rule", "safe-by-luck"], lambda: linemate.audit(Path("slow"), rules=["safe-by-luck"])),
        (["lines", "slow", "unused_tables"], lambda: linemate.lines("slow", ["unused_tables"])),
        (["explain", "fast", "slow"], lambda: linemate.explain("fast", "slow")),
        (
            ["check", "--no-cache", "table_cache.cc", "--", "-O1"],
            lambda: linemate.check(["table_cache.cc"], flags=["-O1"], cache=False),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_function_returns_what_the_command_writes(
    layouts: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], call: Callable[[], Any]
) -> None:
    monkeypatch.chdir(layouts)
    assert find_config(layouts) is None
    assert as_json(call()) == command_json(layouts, *arguments)


@pytest.mark.parametrize("name", ["audit", "check", "explain", "lines"])
def test_a_function_has_every_option_of_its_command(name: str) -> None:
    command = load(name)
    options = {
        SPELLED.get(word, word)
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for word in [max(parameter.opts, key=len).lstrip("-").replace("-", "_")]
    }
    keywords = set(inspect.signature(getattr(linemate, name)).parameters)
    assert options - SHOWING - COMMAND_ONLY - keywords == set()


def test_one_path_is_taken_for_one(layouts: Path) -> None:
    """A string is a sequence of strings: the letters are not what was meant."""
    slow = str(layouts / "slow")
    assert linemate.lines(slow, "unused_tables") == linemate.lines(slow, ["unused_tables"])
    assert linemate.audit(slow, rules="safe-by-luck") == linemate.audit(slow, rules=["safe-by-luck"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: linemate.audit("/no/such/file"), "/no/such/file: "),
        (lambda: linemate.audit("/"), "/: "),
        (lambda: linemate.audit("/bin/true", rules=["hot-lok-shares-line"]), "did you mean 'hot-lock-shares-line'?"),
        (lambda: linemate.audit("/bin/true", line_size=60), "line_size 60"),
        (lambda: linemate.audit("/bin/true", config="/no/such.toml"), "/no/such.toml: "),
        (lambda: linemate.check(["a.c"], flags=["-O2"], database="."), "give either"),
        (lambda: linemate.explain("/bin/true", "/bin/true", bench_new=["x"]), "belong together"),
    ],
)
def test_every_failure_is_one_kind_of_error_with_one_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises(linemate.LinemateError) as caught:
        call()
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_the_import_loads_nothing_else() -> None:
    script = "import sys; before = set(sys.modules); import linemate; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["linemate", "linemate.version"]


def test_the_names_offered_are_there_and_no_others() -> None:
    assert all(getattr(linemate, name) is not None for name in linemate.__all__)
    with pytest.raises(AttributeError):
        linemate.history_of_everything  # type: ignore[attr-defined]  # noqa: B018


def test_using_the_commands_modules_leaves_the_functions_in_place() -> None:
    """A module of the package with a function's name would replace the function when it is imported."""
    package = Path(linemate.__file__).parent
    modules = {path.stem for path in package.glob("*.py")} | {
        path.parent.name for path in package.glob("*/__init__.py")
    }
    assert modules & set(linemate.__all__) == set()
