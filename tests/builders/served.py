"""Runs commands of linemate for scripts: one process that has all modules loaded and forks for each.

A start of Python with them takes the better part of a second where many tests run; documentation has some sixty
commands.  ``served.py FOLDER`` makes ``FOLDER/linemate``, a program for the PATH, and serves it until its standard
input ends.  Every call is a line of JSON in ``FOLDER/calls``: arguments and exit code.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLIENT = """\
#!/bin/bash
# Asks the process that serves {folder}: number of this process, folder, arguments.  In a shell of its own, or
# the standard output that the answer goes to would for a moment be the requests themselves.
reply={folder}/reply.$$
mkfifo "$reply"
printf '%s\\0' "$$" "$PWD" "$@" >{folder}/request.$$
(echo $$ >{folder}/requests)
read -r code <"$reply"
rm -f "$reply" {folder}/request.$$
exit "$code"
"""
PRELOADED = (
    "linemate.api",
    "linemate.checking.run",
    "linemate.commands.explain",
    "linemate.commands.history",
    "linemate.explaining.run",
    "linemate.fixing.command",
    "linemate.history.run",
    "linemate.linequery",
    "linemate.guardfile",
    "linemate.pipeline",
    "linemate.recording.run",
    "linemate.reportdiff",
    "reports.text",
)


def main(folder: Path) -> None:
    from importlib import import_module

    for name in PRELOADED:
        import_module(name)
    os.mkfifo(folder / "requests")
    client = folder / "linemate"
    client.write_text(CLIENT.format(folder=folder))
    client.chmod(0o755)
    from elfscan.tools import tool_path

    (folder / "linemate-facts").symlink_to(tool_path("linemate-facts"))
    print("ready", flush=True)
    serving = os.fork()
    if serving == 0:
        _serve(folder)
    sys.stdin.read()
    os.kill(serving, signal.SIGKILL)


def _serve(folder: Path) -> None:
    # Open for writing too, so that the end of one request is not the end of all.
    requests = os.fdopen(os.open(folder / "requests", os.O_RDWR), "r")
    while True:
        caller = int(requests.readline())
        if os.fork() == 0:
            _answer(folder, caller)
            os._exit(0)


def _answer(folder: Path, caller: int) -> None:
    where, *arguments = (folder / f"request.{caller}").read_text().split("\0")[1:-1]
    child = os.fork()
    if child == 0:
        _run(caller, where, arguments)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(folder / "calls", "a") as log:
        log.write(json.dumps({"arguments": arguments, "code": code}) + "\n")
    (folder / f"reply.{caller}").write_text(f"{code}\n")


def _run(caller: int, where: str, arguments: list[str]) -> None:
    """In a process of its own, with the caller's streams and environment."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        opened = os.open(f"/proc/{caller}/fd/{number}", mode | os.O_APPEND)
        os.dup2(opened, number)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False)
    environment = Path(f"/proc/{caller}/environ").read_bytes().split(b"\0")
    os.environb.clear()
    os.environb.update(dict(row.split(b"=", 1) for row in environment if b"=" in row))
    os.chdir(where)
    faulthandler.enable(2)
    sys.argv = ["linemate", *arguments]
    code = 70
    try:
        from linemate.__main__ import main as run

        run()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


@contextmanager
def served(folder: Path, repository: Path) -> Iterator[None]:
    """``folder/linemate`` runs the checkout's meanwhile, and ``folder/linemate-facts`` is its tool."""
    folder.mkdir()
    command = [sys.executable, str(Path(__file__).resolve()), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    with subprocess.Popen(
        command, cwd=repository, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        assert server.stdout.readline() == "ready\n"
        yield
        server.stdin.close()


def own_environment(base: Path, serving: Path) -> dict[str, str]:
    """The environment of a user with that tool on the PATH: a home, caches and settings of git below ``base``."""
    (base / "gitconfig").write_text("[user]\nname = a\nemail = a@example.org\n[init]\ndefaultBranch = main\n")
    return {
        "PATH": f"{serving}:{os.environ['PATH']}",
        "HOME": str(base),
        "LINEMATE_CACHE": str(base / "cache"),
        "XDG_STATE_HOME": str(base / "state"),
        "GIT_CONFIG_GLOBAL": str(base / "gitconfig"),
        "GIT_CONFIG_SYSTEM": os.devnull,
        "LC_ALL": "C.UTF-8",
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
