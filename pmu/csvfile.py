"""The CSV reader: a header that names ``ip`` and at least one of ``addr``, ``tid``, ``symbol``, then a sample a line.

Owns the column names.  Numbers are decimal, or hexadecimal after 0x; an empty cell is unknown.  Columns: ip, addr, tid,
pid, cpu, time (nanoseconds), period, weight, data_src, phys_addr, and the texts event, comm, access (load or store),
symbol, image.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from pmu.samplesbuilder import Builder, Names
from pmu.textlines import Rows, lines
from sharing.model.errors import Malformed, Unrecognized
from sharing.model.samples import DATA_SRC_LOAD, DATA_SRC_STORE, Counts, Event, Field, Recording, Samples

if TYPE_CHECKING:
    import _csv

NUMBERS = {
    "ip": Field.IP,
    "addr": Field.ADDR,
    "tid": Field.THREAD,
    "pid": Field.THREAD,
    "cpu": Field.CPU,
    "time": Field.TIME,
    "period": Field.PERIOD,
    "weight": Field.WEIGHT,
    "data_src": Field.DATA_SRC,
    "phys_addr": Field.PHYS_ADDR,
}
ALIASES = {"address": "addr", "data_addr": "addr", "image": "image", "dso": "image", "sym": "symbol", "thread": "tid"}
TEXTS = {"event", "comm", "access", "symbol", "image"}
ONE_OF = {"addr", "tid", "symbol"}
ACCESS = {"load": DATA_SRC_LOAD, "read": DATA_SRC_LOAD, "store": DATA_SRC_STORE, "write": DATA_SRC_STORE}


def read(path: Path) -> Samples:
    """Raises Unrecognized without such a header, Malformed with the line of a cell that makes no sense."""
    reader = csv.reader(line for line in lines(path) if not line.startswith("#"))
    try:
        header = [ALIASES.get(name.strip().lower(), name.strip().lower()) for name in next(reader, [])]
        if "ip" not in header or not ONE_OF & set(header):
            raise Unrecognized(str(path), "the first line is no header with ip and addr, tid or symbol")
        if len(set(header)) < len(header):
            raise Malformed(str(path), None, "line 1: two columns have the same name")
        return _read(path, reader, header)
    except csv.Error as error:
        raise Malformed(str(path), None, f"line {reader.line_num}: {error}") from error


def _read(path: Path, reader: _csv.Reader, header: list[str]) -> Samples:
    builder, events = Builder(), Names()
    rows, fields = Rows(builder), Field(0)
    named: dict[int, str] = {}
    for name in header:
        fields |= NUMBERS.get(name, Field(0))
    fields |= Field.DATA_SRC if "access" in header else Field(0)
    fields |= Field.SYMBOL if "symbol" in header else Field(0)
    for cells in reader:
        if not cells:
            continue
        if len(cells) != len(header):
            raise Malformed(
                str(path), None, f"line {reader.line_num}: {len(cells)} cells, the header has {len(header)}"
            )
        row = {name: cell.strip() for name, cell in zip(header, cells, strict=True) if cell.strip()}
        try:
            values = {name: _number(row[name]) for name in NUMBERS if name in row}
            if "access" in row:
                values["data_src"] = values.get("data_src", 0) | ACCESS[row["access"].lower()]
            if "symbol" in row:
                values["symbol"] = builder.symbols.row((row["symbol"], row.get("image", "")))
            values["event"] = events.row(row.get("event", "samples"))
            values.setdefault("period", 1)
            tid = values.get("tid", -1)
            if "comm" in row and tid >= 0 and named.get(tid) != row["comm"]:
                named[tid] = row["comm"]
                builder.comm(values.get("time", 0), values.get("pid", -1), tid, row["comm"], executed=False)
            rows.add(values)
        except KeyError as error:
            raise Malformed(str(path), None, f"line {reader.line_num}: access is load or store, not {error}") from error
        except ValueError as error:
            raise Malformed(str(path), None, f"line {reader.line_num}: {error}") from error
    rows.flush()
    unknown = sorted(set(header) - NUMBERS.keys() - TEXTS)
    notes = (f"columns that mean nothing here: {', '.join(unknown)}",) if unknown else ()
    counts = Counts(samples=builder.store.size, notes=notes)
    described = tuple(Event(name, fields, sample_period=1) for name in events.all())
    return builder.finish(described, Recording("csv"), counts)


def _number(text: str) -> int:
    value = int(text, 0) if text[:2].lower() == "0x" else int(text)
    if value < 0:
        raise ValueError(f"{text} is negative")
    return value
