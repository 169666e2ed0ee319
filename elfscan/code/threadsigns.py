"""What a program shows of threads beside calls of known functions, read from its code and its texts.

Owns the search: system calls for a thread, whose instructions stand in the row of the architecture; names of functions
that start threads, where functions are looked up by name; files that the program loads itself; calls that share out
sections.  A statically linked
program imports nothing, and without symbols nothing in it is called pthread_create.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.fileformat import constants as c
from elfscan.fileformat.program import Program
from sharing.model import ArgKind, SectionKind
from sharing.model.arch.row import ThreadCalls
from sharing.model.arrays import among, picked
from sharing.model.threadsigns import UNKNOWN_FLAGS, UNKNOWN_NAME, CloneCall, ThreadSigns

Table = npt.NDArray[Any]

_NUMBER_WITHIN = 48  # bytes before the call in which its number goes into a register
_FLAGS_WITHIN = 64  # and its flags
_LOOK_UPS = ("dlsym", "dlvsym")
_LOADS = {"dlopen": 0, "dlmopen": 1}  # which argument names the file
_MAX_NAME_BYTES = 4096
_TEXT_WITHIN = 32  # bytes before a call in which it is handed a text

# What a thread's share is of says the place in source that it asks for: LLVM's ident_t, kmp.h.
_SHARES = "kmpc_for_static_init"
_FLAGS_AT = 4
_OF_SECTIONS = 0x400  # KMP_IDENT_WORK_SECTIONS

# Functions that start threads, as programs look them up by name.
_STARTERS = (
    "pthread_create", "thrd_create", "clone", "GOMP_parallel", "__kmpc_fork_call", "dispatch_async", "dispatch_async_f",
    "g_thread_new", "g_thread_create", "g_thread_pool_new", "uv_thread_create", "uv_queue_work", "SDL_CreateThread",
    "PR_CreateThread", "apr_thread_create", "JNI_CreateJavaVM", "timer_create",
)  # fmt: skip


def thread_signs(program: Program, names: dict[int, str], calls: Table, args: Table) -> ThreadSigns:
    """``names`` are those of functions by address, called ones of other files among them."""
    known = program.elf.machine.threads
    code = list(_bytes_of(program, SectionKind.CODE)) if known is not None else []
    alone = code if not len(program.linkage.placeholders) else []  # whose C library is in it
    names = {address: name.lstrip("_") for address, name in names.items()}  # glibc: ___dlopen
    called = set(names.values())
    weak = _weak(program)
    starts = not (called - weak).isdisjoint(_STARTERS)  # by a call, which says more than a text
    return ThreadSigns(
        clones=tuple(call for address, raw in code if known is not None for call in _clones(known, address, raw)),
        numbers=known.numbers if known is not None else (),
        thread_flags=any(known and known.thread_flags and re.search(known.thread_flags, raw) for _, raw in alone),
        spawn_flags=any(known and known.spawn_flags and known.spawn_flags in raw for _, raw in alone),
        looked_up=_looked_up(program) if not called or (called.intersection(_LOOK_UPS) and not starts) else frozenset(),
        loaded=_loaded(program, names, calls, args) if called.intersection(_LOADS) else frozenset(),
        weak=weak,
        sections=_sections(program, names, args),
    )


def _bytes_of(program: Program, kind: SectionKind) -> Iterator[tuple[int, bytes]]:
    """Address and content of each section of a kind."""
    for section in program.layout.sections:
        if section.kind is kind and section.file_offset is not None:
            at = section.file_offset - program.elf.base
            yield section.address, program.elf.data[at : at + section.size].tobytes()


def _clones(known: ThreadCalls, address: int, raw: bytes) -> Iterator[CloneCall]:
    number, handed = re.compile(known.number, re.DOTALL), re.compile(known.handed, re.DOTALL)
    at = raw.find(known.instruction)
    while at >= 0:
        begin = max(at - _NUMBER_WITHIN, 0)
        last = max(number.finditer(raw, begin, at), key=re.Match.start, default=None)
        if last is not None and last["other"] is None:
            yield CloneCall(address + at, UNKNOWN_FLAGS if last["clone3"] else _flags(known, raw, at))
        elif last is None and handed.search(raw, begin, at):
            yield CloneCall(address + at, handed=True)
        at = raw.find(known.instruction, at + len(known.instruction))


def _flags(known: ThreadCalls, raw: bytes, at: int) -> int:
    """What the flags of the call there are, as far as the instructions before say so; of fork no flag is shared."""
    begin = max(at - _FLAGS_WITHIN, 0)
    if re.search(known.fork, raw[begin:at]):
        return 0
    result = UNKNOWN_FLAGS
    for found in re.finditer(known.flags, raw[begin:at], re.DOTALL) if known.flags else ():
        immediate = found["value"]
        result = UNKNOWN_FLAGS if immediate is None else int.from_bytes(immediate, "little")
    return result


def _looked_up(program: Program) -> frozenset[str]:
    texts = [raw for _, raw in _bytes_of(program, SectionKind.CONSTANT)]
    return frozenset(name for name in _STARTERS if any(b"\0" + name.encode() + b"\0" in raw for raw in texts))


def _loaded(program: Program, names: dict[int, str], calls: Table, args: Table) -> frozenset[str]:
    found: set[str] = set()
    for function, argument in _LOADS.items():
        addresses = [address for address, name in names.items() if name == function]
        if not addresses:
            continue
        ips = set(calls["ip"][among(calls["callee"], addresses)].tolist())
        rows = picked(args, among(args["callee"], addresses) & (args["arg"] == argument))
        for ip, kind, value in zip(rows["ip"].tolist(), rows["kind"].tolist(), rows["value"].tolist(), strict=True):
            if kind == ArgKind.ADDRESS:
                found.add(_text_at(program, value))
                ips.discard(ip)
            elif kind == ArgKind.CONSTANT and value == 0:  # the program itself
                ips.discard(ip)
        found.update(_text_before(program, ip) if argument == 0 else UNKNOWN_NAME for ip in ips)
        if not ips and not len(rows) and len(program.linkage.placeholders):  # by a pointer to it
            found.add(UNKNOWN_NAME)
    return frozenset(found)


def _text_before(program: Program, ip: int) -> str:
    """The text that the call at this address is handed first, UNKNOWN_NAME where the code before does not say."""
    known = program.elf.machine.threads
    if known is None or not known.text:
        return UNKNOWN_NAME
    code = next((s for s in program.layout.sections if s.kind is SectionKind.CODE and s.address <= ip < s.end), None)
    begin = max(ip - _TEXT_WITHIN, code.address if code is not None else ip)
    raw = _bytes_at(program, begin, ip - begin, SectionKind.CODE)
    last = max(re.finditer(known.text, raw, re.DOTALL), key=re.Match.start, default=None)
    if last is None:
        return UNKNOWN_NAME
    if last["whole"] is not None:
        return _text_at(program, int.from_bytes(last["whole"], "little"))
    group = "near" if last["near"] is not None else "via"
    behind = ip - len(raw) + last.end(group)
    return _text_at(program, behind + int.from_bytes(last[group], "little", signed=True))


def _text_at(program: Program, address: int) -> str:
    """The text at this address, UNKNOWN_NAME where none of fixed content is."""
    raw = _bytes_at(program, address, _MAX_NAME_BYTES, SectionKind.CONSTANT)
    return raw.partition(b"\0")[0].decode("utf-8", "backslashreplace") if b"\0" in raw else UNKNOWN_NAME


def _bytes_at(program: Program, address: int, size: int, kind: SectionKind) -> bytes:
    """At most so many bytes from this address of a section of this kind; empty where there is none."""
    for section in program.layout.sections:
        if section.kind is kind and section.address <= address < section.end and section.file_offset is not None:
            at = section.file_offset - program.elf.base + address - section.address
            return program.elf.data[at : at + min(section.end - address, size)].tobytes()
    return b""


def _sections(program: Program, names: dict[int, str], args: Table) -> frozenset[int]:
    """Calls by which threads of clang's OpenMP learn their share of sections, and not of a loop's rounds."""
    shares = [address for address, name in names.items() if name.startswith(_SHARES)]
    rows = picked(args, among(args["callee"], shares) & (args["arg"] == 0) & (args["kind"] == ArgKind.ADDRESS))
    return frozenset(
        ip
        for ip, place in rows[["ip", "value"]].tolist()
        for kind in SectionKind
        if _word_at(program, place + _FLAGS_AT, kind) & _OF_SECTIONS
    )


def _word_at(program: Program, address: int, kind: SectionKind) -> int:
    """Four bytes of the file as a number, 0 where a section of this kind has none there."""
    raw = _bytes_at(program, address, 4, kind)
    return int.from_bytes(raw, program.elf.arch.byteorder) if len(raw) == 4 else 0  # type: ignore[arg-type]


def _weak(program: Program) -> frozenset[str]:
    rows = program.linkage.placeholders["value"].astype(np.int64)
    bind = program.symbols.table["bind"][rows].tolist()
    return frozenset(name for name, how in zip(program.import_names(), bind, strict=True) if how == c.STB_WEAK)
