"""Every command of the README and of docs/ runs as it stands there, and returns what the page says."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
import pytest

from linemate.cli import cli
from tests.documented.commands import Block, blocks_of, inline_calls, outside_of_shell, words_of
from tests.documented.conftest import FINDING, World

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks_of(page, ROOT)]

RECORDS = "records with perf and needs its events: tests/record runs it where there are any"
# What a page has that cannot run here, by how it begins, and why.  Options are parsed all the same.
NOT_RUN = {
    ("README.md", "make -f testdata"): "takes long: tests/e2e runs it and compares what the page shows",
    ("README.md", "linemate doctor"): "tries every event of the machine: tests/record runs it",
    ("README.md", "linemate record"): RECORDS,
    ("README.md", "linemate audit /usr"): "reads thousands of files: tests/e2e and tests/fleet run it on a few",
    ("docs/check.md", "linemate check --watch"): "runs until it is ended: tests/check runs it",
    ("docs/counts.md", "callgrind_control"): "needs a server that runs under callgrind",
    ("docs/counts.md", "kill PID"): "needs a server that runs under callgrind",
    ("docs/fleet.md", "linemate audit"): "reads thousands of files: tests/fleet runs it on a few",
    ("docs/fleet.md", "linemate check"): "needs a cluster: tests/fleet runs one",
    ("docs/gain.md", "linemate record"): RECORDS,
    ("docs/record.md", "linemate doctor"): "tries every event of the machine: tests/record runs it",
    ("docs/record.md", "linemate record"): RECORDS,
    ("docs/samples.md", "linemate record"): RECORDS,
    ("docs/history.md", "linemate history HEAD~11..HEAD"): "takes minutes: tests/history runs a shorter one",
    ("docs/fix.md", 'linemate fix --verify --build "'): "takes minutes: tests/fix runs a shorter one",
}
NEEDED = ("valgrind", "gcov", "cmake")


def reason_not_to_run(block: Block, command: str) -> str:
    reasons = (why for (page, start), why in NOT_RUN.items() if block.page == page and command.startswith(start))
    return next(reasons, "")


def run_commands(block: Block) -> list[str]:
    return [command for command in block.script if not reason_not_to_run(block, command)]


def is_call(block: Block, command: str) -> bool:
    return command in block.calls


def parse(words: list[str]) -> None:
    """What click says of the words, without running anything."""
    name, *arguments = words
    context = click.Context(cli, info_name="linemate")
    command = cli.get_command(context, name)
    assert command is not None, f"no command {name}"
    command.make_context(name, arguments, parent=context)


RUN = [b for b in BLOCKS if "synopsis" not in b.notes and any(is_call(b, command) for command in run_commands(b))]
LEFT = [(b, command) for b in BLOCKS for command in b.script if reason_not_to_run(b, command)]


@pytest.mark.parametrize("block", RUN, ids=lambda block: block.name)
def test_a_block_runs_as_it_stands(world: World, block: Block) -> None:
    commands = run_commands(block)
    missing = [tool for tool in NEEDED if any(c.startswith(tool) for c in commands) and not shutil.which(tool)]
    if missing:
        pytest.skip(f"no {missing[0]}")
    script = FINDING.sub(world.finding, "\n".join(commands)).replace("/tmp/tc", "tc")
    code, said, calls = world.run(script)
    assert len(calls) == sum(is_call(block, command) for command in commands), said
    *others, last = calls
    for call in others if block.expected is not None else calls:
        assert call.code in (0, 1), f"{call}\n{said}"
    assert block.expected in (None, last.code), said
    assert code in (0, 1, block.expected), said


@pytest.mark.parametrize(("block", "command"), LEFT, ids=[f"{b.name} {c.split()[0]}" for b, c in LEFT])
def test_what_is_not_run_is_spelled_right(block: Block, command: str) -> None:
    if is_call(block, command):
        parse(words_of(command))
    pytest.skip(f"{command.splitlines()[0]}: {reason_not_to_run(block, command)}")


def test_no_reason_is_left_over() -> None:
    used = {key for key in NOT_RUN for b, command in LEFT if (b.page, command[: len(key[1])]) == key}
    assert used == set(NOT_RUN)


@pytest.mark.parametrize("block", [b for b in BLOCKS if "synopsis" in b.notes], ids=lambda block: block.name)
def test_a_synopsis_names_options_that_there_are(block: Block) -> None:
    assert block.calls
    for command in block.calls:
        parse([word.strip("[]") for word in words_of(command) if word.strip("[]")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_stand_in_blocks_that_say_shell(page: Path) -> None:
    assert outside_of_shell(page, ROOT) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_within_sentences_have_options_that_there_are(page: Path) -> None:
    for call in inline_calls(page):
        _, name, *words = call.replace("|", " ").split()
        context = click.Context(cli, info_name="linemate")
        command = cli.get_command(context, name) if name.isalpha() and name.islower() else None
        if command is None:
            assert not name.isalpha() or name.isupper(), call
            continue
        known = {option for parameter in command.params for option in parameter.opts} | set(
            command.get_help_option_names(context)
        )
        ours = words[: words.index("--")] if "--" in words else words
        assert {word.strip("[],") for word in ours if word.strip("[").startswith("-")} <= known, call
