"""Profiles → ``Samples``.  One reader per format, tried in the order of this table.

Owns the choice of the reader.  Does not place samples on variables (``sharing`` does) and does not judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sharing.model.errors import LinemateError, Unrecognized
from sharing.model.guard import check_inputs, mark
from sharing.model.inputs import is_stream, read_input
from sharing.model.process import scratch
from sharing.model.samples import Samples

MAX_STREAM_BYTES = 2 << 30  # of a profile that comes through a pipe


@dataclass(frozen=True, slots=True)
class Reader:
    """A format.  ``read`` raises Unrecognized where the file is of another one, Malformed where it is broken."""

    name: str
    summary: str
    read: Callable[[Path], Samples]
    read_some: Callable[[Path, int], Samples] | None = None  # no more samples than a number, where the format allows it


def readers() -> tuple[Reader, ...]:
    """Every reader, the strictest about what it accepts first."""
    from pmu import csvfile, oprofile, perfscript
    from pmu.perfdata import reader as perfdata

    return (
        Reader("perf.data", "what perf record writes, to a file or to a pipe", perfdata.read, perfdata.read),
        Reader("csv", "a table with a header: ip, addr, tid and others", csvfile.read),
        Reader("oprofile", "symbol listings of opreport", oprofile.read),
        Reader("perf script", "text that perf script prints", perfscript.read),
    )


def read_samples(path: str | Path, most: int | None = None) -> Samples:
    """The samples of a profile of any known format.

    ``most``: keep no more than so many where the format allows it, spread as ``sharing.model.thinning`` says.

    ``-`` is standard input; that and a pipe that this process was given are copied first, since readers take turns.

    Raises Malformed for a broken profile, LinemateError for a file that cannot be read or that no reader knows.
    """
    if not is_stream(path):
        since = mark()
        samples = _read(Path(path), most)
        check_inputs(since)
        return samples
    with scratch.subfolder("profile") as folder:
        copy = folder / "profile"
        copy.write_bytes(read_input(path, MAX_STREAM_BYTES, "a profile", stream=True))
        try:
            return _read(copy, most)
        except LinemateError as error:
            raise LinemateError(str(error).replace(str(copy), str(path))) from error


def _read(path: Path, most: int | None) -> Samples:
    refusals: list[str] = []
    table = readers()
    for reader in table:
        try:
            if most is not None and reader.read_some is not None:
                return reader.read_some(path, most)
            return reader.read(path)
        except Unrecognized as refusal:
            refusals.append(f"{reader.name}: {refusal.why}")
        except OSError as error:
            raise LinemateError(f"{path}: {error.strerror or error}") from error
    raise LinemateError(f"{path}: not a profile that linemate reads ({'; '.join(refusals)})")
