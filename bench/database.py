"""Compile databases of real programs, from what ``make`` says that it would do.

Owns the reading of a dry run: no compiler runs and nothing has to intercept one.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from bench.measure import Unavailable
from bench.places import REPOSITORY, WORK, tool

_FOLDER = re.compile(r"make(?:\[\d+\])?: (Entering|Leaving) directory '(.+)'")
_SOURCES = (".c", ".cc", ".cpp", ".cxx")


def commands(dry_run: str, folder: Path) -> list[dict[str, object]]:
    """Entries of a compile database from the output of ``make --dry-run --print-directory`` in a folder."""
    folders = [str(folder)]
    entries: list[dict[str, object]] = []
    for line in dry_run.splitlines():
        moved = _FOLDER.fullmatch(line.strip())
        if moved:
            if moved.group(1) == "Entering":
                folders.append(moved.group(2))
            elif len(folders) > 1:
                folders.pop()
            continue
        for part in re.split(r";|&&", line):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            sources = [w for w in words if w.endswith(_SOURCES)]
            if "-c" in words and len(sources) == 1 and not words[0].endswith("printf"):
                file = Path(folders[-1], sources[0])
                entries.append({"directory": folders[-1], "file": str(file), "arguments": words})
    return entries


def redis(minimum: int = 100) -> Path:
    """The compile database of Redis, made once from its source package in the corpus."""
    folder = WORK / "redis"
    database = folder / "compile_commands.json"
    if database.exists():
        return database
    make = tool("make", "make")
    source = _source("redis", "src/server.c")
    shutil.rmtree(folder, ignore_errors=True)
    # As if nothing had been built.
    shutil.copytree(source, folder, symlinks=True, ignore=shutil.ignore_patterns("*.o", "*.a", "*.d", ".make-*"))
    done = subprocess.run(
        [make, "--dry-run", "--print-directory", "V=1", "MALLOC=libc"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        errors="replace",
    )
    entries = [e for e in commands(done.stdout, folder) if Path(str(e["file"])).is_file()]
    if len(entries) < minimum:
        raise Unavailable(f"make would compile only {len(entries)} units of Redis")
    # What its Makefile writes before it compiles.
    subprocess.run(["sh", "mkreleasehdr.sh"], cwd=folder / "src", capture_output=True, check=False)
    database.write_text(json.dumps(entries, indent=1))
    return database


def _source(package: str, file: str) -> Path:
    found = sorted((REPOSITORY / "build" / "corpus" / "source").glob(f"{package}-*/{file}"))
    if not found:
        raise Unavailable(f"no source of {package}: scripts/test fetches it into build/corpus/source")
    return found[-1].parents[len(Path(file).parts) - 1]
