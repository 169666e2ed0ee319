"""Code that no symbol and no unwind frame names: which bytes these are, and the functions that can be told apart there.

Owns where functions begin by calls, by addresses that are taken and by words in data; which instructions these are in
an architecture, and its padding, stand in its row.  Compilers may leave
unwind frames out (``-fno-asynchronous-unwind-tables``), and nothing else is left of a function in a stripped file.
Bytes that nothing refers to stay unclaimed: they may be data between functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from elfscan.fileformat.program import Program
from sharing.model import SectionKind
from sharing.model.arch import machine_named
from sharing.model.arch.row import CodeAddresses
from sharing.model.arrays import distinct, words_at
from sharing.model.image import Section

Array = npt.NDArray[Any]

_ZEROS = re.compile(rb"\0*")
SMALL = 16  # bytes; compilers align functions to this
SEARCHED_SHARE = 0.005  # of the code; less is start-up code of the C library
CHUNK = 1 << 24


class Gaps(msgspec.Struct, frozen=True):
    """Functions found (start, end, layout row), sorted by start; ``code_bytes`` are all but padding and stubs."""

    start: Array
    end: Array
    section: Array
    code_bytes: int


def find_gaps(
    program: Program, extents: Iterable[tuple[Array, Array]], stubs: list[tuple[int, int]], roots: Array
) -> Gaps:
    """What is between the extents that are known.

    ``extents`` are (starts, ends) of functions, ``stubs`` ranges of stubs, ``roots`` addresses that the loader or data
    refer to.
    """
    parts = list(extents)
    start = np.concatenate([a for a, _ in parts]).astype(np.int64)
    end = np.concatenate([b for _, b in parts]).astype(np.int64)
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order]) if len(order) else end
    skip = set(stubs)
    total, low, high, row = 0, [], [], []
    for number, section in enumerate(program.layout.sections):
        if section.kind is not SectionKind.CODE or (section.address, section.end) in skip:
            continue
        begin, limit = _signed(section.address), _signed(section.address) + section.size
        if limit >= 1 << 63:
            continue
        first, last = np.searchsorted(start, [begin, limit])
        before = np.append(begin, end[first:last])
        before[0] = max(begin, int(end[first - 1]) if first else begin)
        after = np.append(start[first:last], limit)
        large = np.flatnonzero(after - before >= SMALL)
        small = after - before
        total += section.size - int(small[(small > 0) & (small < SMALL)].sum())
        for a, b in zip(before[large].tolist(), after[large].tolist(), strict=True):
            inner = _behind_padding(program, section, a, b)
            total -= inner - a
            if b > inner:
                low.append(inner)
                high.append(b)
                row.append(number)
    missing = sum(high) - sum(low)
    none = np.zeros(0, np.int64)
    if missing <= total * SEARCHED_SHARE:
        return Gaps(none.astype(np.uint64), none.astype(np.uint64), none, total)
    lows, highs, rows = np.array(low, np.int64), np.array(high, np.int64), np.array(row, np.int64)
    order = np.argsort(lows)
    lows, highs, rows = lows[order], highs[order], rows[order]
    wanted = [_inside(roots.astype(np.int64), lows, highs)]
    for section in program.layout.sections:
        if section.kind is SectionKind.CODE:
            wanted += [_inside(targets, lows, highs) for targets in _targets(program, section)]
    starts = distinct(np.concatenate(wanted))
    gap = np.searchsorted(lows, starts, "right") - 1
    ends = np.minimum(highs[gap], np.append(starts[1:], np.iinfo(np.int64).max))
    return Gaps(starts.astype(np.uint64), ends.astype(np.uint64), rows[gap], total)


def _signed(address: int) -> int:
    """Addresses are compared as signed numbers: kernels lie at the end of the address space."""
    return address - (1 << 64) if address >= 1 << 63 else address


def _bytes(program: Program, section: Section, low: int, high: int) -> Array:
    """The file's bytes of a range of a section; none of one that is not in the file."""
    if section.file_offset is None:
        return program.elf.data[:0]
    at = section.file_offset - program.elf.base - _signed(section.address)
    return program.elf.data[at + low : at + high]


def _behind_padding(program: Program, section: Section, low: int, high: int) -> int:
    """Where padding at the start of a gap ends."""
    row = machine_named(program.elf.arch.name)
    padding = re.compile(rb"(?:%s|\0)*" % row.padding, re.DOTALL) if row is not None and row.padding else _ZEROS
    found = padding.match(_bytes(program, section, low, high).tobytes())
    return low + (found.end() if found else 0)


def _inside(addresses: Array, lows: Array, highs: Array) -> Array:
    gap = np.searchsorted(lows, addresses, "right") - 1
    hit: Array = addresses[(gap >= 0) & (addresses < highs[np.maximum(gap, 0)])]
    return hit


def _targets(program: Program, section: Section) -> Iterable[Array]:
    """Addresses that instructions of a section call, or take, piece by piece; what only looks like one is rare."""
    row = machine_named(program.elf.arch.name)
    search = _SEARCHES.get(row.addresses) if row is not None else None
    if search is None:
        return
    begin = _signed(section.address)
    end = begin + min(section.size, program.elf.data.size)  # a hostile size is not walked through
    for low in range(begin, end, CHUNK):
        data = _bytes(program, section, low, min(low + CHUNK + 8, end))
        if data.size > 8:
            yield from search(data, low)


def _rip_relative(data: Array, begin: int) -> Iterable[Array]:
    """What call names, and what lea takes relative to rip (Intel SDM, volume 2)."""
    call = np.flatnonzero(data[:-4] == 0xE8)
    yield begin + call + 5 + words_at(data, call + 1, "<i4")
    lea = np.flatnonzero(data[:-6] == 0x8D)
    lea = lea[lea > 0]
    lea = lea[((data[lea - 1] & 0xFB) == 0x48) & ((data[lea + 1] & 0xC7) == 0x05)]
    yield begin + lea + 6 + words_at(data, lea + 2, "<i4")


def _pages_and_offsets(data: Array, begin: int) -> Iterable[Array]:
    """What bl calls, and what adrp with the add behind it takes."""
    words = data[: data.size // 4 * 4].view("<u4")
    at = np.flatnonzero(words >> 26 == 0b100101)
    distance = (words[at].astype(np.int64) << 38 >> 38) * 4
    yield begin + at * 4 + distance
    yield _pages(words.astype(np.int64), begin)


def _pages(words: Array, begin: int) -> Array:
    """What adrp and the add behind it take (Arm A-profile architecture, C6.2)."""
    at = np.flatnonzero(words[:-1] & 0x9F000000 == 0x90000000)
    second = words[at + 1]
    follows = (second & 0xFFC00000 == 0x91000000) & (second >> 5 & 31 == words[at] & 31)
    at, first, second = at[follows], words[at[follows]], second[follows]
    pages = (first >> 5 & 0x7FFFF) << 2 | first >> 29 & 3
    taken: Array = (begin + at * 4 & ~0xFFF) + ((pages ^ 1 << 20) - (1 << 20)) * 4096 + (second >> 10 & 0xFFF)
    return taken


def _pc_and_parts(data: Array, begin: int) -> Iterable[Array]:
    """What jal calls, and what auipc with jalr or addi calls or takes (RISC-V ISA manual, volume I, RV32I)."""
    halves = data[: data.size // 2 * 2].view("<u2").astype(np.int64)
    words = halves[:-1] | halves[1:] << 16
    jal = np.flatnonzero(words & 0xFFF == 0xEF)  # into ra
    word = words[jal]
    sign = (word >> 31 & 1) * -(1 << 20)
    distance = sign + (word >> 21 & 0x3FF) * 2 + (word >> 20 & 1) * (1 << 11) + (word >> 12 & 0xFF) * (1 << 12)
    yield begin + jal * 2 + distance
    upper = np.flatnonzero(words[:-2] & 0x7F == 0x17)  # auipc
    second = words[upper + 2]
    follows = ((second & 0x7F == 0x67) | (second & 0x707F == 0x13)) & (second >> 15 & 31 == words[upper] >> 7 & 31)
    upper, second = upper[follows], second[follows]
    high = (words[upper] & 0xFFFFF000) - ((words[upper] >> 31 & 1) << 32)
    yield begin + upper * 2 + high + (second >> 20) - ((second >> 31 & 1) << 12)


# For code and the address of its start; nothing is found in code of other forms.
_SEARCHES: dict[CodeAddresses | None, Callable[[Array, int], Iterable[Array]]] = {
    CodeAddresses.RIP_RELATIVE: _rip_relative,
    CodeAddresses.PAGE_AND_OFFSET: _pages_and_offsets,
    CodeAddresses.PC_AND_PARTS: _pc_and_parts,
}
