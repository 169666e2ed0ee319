"""members and symbols: an archive of ten thousand members, and the lines around one of two million symbols.

Owns the files, written byte by byte so that they take seconds to make.  The peers, ``nm`` on the archive and on the
program, read the same symbols and know nothing of lines or accesses.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.measure import compare, peak_rss_bytes, seconds
from bench.places import AUDIT_EXITS, WORK, linemate, tool
from bench.report import conditions, limit, ratio, table

_MEMBERS = 10_000
_MEMBER_SECONDS_LIMIT = 120.0
_MEMORY_LIMIT_GB = 1.0
_SYMBOLS = 2_000_000
_WANTED = "v1234567"
_LINES_OVER_AUDIT_LIMIT = 1.1
_UNIT = """#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;
long table[8];
extern void other(void);
void add(long n) { pthread_mutex_lock(&lock); count += n; table[n & 7]++; pthread_mutex_unlock(&lock); if (n) other(); }
long get(void) { return count + table[0]; }
"""
_SECTION = np.dtype(
    [("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"),
     ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry_size", "<u8")]
)  # fmt: skip
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_BASE = 0x400000


def archive(path: Path) -> Path:
    """An archive of equal members with a lock, a counter, a table and debug information."""
    if path.exists():
        return path
    source, member = path.with_suffix(".c"), path.with_suffix(".o")
    source.write_text(_UNIT)
    subprocess.run([tool("gcc", "gcc"), "-g", "-O2", "-c", str(source), "-o", str(member)], check=True)
    body = member.read_bytes()
    body += b"\n" * (len(body) % 2)
    with path.with_suffix(".part").open("wb") as file:
        file.write(b"!<arch>\n")
        for number in range(_MEMBERS):
            file.write(b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (b"m%d.o/" % number, 0, 0, 0, b"644", len(body)) + body)
    path.with_suffix(".part").rename(path)
    return path


def program(path: Path) -> Path:
    """An executable without code whose data are longs with a symbol each."""
    if path.exists():
        return path
    names = np.char.mod("v%07d", np.arange(_SYMBOLS)).astype("S8")
    strings = np.zeros((_SYMBOLS, 9), np.uint8)
    strings[:, :8] = names.view(np.uint8).reshape(-1, 8)
    symbols = np.zeros(_SYMBOLS + 1, _SYMBOL)
    symbols["name"][1:] = 1 + 9 * np.arange(_SYMBOLS)
    symbols["info"][1:], symbols["section"][1:], symbols["size"][1:] = 0x11, 1, 8
    symbols["value"][1:] = _BASE + 8 * np.arange(_SYMBOLS)
    section_names = b"\0.data\0.symtab\0.strtab\0.shstrtab\0"
    parts = [bytes(8 * _SYMBOLS), symbols.tobytes(), b"\0" + strings.tobytes(), section_names]
    sections = np.zeros(len(parts) + 1, _SECTION)
    sections["name"][1:] = [section_names.index(name) for name in (b".data", b".symtab", b".strtab", b".shstrtab")]
    sections["type"][1:], sections["align"][1:] = (1, 2, 3, 3), (64, 8, 1, 1)
    sections["size"][1:] = [len(part) for part in parts]
    sections["offset"][1:] = 128 + np.cumsum([0, *(len(part) for part in parts[:-1])])
    sections["flags"][1], sections["address"][1] = 3, _BASE
    sections["link"][2], sections["info"][2], sections["entry_size"][2] = 3, 1, _SYMBOL.itemsize
    end = 128 + sum(map(len, parts))
    header = b"\x7fELF\2\1\1" + bytes(9) + np.array([2, 62], "<u2").tobytes() + np.array([1], "<u4").tobytes()
    header += np.array([0, 64, end], "<u8").tobytes() + bytes(4) + np.array([64, 56, 1, 64, 5, 4], "<u2").tobytes()
    segment = np.array([1, 6], "<u4").tobytes()
    segment += np.array([128, _BASE, _BASE, 8 * _SYMBOLS, 8 * _SYMBOLS, 64], "<u8").tobytes()
    path.with_suffix(".part").write_bytes((header + segment).ljust(128, b"\0") + b"".join(parts) + sections.tobytes())
    path.with_suffix(".part").rename(path)
    return path


def _made(name: str, make: Callable[[Path], Path]) -> Path:
    (WORK / "many").mkdir(parents=True, exist_ok=True)
    return make(WORK / "many" / name)


def measure_members(rounds: int) -> list[str]:
    path = _made("members.a", archive)
    command = linemate("audit", str(path), "--format", "json")
    peer = [tool("nm", "binutils"), str(path)]
    rounds = max(1, rounds // 2)
    result = compare({"audit": seconds(command, accept=AUDIT_EXITS), "nm": seconds(peer)}, rounds)
    memory_gb = peak_rss_bytes(command) / 1e9
    median_s = result.series["audit"].median
    return [
        *table(result, "s"),
        ratio(result, "audit", "nm"),
        f"  {median_s / _MEMBERS * 1e3:.1f} ms a member",
        limit(median_s, _MEMBER_SECONDS_LIMIT, f"seconds for {_MEMBERS} members"),
        limit(memory_gb, _MEMORY_LIMIT_GB, "peak memory in GB"),
        conditions(result, rounds),
    ]


def measure_symbols(rounds: int) -> list[str]:
    path = _made("symbols", program)
    contenders = {
        "lines": seconds(linemate("lines", str(path), _WANTED)),
        "audit": seconds(linemate("audit", str(path)), accept=AUDIT_EXITS),
        "nm": seconds([tool("nm", "binutils"), str(path)]),
    }
    result = compare(contenders, rounds)
    return [
        *table(result, "s"),
        ratio(result, "lines", "nm"),
        limit(result.ratios("lines", "audit").median, _LINES_OVER_AUDIT_LIMIT, "wall time, lines over audit"),
        conditions(result, rounds),
    ]
