"""One opener for all inputs: no module opens a file for reading another way than through sharing.model.inputs.

What is opened for writing is an output, and of no concern here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = ("analyzer", "elfscan", "linemate", "pmu", "reports", "sharing")
OPENING = {"open", "read_bytes", "read_text", "mmap", "fromfile", "memmap", "connect", "fdopen"}
WRITING = frozenset("wax")

# What is no input of a user, or cannot go through the opener, and why.
EXCEPTIONS = {
    "sharing/model/inputs.py": "the opener itself",
    "sharing/model/process/": "folders and /proc entries of this run's own processes",
    "sharing/knowledge/__init__.py": "tables that are part of the package",
    "pmu/machine.py": "/proc and /sys, with a bound, below a root that tests make up",
    "pmu/perfdata/registers.py": "an unlinked file of this run's own",
    "pmu/workload.py": "/proc/self/autogroup",
    "pmu/perfring.py": "rings that the kernel writes",
    "pmu/uprobes.py": "a number in /sys",
    "linemate/history/bench.py": "/proc/cpuinfo",
    "linemate/history/store.py": "SQLite opens its file itself, after the opener has looked at it",
    "linemate/fetching.py": "what a server sends, with a bound; it is read from the cache, as any input",
    "linemate/output.py": "a pipe or device that a report is written to",
    "linemate/streams.py": "/dev/null in place of a closed standard stream",
    "linemate/turns.py": "/proc/stat",
    "linemate/fixing/journal.py": "without following links, what this user's own run wrote",
    "linemate/explaining/builds.py": "what a process of this run wrote into its own folder",
    "linemate/auditing/spool.py": "without following links, and locked: what this user's own run wrote",
    "linemate/fixing/files.py": "without following links, relative to an open folder",
}


def openings(text: str) -> Iterator[tuple[int, str]]:
    """Line and name of every call that opens something for reading."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if name not in OPENING:
            continue
        of = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
        if name == "connect" and of != "sqlite3":
            continue
        # The mode comes first where a path is asked, else second.
        at = 0 if isinstance(called, ast.Attribute) and of not in ("os", "io") else 1
        modes = [a.value for a in node.args[at : at + 1] if isinstance(a, ast.Constant)]
        modes += [k.value.value for k in node.keywords if k.arg == "mode" and isinstance(k.value, ast.Constant)]
        if name in ("open", "fdopen") and any(WRITING & set(str(mode)) for mode in modes):
            continue
        yield node.lineno, name


def excepted(path: str) -> bool:
    return any(path == known or (known.endswith("/") and path.startswith(known)) for known in EXCEPTIONS)


def test_inputs_are_opened_in_one_place(repository: Path) -> None:
    found = [
        f"{name}:{line} calls {called}"
        for package in PACKAGES
        for path in sorted((repository / package).rglob("*.py"))
        if not excepted(name := path.relative_to(repository).as_posix())
        for line, called in openings(path.read_text())
    ]
    assert found == []


def test_every_exception_is_still_needed(repository: Path) -> None:
    def needed(known: str) -> bool:
        path = repository / known
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        return any(True for file in files for _ in openings(file.read_text()))

    assert [known for known in EXCEPTIONS if not needed(known)] == []


@pytest.mark.parametrize(
    "text",
    [
        "open(name)",
        "open(name, 'rb')",
        "path.open()",
        "path.open('rb', buffering=0)",
        "Path(name).read_bytes()",
        "path.read_text(encoding='utf-8')",
        "mmap.mmap(handle, 0)",
        "np.fromfile(name)",
        "numpy.memmap(name)",
        "os.open(name, os.O_RDONLY)",
        "sqlite3.connect(name)",
    ],
)
def test_the_rule_sees_every_way_to_open(text: str) -> None:
    assert len(list(openings(text))) == 1


@pytest.mark.parametrize(
    "text", ["path.open('wb')", "open(name, 'w')", "path.open(mode='a')", "open_input(name)", "signal.connect(f)"]
)
def test_the_rule_lets_outputs_pass(text: str) -> None:
    assert list(openings(text)) == []
