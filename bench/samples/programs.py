"""The programs of ``testdata/samples`` and what is right to say of each: the table, and building a row of it.

Owns the truth.  It was written down before linemate saw the programs.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from bench.measure import Unavailable, run
from bench.places import REPOSITORY

FOLDER = REPOSITORY / "testdata" / "samples"
_OF_LANGUAGE = {
    ".c": ("-g", "-pthread"),
    ".cc": ("-std=c++17", "-g", "-pthread"),
    ".rs": ("--edition=2021", "-g"),
    ".go": (),
}


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``apart``: what must be on lines of its own, empty where nothing must.  ``allocated``: the function that made
    it.  ``builds``: compilers with their options; ``mended`` is the one more that parts it, "" where there is none.
    """

    source: str
    builds: tuple[str, ...]
    apart: tuple[str, ...] = ()
    allocated: str = ""
    mended: str = ""


def programs() -> list[Program]:
    """The table."""
    return msgspec.json.decode((FOLDER / "programs.json").read_bytes(), type=list[Program])


def build(program: Program, options: str, out: Path) -> None:
    """One build of a program into a file.  Raises Unavailable where there is no such compiler."""
    compiler, *rest = options.split()
    if not shutil.which(compiler):
        raise Unavailable(f"no {compiler}")
    source = FOLDER / program.source
    done = run([compiler, *rest, *_OF_LANGUAGE[source.suffix], "-o", str(out), str(source)])
    if done.returncode:
        raise Unavailable(f"{program.source} is not built by {options}: {done.stderr.strip()[:200]}")
