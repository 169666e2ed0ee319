"""Samples in code that a program made while it ran, as Java and Node do: by name, as far as the runtime noted names.

Owns which samples these are, and what is said of them.  Code that the runtime dumped (``pmu.jitdump``) is read like
that of a file.  No file has other such code, so that nobody knows which data its instructions access: its time is told
by name, and clears nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np

from linemate.modules import is_file
from pmu.codemap import code_map
from pmu.jitdump import NAME
from sharing.basics import numbers
from sharing.model.attribution import Attribution, Reason
from sharing.model.samples import Mode

MAX_PROCESSES = 16  # whose names are looked for, those with the most samples
SHOWN = 4


def generated_notes(path: str, one: Attribution) -> list[str]:
    """A sentence each of code that was dumped and of code that was not, where their samples are worth one."""
    return [*_dumped(path, one), *_unknown(path, one)]


def _dumped(path: str, one: Attribution) -> list[str]:
    table, samples = one.samples.samples, one.samples
    dumps = np.array([NAME.fullmatch(os.path.basename(name)) is not None for name in samples.paths] + [False])
    path_of, mapping = samples.mappings["path"], table["mapping"]
    known = np.append(dumps[path_of], False)[mapping] & (one.rows["function"] >= 0)
    count = int(np.count_nonzero(known))
    if not count or count < numbers.LOW_FROM * len(table):
        return []
    files = dict.fromkeys(samples.paths[i] for i in samples.mappings["path"][np.unique(table["mapping"][known])])
    return [
        f"{path}: {count:,} of {len(table):,} samples are in code that the program made while it ran, read from "
        f"{', '.join(list(files)[:SHOWN])}; a garbage collector may have moved the data that it accesses"
    ]


def _unknown(path: str, one: Attribution) -> list[str]:
    table = one.samples.samples
    files = np.array([is_file(name) or name.startswith("[v") for name in one.samples.paths] + [False])
    path_of, mapping = one.samples.mappings["path"], table["mapping"]
    in_file = np.append(files[path_of], False)[mapping]
    at = np.flatnonzero((one.rows["reason"] == Reason.NO_CODE) & (table["mode"] == Mode.USER) & ~in_file)
    if len(at) < numbers.LOW_FROM * len(table):
        return []
    processes = Counter(table["pid"][at].tolist()).most_common(MAX_PROCESSES)
    named: Counter[str] = Counter()
    maps: list[str] = []
    for pid, _ in processes:
        found = code_map(Path(path), pid)
        if found is not None:
            maps.append(str(found.path))
            named.update(found.names(table["ip"][at[table["pid"][at] == pid]]))
    del named[""]
    where = f"{path}: {len(at):,} of {len(table):,} samples are in code that the program made while it ran"
    unknown = "nobody knows which data it accesses"
    if not named:
        wanted = f"/tmp/perf-{processes[0][0]}.map"
        return [
            f"{where}, without names: its runtime wrote no {wanted} (node --perf-basic-prof, java "
            f"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit); {unknown}, but of a dump of the code "
            f"(jit-{processes[0][0]}.dump: node --perf-prof; perf record needs -k mono for it)"
        ]
    most = [(name, 100 * count / len(at)) for name, count in named.most_common(SHOWN)]
    shares = ", ".join(f"{name} {percent:.0f} %" for name, percent in most if percent >= 1 or name == most[0][0])
    rest = len(at) - named.total()
    nameless = f", {100 * rest / len(at):.0f} % without a name" if rest else ""
    return [f"{where}, by {', '.join(maps[:2])}: {shares}{nameless}; {unknown}"]
