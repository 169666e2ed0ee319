"""Running ``linemate-facts``: a request in, the file with its stream out.

Owns the tool's arguments, the project's own rows as the tool reads them, progress, and the translation of a failing
tool into one ``LinemateError``.  What a unit's failure means is for the reader of the stream.
"""

from __future__ import annotations

import collections
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from elfscan.tools import helper_environment, tool_path
from sharing.model import LinemateError
from sharing.model.process import children, scratch
from sharing.model.project import ProjectConfig

TOOL = "linemate-facts"
_KNOWLEDGE = Path(__file__).resolve().parent.parent / "sharing" / "knowledge"
_KEPT_LINES = 5  # of the tool's stderr, for the reason of a failure
_MAX_REASON_CHARS = 300


class Request(Protocol):
    """What ``linemate-facts`` is to read.

    ``database`` is a compile_commands.json or its folder; "" where ``flags`` say how ``sources`` are compiled.
    ``sources`` choose from a database, none means all.  ``jobs``: units at once, 0 one a core.  ``cache``: a folder for
    the facts of unchanged units, None for no cache.  What is below the folders ``tops`` (absolute) is read from
    ``tree`` instead, "" for none.
    """

    @property
    def database(self) -> str: ...
    @property
    def sources(self) -> Sequence[str]: ...
    @property
    def flags(self) -> Sequence[str]: ...
    @property
    def jobs(self) -> int: ...
    @property
    def cache(self) -> str | None: ...
    @property
    def tops(self) -> Sequence[str]: ...
    @property
    def tree(self) -> str: ...


def run_facts(request: Request, project: ProjectConfig | None = None, within: Path | None = None) -> Path:
    """Run the tool and return the file with its stream, in a new folder in ``within``, else in that of this run.

    Progress goes to standard error if that is a terminal.  Raises ``LinemateError`` when the tool cannot be run or
    gives up; units that fail are lines of the stream.
    """
    tool = tool_path(TOOL)
    folder = Path(tempfile.mkdtemp(dir=within or scratch.folder(), prefix="facts-"))
    stream = folder / "facts.jsonl"
    arguments = [str(tool), *_arguments(request, project or ProjectConfig(), folder)]
    try:
        with stream.open("wb") as out:
            streams = children.Streams(stdout=out, stderr=subprocess.PIPE)
            process = children.start(arguments, streams, env=helper_environment())
    except OSError as error:
        raise LinemateError(f"{tool}: {error.strerror or error}") from error
    said = _follow(process)
    code = process.wait()
    if code:
        raise LinemateError(_reason(code, said))
    return stream


def _arguments(request: Request, project: ProjectConfig, folder: Path) -> list[str]:
    jobs = request.jobs or len(os.sched_getaffinity(0))
    out = ["-j", str(jobs), "--knowledge", str(_KNOWLEDGE)]
    if project.has_rows:
        rows = folder / "rows.json"
        rows.write_bytes(msgspec.json.encode(project.rows))
        out += ["--project-rows", str(rows)]
    if request.cache is not None:
        out += ["--cache", request.cache]
    if request.tree:
        out += [*(word for top in request.tops for word in ("--top", top)), "--tree", request.tree]
    if sys.stderr.isatty():
        out.append("--progress")
    if request.database:
        out += ["-p", request.database]
    # A name that starts with a dash is a file here.
    out += [str(Path(source).absolute()) for source in request.sources]
    if not request.database:
        out += ["--", *request.flags]
    return out


def _follow(process: subprocess.Popen[bytes]) -> list[str]:
    """Show progress until the tool ends; the last other lines that it said."""
    kept: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)
    shown = False
    assert process.stderr is not None
    with process.stderr as lines:
        try:
            for raw in lines:
                text = raw.decode("utf-8", "replace").strip()
                done, slash, total = text.partition("/")
                if slash and done.isdigit() and total.isdigit():
                    print(f"\r\033[Kreading source: {text}", end="", file=sys.stderr, flush=True)
                    shown = True
                elif text:
                    kept.append(text)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            if shown:
                print("\r\033[K", end="", file=sys.stderr, flush=True)
    return list(kept)


def _reason(code: int, said: list[str]) -> str:
    if code > 0 and said:
        return said[-1].removeprefix(f"{TOOL}: ")[:_MAX_REASON_CHARS]
    if code < 0:
        return f"{TOOL}: stopped by signal {-code}"
    return f"{TOOL}: failed with status {code}"
