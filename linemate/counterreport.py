"""``record --counters``: the counts of each thread as text or JSON.

Owns both forms.  Counting is ``pmu.counters``'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from pmu.counters import HARDWARE, SOFTWARE, Counted, CountedEvent
from reports.escape import visible
from sharing.model.errors import LinemateError
from sharing.model.inputs import is_regular, read_input
from sharing.model.plural import count

SCHEMA = "linemate-counters-1"
UNSUPPORTED = "unsupported"
STILL_RUNNING = "still running"
_MAX_BYTES = 64 << 20


class EventColumn(msgspec.Struct, frozen=True):
    name: str
    constant: str
    kind: str
    unit: str
    supported: bool
    user_only: bool
    total: int | None


class ThreadRow(msgspec.Struct, frozen=True):
    pid: int
    tid: int
    name: str
    counts: dict[str, int | None]  # None: unsupported
    counted_share: float  # of the thread's time, the least of all events; below 1 counts are scaled up


class CountsDocument(msgspec.Struct, frozen=True):
    schema: str
    command: tuple[str, ...]
    status: int  # exit code, or minus the signal that ended it
    interrupted: bool
    wall_s: float
    user_s: float
    system_s: float
    events: tuple[EventColumn, ...]
    threads: tuple[ThreadRow, ...]


def render_json(counted: Counted, command: Sequence[str]) -> str:
    return msgspec.json.format(msgspec.json.encode(_document(counted, command)), indent=2).decode() + "\n"


def render_text(counted: Counted) -> str:
    """A table for hardware events and one for software's, a thread a row, of the events that this machine counts."""
    lines: list[str] = []
    for kind in (HARDWARE, SOFTWARE):
        if any(event.supported for event in counted.events if event.kind == kind):
            lines += [*_table(counted, kind), ""]
    if missing := [event.name for event in counted.events if not event.supported]:
        lines.append(f"{UNSUPPORTED} on this machine: {', '.join(missing)}")
    scaled = [thread for thread in counted.threads if _share(thread.shares) < 1]
    if scaled:
        lines.append(f"{count(len(scaled), 'thread')}: counters took turns, counts are scaled up to the whole time")
    if counted.lost:
        lines.append(f"{count(counted.lost, 'record')} lost: some threads' counts are with the first one's")
    if user_only := [event.name for event in counted.events if event.user_only]:
        lines.append(f"in user mode only, for lack of rights: {', '.join(user_only)}")
    return "\n".join(lines).rstrip() + "\n"


def check_new(output: str | None) -> None:
    """Raises LinemateError where ``output`` exists and is not counts that were written before."""
    path = Path(output) if output and output != "-" else None
    if path is None or not path.exists():
        return
    try:
        if is_regular(path) and path.stat().st_size <= _MAX_BYTES:
            msgspec.json.decode(read_input(path, _MAX_BYTES), type=CountsDocument)
            return
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    except OSError as error:
        raise LinemateError(f"{path}: {error.strerror}") from error
    raise LinemateError(f"{path}: exists and is not counts in JSON that linemate wrote: not replaced")


def _document(counted: Counted, command: Sequence[str]) -> CountsDocument:
    names = [event.name for event in counted.events]
    return CountsDocument(
        SCHEMA,
        tuple(command),
        counted.ended.status,
        counted.interrupted,
        counted.ended.wall_s,
        counted.ended.user_s,
        counted.ended.system_s,
        tuple(
            EventColumn(e.name, e.constant, e.kind, e.unit, e.supported, e.user_only, total)
            for e, total in zip(counted.events, counted.totals(), strict=True)
        ),
        tuple(
            ThreadRow(t.pid, t.tid, t.name, dict(zip(names, t.values, strict=True)), _share(t.shares))
            for t in counted.threads
        ),
    )


def _share(shares: Sequence[float | None]) -> float:
    return min((share for share in shares if share is not None), default=1.0)


def _table(counted: Counted, kind: str) -> Iterator[str]:
    columns = [at for at, event in enumerate(counted.events) if event.kind == kind and event.supported]
    head = ["thread", "name", *(_heading(counted.events[at]) for at in columns)]
    rows = [
        [
            str(thread.tid) if thread.tid >= 0 else STILL_RUNNING,
            visible(thread.name),
            *(_cell(thread.values[at]) for at in columns),
        ]
        for thread in counted.threads
    ]
    totals = counted.totals()
    rows.append(["total", "", *(_cell(totals[at]) for at in columns)])
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _heading(event: CountedEvent) -> str:
    return f"{event.name} ({event.unit})" if event.unit else event.name


def _cell(value: int | None) -> str:
    return UNSUPPORTED if value is None else f"{value:,}"
