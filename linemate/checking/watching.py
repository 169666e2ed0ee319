"""``check --watch``: the check again after each save, and a line for each finding that it changed.

Owns how saves are noticed: the files that the last check read are looked at a few times a second, which sees them on
every file system, and whatever an editor does to replace a file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from linemate.reportdiff import difference
from reports.diff.wording import short_rows
from reports.escape import visible
from sharing.model.errors import LinemateError
from sharing.model.finding import Report
from sharing.model.guard import begin_run, check_inputs
from sharing.model.plural import count
from sharing.source.program import Program

_LOOK_S = 0.3
_LOOKING_SHARE = 0.05  # of the time, at most, goes into looking at files
_NAMES_SHOWN = 3

Stamp = tuple[int, int, int] | None  # when it was changed, its size and its number; None where there is no such file


def watch(
    check: Callable[[], tuple[Report, Program]], show: Callable[[Report], None], others: Iterable[str]
) -> NoReturn:
    """Show what ``check`` finds, then print what each save changes of it, until a signal ends the run.

    A save is one of a file that the check read, or of ``others``.
    """
    others = tuple(others)
    began_ns = time.time_ns()
    report, program = check()
    show(report)
    seen = _since(began_ns, _stamps([*files_of(program), *others]))
    while True:
        saved = _wait(seen)
        began_ns = time.time_ns()
        # As files were before the check: what is saved meanwhile is checked next.
        before = _stamps(seen)
        try:
            begin_run()
            after, program = check()
            check_inputs()
        except LinemateError as error:
            _say([str(error)])
            seen = before
            continue
        now = _since(began_ns, _stamps([*files_of(program), *others]))
        seen = {path: before.get(path, stamp) for path, stamp in now.items()}
        if after.incomplete:
            # A line half written takes findings away that are back with the next save.
            _say([f"incomplete: {next(iter(after.coverage.notes), 'linemate check says more')}"])
            continue
        changes = list(short_rows(difference(report, after)))
        report = after
        _say(changes or [f"nothing changed: {count(len(after.findings), 'finding')} ({_named(saved)})"])


def _say(lines: Iterable[str]) -> None:
    clock = time.strftime("%H:%M:%S")
    for line in lines:
        print(f"{clock}  {visible(line)}", flush=True)


def files_of(program: Program) -> Iterator[str]:
    """All files that a check read, and the units that it could not read."""
    for unit in program.units:
        for file in dict.fromkeys((unit.path, *unit.files)):
            yield os.path.join(unit.directory, file)
    for path, _ in program.failed:
        yield os.path.abspath(path)


def _wait(seen: dict[str, Stamp]) -> list[str]:
    """Returns the files that were saved, once nothing more is: whoever saves several files at once is checked once."""
    saved: list[str] = []
    before = seen
    while True:
        began = time.monotonic()
        now = _stamps(seen)
        if saved and now == before:
            return saved
        saved = [path for path, stamp in now.items() if stamp != seen[path]]
        before = now
        time.sleep(max(_LOOK_S, (time.monotonic() - began) / _LOOKING_SHARE))


def _stamps(paths: Iterable[str]) -> dict[str, Stamp]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _since(began_ns: int, stamps: dict[str, Stamp]) -> dict[str, Stamp]:
    """As if what was saved since then had not been looked at."""
    return {path: None if stamp and stamp[0] >= began_ns else stamp for path, stamp in stamps.items()}


def _named(paths: list[str]) -> str:
    names = [os.path.basename(path) for path in paths[:_NAMES_SHOWN]]
    more = len(paths) - len(names)
    return ", ".join([*names, *([f"{more} more"] if more else [])])
