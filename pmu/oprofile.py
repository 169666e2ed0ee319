"""The oprofile reader: symbol listings of ``opreport -l``, also several in one page with text around them.

Owns the grammar of the listings.  A row stands for many samples: its ``period`` is samples times the count of the event
(1 where the listing does not say), and the event's ``sample_period`` that count, so that the quotient is the number of
samples.  Each listing is an event of its own, with the line above it as its label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from pmu.samplesbuilder import Builder
from pmu.textlines import Rows, lines
from sharing.model.errors import Malformed, Unrecognized
from sharing.model.samples import Counts, Event, Field, Recording, Samples

HEADING = re.compile(r"\s*(?:vma\s+)?(?P<columns>(?:samples\s+%\s+)+)(?P<names>.*\bsymbol name)\s*$")
COUNTED = re.compile(r"\s*Counted (?P<event>\S+) events .*\bcount (?P<count>\d{1,18})\s*$")
PROCESSOR = re.compile(r"\s*CPU: (?P<cpu>.+?)(?:, speed .*)?$")
COLUMN = r"(?:(\d{1,18})\s+(\d+(?:\.\d+)?(?:e[-+]\d+)?)\s+)"
# opreport names memory without a file by what has mapped it.
IMAGE = re.compile(r"(?P<image>\S+(?: \((?:tgid|range):[^)]*\))?)\s+(?P<rest>\S.*)$")
LINE_NUMBER = re.compile(r"(?:\S+:\d+|\(no (?:debug|location) information\))\s+")
NO_SYMBOL = "(no symbols)"
MAX_COUNT = 1 << 40  # samples of one symbol, and events between two of them: products stay within 64 bits with room
MAX_EVENTS = 1 << 15


@dataclass(slots=True)
class _Listing:
    """The listing that is being read."""

    columns: int
    images: int  # how many names come before the symbol
    numbered: bool
    row: re.Pattern[str]
    first_event: int
    counts: tuple[int, ...]
    largest: list[tuple[int, float]]  # samples and percentage of the largest row, by column
    rows: int = 0


@dataclass(slots=True)
class _Page:
    """What has been said since the last listing."""

    label: str = ""
    counted: list[tuple[str, int]] = field(default_factory=list)


def read(path: Path) -> Samples:
    """Raises Unrecognized where there is no listing, Malformed where a listing has no rows."""
    builder, events = Builder(), list[Event]()
    rows, page = Rows(builder), _Page()
    listing: _Listing | None = None
    cpu, heading_at, bad = "", 0, 0
    for number, line in enumerate(lines(path), 1):
        line = " ".join(line.split())  # copied listings have lost their columns; and patterns stay linear
        if heading := HEADING.match(line):
            _end(path, listing, heading_at, events)
            listing, heading_at = _begin(heading, page, events), number
            page = _Page()
            continue
        if listing is not None:
            if listing.rows == 0 and not line:
                continue
            if row := listing.row.match(line):
                bad += not _take(row, listing, builder, rows)
                continue
            _end(path, listing, heading_at, events)
            listing = None
        if counted := COUNTED.match(line):
            page.counted.append((counted["event"], min(int(counted["count"]), MAX_COUNT)))
        elif processor := PROCESSOR.match(line):
            cpu = processor["cpu"]
        elif line:
            page.label = line.rstrip(":")
    _end(path, listing, heading_at, events)
    if not events:
        raise Unrecognized(str(path), "no line of column headings: samples, %, symbol name")
    rows.flush()
    notes = (f"{bad} rows have numbers beyond any measure",) if bad else ()
    counts = Counts(samples=builder.store.size, malformed_records=bad, notes=notes)
    return builder.finish(tuple(events), Recording("oprofile", cpu=cpu, recorder="oprofile"), counts)


def _begin(heading: re.Match[str], page: _Page, events: list[Event]) -> _Listing:
    columns = heading["columns"].count("%")
    counted = (page.counted + [("", 1)] * columns)[:columns]
    first = len(events)
    for name, count in counted:
        events.append(Event(name or "samples", Field.SYMBOL | Field.PERIOD, sample_period=count, label=page.label))
    names = heading["names"]
    return _Listing(
        columns,
        ("image name" in names) + ("app name" in names),
        "linenr info" in names,
        re.compile(r"\s*(?:[0-9a-fA-F]{8,16}\s+(?=\d+\s+\d+(?:\.|\s)))?" + COLUMN * columns + r"(?P<names>\S.*)$"),
        first,
        tuple(count for _, count in counted),
        [(0, 0.0)] * columns,
    )


def _take(row: re.Match[str], listing: _Listing, builder: Builder, rows: Rows) -> bool:
    """One row; whether it could be used."""
    listing.rows += 1
    rest = row["names"].strip()
    images = []
    if listing.numbered:
        rest = LINE_NUMBER.sub("", rest, count=1)
    for _ in range(listing.images):
        found = IMAGE.match(rest)
        if found is None:
            return False
        images.append(found["image"])
        rest = found["rest"]
    image = images[0] if images else ""
    name = "" if rest == NO_SYMBOL or rest == "/" + image else rest
    symbol = builder.symbols.row((name, image))
    for column, count in enumerate(listing.counts):
        samples = int(row[2 * column + 1])
        if samples > MAX_COUNT or samples * count >= 1 << 63:
            return False
        if samples > listing.largest[column][0]:
            listing.largest[column] = (samples, float(row[2 * column + 2]))
        if samples:
            rows.add({"symbol": symbol, "period": samples * count, "event": listing.first_event + column})
    return True


def _end(path: Path, listing: _Listing | None, heading_at: int, events: list[Event]) -> None:
    if listing is None:
        return
    if not listing.rows:
        raise Malformed(str(path), None, f"line {heading_at}: column headings of opreport without any row")
    if listing.first_event >= MAX_EVENTS:
        raise Malformed(str(path), None, f"more than {MAX_EVENTS} listings")
    for column, (samples, percent) in enumerate(listing.largest):
        # Listings are often cut behind their first rows; percentages are of all samples.
        total = round(100 * samples / percent) if percent else 0
        if 0 < total <= MAX_COUNT:
            number = listing.first_event + column
            events[number] = replace(events[number], listed_total=total)
