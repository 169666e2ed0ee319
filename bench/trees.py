"""tree: what a small file costs in an audit of many, against objdump -d of the same files.

Owns the choice of the files.  Processor time rather than wall time: processes work side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.measure import Unavailable, compare, run
from bench.places import linemate, tool
from bench.report import conditions, limit, ratio, table

_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/lib/x86_64-linux-gnu")
_SIZES = range(80_000, 120_000)  # bytes
_FILES = 60
_FILE_LIMIT_S = 0.15
_AUDIT_EXITS = frozenset({0, 1, 3})


def small_files() -> list[str]:
    """Programs and libraries of about 100 kB."""
    found = [
        file
        for folder in map(Path, _FOLDERS)
        if folder.is_dir()
        for file in sorted(folder.iterdir())
        if file.is_file() and not file.is_symlink() and file.stat().st_size in _SIZES
        if file.read_bytes()[:4] == b"\x7fELF"
    ]
    if len(found) < _FILES:
        raise Unavailable(f"only {len(found)} programs and libraries of about 100 kB here")
    return [str(file) for file in found[:_FILES]]


def processor_s(command: list[str], accept: frozenset[int]) -> Callable[[], tuple[float, bool]]:
    """A contender whose figure is processor time, of what it starts as well."""

    def measure() -> tuple[float, bool]:
        done = run(command)
        if done.returncode not in accept:
            raise Unavailable(f"{Path(command[0]).name} ended with {done.returncode}: {done.stderr[-200:]}")
        return done.own_s, done.disturbed

    return measure


def measure(rounds: int) -> list[str]:
    files = small_files()
    audit = linemate("audit", "--fail-on", "never", "--format", "json")
    result = compare(
        {
            "audit": processor_s([*audit, *files], _AUDIT_EXITS),
            "audit of one": processor_s([*audit, files[0]], _AUDIT_EXITS),
            "objdump": processor_s([tool("objdump", "binutils"), "-d", *files], frozenset({0})),
        },
        rounds,
    )
    each_s = result.series["audit"].median / len(files)
    return [
        *table(result, "s"),
        ratio(result, "audit", "objdump"),
        f"  {each_s * 1e3:.0f} ms of processor time a file",
        limit(each_s, _FILE_LIMIT_S, "seconds of processor time a file"),
        conditions(result, rounds),
    ]
