"""``python -m pmu FILE``: what a reader made of a profile, so that a report of a fault arrives with evidence.

Owns the dump's wording.  No judgement.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np

from pmu import read_samples
from sharing.model.errors import LinemateError
from sharing.model.samples import Mode, Samples


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m pmu", description="Print what a profile holds.")
    parser.add_argument("file")
    parser.add_argument("-n", "--samples", type=int, default=10, metavar="N", help="samples to print (10)")
    options = parser.parse_args(arguments)
    try:
        samples = read_samples(options.file)
    except LinemateError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for line in (*describe(samples), *rows(samples, options.samples)):
        print(line)
    return 0


def describe(samples: Samples) -> Iterator[str]:
    """Everything but the samples, a fact a line."""
    about, counts = samples.recording, samples.counts
    machine = ", ".join(
        part for part in (about.architecture, about.cpu, f"{about.cpus} CPUs" * bool(about.cpus)) if part
    )
    yield f"format     {about.format} ({about.recorder or 'unknown recorder'})"
    yield f"machine    {machine or 'unknown'}"
    if about.command:
        yield f"command    {' '.join(about.command)}"
    of_event = np.bincount(samples.samples["event"], minlength=len(samples.events))
    for event, count in zip(samples.events, of_event.tolist(), strict=True):
        fields = "|".join(field.name or "" for field in event.fields)
        yield f"event      {event.name}{f' [{event.label}]' * bool(event.label)}: {count} samples of {fields}"
    yield f"samples    {counts.samples}, skipped {counts.skipped_samples}"
    yield f"lost       {counts.lost_records} records, {counts.lost_samples} samples, {counts.missing_bytes} bytes"
    yield f"records    {', '.join(f'{count} {name}' for name, count in counts.records.items()) or 'none'}"
    for note in counts.notes:
        yield f"note       {note}"
    placed = int((samples.samples["mapping"] >= 0).sum())
    yield f"mappings   {len(samples.mappings)}, which hold the ip of {placed} samples"
    for row in samples.mappings:
        build_id = samples.build_ids[row["build_id"]] if row["build_id"] >= 0 else "-"
        yield (
            f"  pid {row['pid']} {int(row['start']):#x}-{int(row['end']):#x} at {int(row['pgoff']):#x} "
            f"{samples.paths[row['path']]!r} {build_id}"
        )


def rows(samples: Samples, limit: int) -> Iterator[str]:
    """The first samples, with the file that each ip lies in."""
    for at, row in enumerate(samples.samples[:limit]):
        symbol = f" {samples.symbols[row['symbol']].name!r}" if row["symbol"] >= 0 else ""
        mode = Mode(row["mode"]).name.lower() if row["mode"] in list(Mode) else f"mode {row['mode']}"
        yield (
            f"{int(row['time'])} {row['pid']}/{row['tid']} cpu {row['cpu']} {samples.events[row['event']].name} {mode} "
            f"ip {int(row['ip']):#x} addr {int(row['addr']):#x} period {row['period']} weight {row['weight']} "
            f"data_src {int(row['data_src']):#x} {samples.image_of(at)!r}{symbol}"
        )


if __name__ == "__main__":
    sys.exit(main())
