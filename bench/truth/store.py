"""Counts of one program's file, kept small: what was executed how often by each thread, without the rest of the run.

Owns the format: JSON, compressed with xz.  Addresses are sorted and given as steps; along them the counts of a thread
are runs of equal numbers, because straight code is executed as often from its first instruction to its last.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sharing.model.executions import EXECUTION_DTYPE, CountedThread, Executions

FORMAT = "linemate-truth-1"


@dataclass(frozen=True, slots=True)
class Made:
    """What the counts are of, and how they were made."""

    program: str
    path: str  # of the file whose instructions were counted
    package: str
    version: str
    build_id: str
    command: str
    recorder: str


def save(into: Path, made: Made, executions: Executions, modules: list[int]) -> None:
    """Keep the counts of some modules, which are one file."""
    rows = executions.of_module(modules)
    addresses, place = np.unique(rows["address"], return_inverse=True)
    steps = np.diff(addresses, prepend=np.uint64(0))
    threads: list[dict[str, Any]] = []
    for number, thread in enumerate(executions.threads):
        counts = np.zeros(len(addresses), np.int64)
        mine = rows["thread"] == number
        counts[place[mine]] = rows["executions"][mine]
        change = np.flatnonzero(np.diff(counts, prepend=-1))
        lengths = np.diff(change, append=len(counts))
        threads.append({**asdict(thread), "counts": counts[change].tolist(), "lengths": lengths.tolist()})
    document = {"format": FORMAT, **asdict(made), "steps": steps.tolist(), "threads": threads}
    text = json.dumps(document, separators=(",", ":"))
    into.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def load(path: Path) -> tuple[Made, Executions]:
    """The counts as one module of their own."""
    document = json.loads(lzma.decompress(path.read_bytes()))
    if document.get("format") != FORMAT:
        raise ValueError(f"{path}: is not of the format {FORMAT}")
    made = Made(**{name: document[name] for name in Made.__dataclass_fields__})
    addresses = np.cumsum(np.array(document["steps"], np.uint64), dtype=np.uint64)
    tables, threads = [], []
    for number, thread in enumerate(document["threads"]):
        counts = np.repeat(np.array(thread["counts"], np.uint64), thread["lengths"])
        rows = np.zeros(np.count_nonzero(counts), EXECUTION_DTYPE)
        rows["address"], rows["executions"], rows["thread"] = addresses[counts > 0], counts[counts > 0], number
        tables.append(rows)
        threads.append(CountedThread(thread["process"], thread["number"], thread["instructions"]))
    table = np.concatenate(tables) if tables else np.empty(0, EXECUTION_DTYPE)
    order = np.lexsort((table["thread"], table["address"]))
    return made, Executions(table[order], (made.path,), tuple(threads), (), made.command, made.recorder)
