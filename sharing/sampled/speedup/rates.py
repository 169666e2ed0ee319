"""How often threads touch the parts of a line, and how much of its misses are meant.

Owns rates of accesses and ``remaining``.  Time on an access says little of how often it is made where it waits: rates
are taken from the run on one processor, where nothing waits for a line, by the same instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Attribution, Basis, line_keys
from sharing.model.image import AccessKind
from sharing.sampled import numbers
from sharing.sampled.distinct import first_rows, unique_inverse
from sharing.sampled.lineuse.blame import Item
from sharing.sampled.lineuse.use import LineUse, Provenance

Column = npt.NDArray[Any]

# A thread, bytes [start, end), whether it writes, samples as of the run on one processor.
Access = tuple[int, int, int, bool, float]


def instruction_keys(attribution: Attribution, rows: Column, modules: dict[str, int]) -> Column:
    """One number for each row's instruction, equal in all profiles that are numbered with the same ``modules``.

    Link-time addresses of user code end at 2**47 on every architecture that is read; the module goes above.
    """
    paths = [modules.setdefault(path, len(modules)) for path in ["", *(m.path for m in attribution.modules)]]
    high = np.array(paths, np.uint64)[rows["module"].astype(np.int64) + 1] << np.uint64(47)
    out: Column = (rows["ip"] & np.uint64((1 << 47) - 1)) | high
    return out


def rates_of(
    attribution: Attribution, touching: Column, number: Column, lines: Sequence[LineUse], solo: Attribution | None
) -> list[list[Access]]:
    """For each line the accesses to it.  ``touching`` are placed rows and witnesses, ``number`` the line of each."""
    modules: dict[str, int] = {}
    size = lines[0].size if len(lines) else 1
    # A thread that sleeps for a lock does not touch it.
    access = np.isin(touching["kind"], (AccessKind.LOAD, AccessKind.STORE, AccessKind.RMW))
    touching, number = touching[access], number[access]
    used, at = unique_inverse(instruction_keys(attribution, touching, modules))
    # One number for each distinct access: sorting numbers is much quicker than sorting rows.
    columns = (
        (touching["thread"].astype(np.int64) + 1, len(attribution.threads) + 1),
        (touching["place"].astype(np.int64) & (size - 1), size),
        (np.minimum(touching["size"], size).astype(np.int64), size + 1),
        (touching["kind"].astype(np.int64), 256),
        (at, max(len(used), 1)),
    )
    code = number.astype(np.int64)
    for column, width in columns:
        code = code * width + column
    distinct, of_code = unique_inverse(code)
    one, counts = first_rows(of_code, len(distinct)), np.bincount(of_code, minlength=len(distinct))
    found, of_line, key = touching[one], number[one], at[one]
    whole = np.bincount(key, counts, len(used))
    alone = _counts_alone(solo, used, size, modules) if solo is not None and len(lines) else whole
    rate = counts / np.maximum(whole, 1)[key] * alone[key]
    # A line without a stall on one processor may have no sample there at all.
    few = np.bincount(of_line, rate, max(len(lines), 1)) < numbers.MIN_ALONE
    rate = np.maximum(np.where(few[of_line], counts, rate), numbers.UNSEEN_RATE)
    out: list[list[Access]] = []
    for i, line in enumerate(lines):
        accesses: list[Access] = []
        own = {(t.pid, t.tid): n for n, t in enumerate(line.threads)}
        here = of_line == i
        for row, r in zip(found[here], rate[here].tolist(), strict=True):
            thread = attribution.threads[int(row["thread"])]
            start = int(row["place"]) % line.size
            end = min(start + max(int(row["size"]), 1), line.size)
            writes = int(row["kind"]) in (AccessKind.STORE, AccessKind.RMW)
            accesses.append((own.get((int(thread["pid"]), int(thread["tid"])), -1), start, end, writes, r))
        accesses += [
            (t.thread, t.start, t.end, t.writes, numbers.UNSEEN_RATE)
            for t in line.touches
            if t.provenance is Provenance.CODE
        ]
        out.append(accesses)
    return out


def _counts_alone(solo: Attribution, used: Column, size: int, modules: dict[str, int]) -> Column:
    """How often each of the instructions was seen in the run on one processor, in samples or beside them."""
    rows = solo.rows
    placed = (rows["basis"] >= Basis.DERIVED) & (rows["space"] >= 0)
    keys = instruction_keys(solo, rows, modules)
    hit = placed & np.isin(keys, used)
    lines = np.unique(line_keys(rows["space"], rows["place"], size)[hit])
    seen = keys[hit]
    if len(lines):
        witnesses = solo.witnesses(lines, size)
        if len(witnesses):
            seen = np.concatenate([seen, instruction_keys(solo, witnesses, modules)])
    seen = seen[np.isin(seen, used)]
    return np.bincount(np.searchsorted(used, seen), minlength=len(used)).astype(np.float64)


def remaining(line: LineUse, items: Sequence[Item], accesses: Sequence[Access]) -> dict[int, float]:
    """Share of the cost of each thread's misses on a line that stays when the items get lines of their own.

    Misses of a thread on bytes that it uses at a rate λ and that others take away at a rate μ come at λμ / (λ + μ), as
    of two Poisson streams of which only changes count.
    """
    threads = sorted({t.thread for t in line.touches})
    parts: dict[int, list[Access]] = {}
    for a in accesses:
        parts.setdefault(_item_of(a, items), []).append(a)
    out = {}
    for thread in threads:
        others = [t for t in threads if t not in (thread, -1) and not line.overlap(t, thread).concurrency.apart]
        before = _misses(accesses, thread, others)
        after = 0.0
        for n, item in enumerate(items):
            after += _misses(parts.get(n, []), thread, others) if item.touches else 0.0
        share = min(after / before, 1.0) if before > 0 else 1.0
        seen = any(a[0] in others and a[4] > numbers.UNSEEN_RATE for a in accesses)
        out[thread] = with_odds(share, numbers.QUIET_ODDS) if seen else numbers.UNKNOWN_REMAINS
    return out


def _item_of(access: Access, items: Sequence[Item]) -> int:
    return next((n for n, item in enumerate(items) if item.start < access[2] and access[1] < item.end), -1)


def _misses(accesses: Sequence[Access], thread: int, others: Sequence[int]) -> float:
    """Misses of one thread on bytes that are on one line: its reads meet writes, its writes anything."""
    reads = writes = read = written = 0.0
    of_others = set(others)
    for of, _, _, is_write, rate in accesses:
        if of == thread:
            reads, writes = (reads, writes + rate) if is_write else (reads + rate, writes)
        elif of in of_others:
            read, written = (read, written + rate) if is_write else (read + rate, written)
    own, out = reads + writes, 0.0
    for part, taken in ((reads, written), (writes, written + read)):
        out += part * taken / (own + taken) if part > 0 and taken > 0 else 0.0
    return out


def with_odds(share: float, odds: float) -> float:
    """A share whose odds are that factor of it."""
    return share * odds / (1 - share + share * odds)
