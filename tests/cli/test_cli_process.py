"""The command as a process: closed pipes, terminals, the environment, and the time it takes to say little."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "linemate"]
REPOSITORY = Path(__file__).resolve().parents[2]


# Unbuffered output would hide what happens when Python flushes at exit.
UNWANTED = ("NO_COLOR", "LINEMATE_DEBUG", "TERM", "PYTHONUNBUFFERED")


def environment(**extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in UNWANTED}
    return kept | {"PYTHONPATH": str(REPOSITORY)} | extra


def test_the_reader_of_the_output_may_go_away() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run([*COMMAND, "rules"], stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False)
    os.close(writer)
    assert (process.returncode, process.stderr) == (141, b"")


def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = subprocess.run(
            [*COMMAND, "rules"], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert process.returncode == 2
    assert process.stderr == b"linemate: error: standard output: No space left on device\n"


def test_output_that_cannot_be_encoded_is_escaped_not_fatal(tmp_path: Path) -> None:
    process = subprocess.run(
        [*COMMAND, "audit", "caf\u00e9\u2603"],
        capture_output=True,
        env=environment(PYTHONIOENCODING="ascii"),
        cwd=tmp_path,
        check=False,
    )
    assert process.returncode == 2
    assert process.stderr.startswith(b"linemate: error: caf\\xe9\\u2603: ")


DEFECT = """
import sys
import linemate.pipeline
from linemate.__main__ import main
def audit(*arguments, **more):
    raise KeyError("row 7")
linemate.pipeline.audit = audit
main()
"""


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_defect_ends_the_process_with_its_own_code(debug: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", DEFECT, "audit", sys.executable],
        capture_output=True,
        env=environment(LINEMATE_DEBUG=debug),
        check=False,
    )
    assert (process.returncode, process.stdout) == (70, b"")
    assert (b"Traceback" in process.stderr) == bool(debug)
    assert process.stderr.splitlines()[-1].startswith(b"linemate: error: internal error, please report it: KeyError")


@pytest.mark.parametrize(
    ("arguments", "more"),
    [(("--version",), {"numpy", "click"}), (("--help",), {"numpy"}), (("audit", "--help"), {"numpy"})],
)
def test_little_questions_import_little(arguments: tuple[str, ...], more: set[str]) -> None:
    process = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "linemate", *arguments],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in process.stderr.splitlines()}
    heavy = {"rich", "jinja2", "networkx", "elftools", "elfscan", "jsonschema"}
    assert imported & (heavy | more) == set()


AT_THE_END = """
import atexit, os, sys
from linemate.__main__ import main
def state():
    tasks = len(os.listdir("/proc/self/task"))
    print(tasks, "OPENBLAS_NUM_THREADS" in os.environ, "numpy" in sys.modules, file=sys.stderr)
atexit.register(state)
main()
"""


def test_a_run_starts_no_threads_for_matrices_and_does_what_is_left_for_its_end() -> None:
    process = subprocess.run(
        [sys.executable, "-c", AT_THE_END, "rules"], capture_output=True, text=True, env=environment(), check=True
    )
    assert process.stderr == "1 False True\n"


WITH_A_THREAD = """
import threading
from linemate.__main__ import main
def late():
    threading.main_thread().join()
    print("late", flush=True)
threading.Thread(target=late).start()
main()
"""


def test_a_thread_that_still_works_is_waited_for() -> None:
    process = subprocess.run(
        [sys.executable, "-c", WITH_A_THREAD, "rules"], capture_output=True, text=True, env=environment(), check=True
    )
    assert process.stdout.endswith("\nlate\n")
