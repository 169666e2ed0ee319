"""The program that the benchmark's recordings are of: instructions and data of real files, which both sides look up.

Owns building it and where its code and data are.  Does not write recordings (``profile_files``) and does not measure.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.measure import Unavailable, run
from bench.places import REPOSITORY, WORK, tool

Words = npt.NDArray[np.uint64]

_PROGRAM = REPOSITORY / "testdata" / "programs" / "table_cache"
WINDOWS, WINDOW = 150, 40
PROGRAM_BASE, LIBRARY_BASE = 0x5555_5555_4000, 0x7F12_3400_0000


@dataclass(frozen=True, slots=True)
class Segment:
    """One mapping that the program's start makes: executable ones, as perf records them."""

    path: Path
    start: int  # run-time address
    size: int
    offset: int  # in the file


@dataclass(frozen=True, slots=True)
class Code:
    """Run-time addresses of real instructions, the program's own first, and of its writable data."""

    program: Path
    segments: tuple[Segment, ...]
    own: Words  # instructions of the program
    library: Words  # some of the C library
    data: Words  # every eighth byte of the program's variables

    @property
    def digest(self) -> str:
        """Tells builds apart."""
        whole = hashlib.sha256()
        for one in (self.own, self.library, self.data):
            whole.update(one.tobytes())
        return whole.hexdigest()[:8]


def code() -> Code:
    """Builds the program of testdata whose lock shares a line, and reads what binutils say of it and of its libc."""
    out = WORK / "profiles" / "table_cache"
    done = run([tool("make", "make"), "-C", str(_PROGRAM), f"OUT={out}", str(out / "slow")], keep_output=True)
    if done.returncode:
        raise Unavailable(f"the program does not build: {(done.stderr.splitlines() or ['no message'])[-1]}")
    program = out / "slow"
    libraries = re.findall(r"libc\.so\.6 => (\S+)", _output([tool("ldd", "libc-bin"), str(program)]))
    if not libraries:
        raise Unavailable("the program has no libc.so.6")
    library = Path(libraries[0]).resolve()
    segments = [*_segments(program, PROGRAM_BASE), *_segments(library, LIBRARY_BASE)]
    return Code(
        program,
        tuple(segments),
        _instructions(program, PROGRAM_BASE),
        _windows(_instructions(library, LIBRARY_BASE)),
        _data(program, PROGRAM_BASE),
    )


def _output(command: list[str]) -> str:
    done = run(command, keep_output=True)
    if done.returncode:
        raise Unavailable(f"{Path(command[0]).name}: {(done.stderr.splitlines() or ['no message'])[-1]}")
    return done.stdout


def _segments(path: Path, base: int) -> list[Segment]:
    out = []
    for line in _output([tool("readelf", "binutils"), "-lW", str(path)]).splitlines():
        found = re.match(r"\s+LOAD\s+(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)\s+0x\w+\s+R E\s", line)
        if found:
            offset, address, size = (int(one, 16) for one in found.groups())
            out.append(Segment(path, base + address & ~0xFFF, (address % 4096 + size + 4095) & ~0xFFF, offset & ~0xFFF))
    return out


def _instructions(path: Path, base: int) -> Words:
    text = _output([tool("objdump", "binutils"), "-d", "-j", ".text", "--no-show-raw-insn", str(path)])
    found = [int(one, 16) for one in re.findall(r"^\s+([0-9a-f]+):\t", text, re.MULTILINE)]
    return np.array(found, np.uint64) + np.uint64(base)


def _windows(instructions: Words) -> Words:
    """What a program uses of a library: some functions, not all."""
    parts = np.array_split(instructions, WINDOWS)
    return np.concatenate([part[:WINDOW] for part in parts])


def _data(path: Path, base: int) -> Words:
    found: list[int] = []
    for line in _output([tool("nm", "binutils"), "-S", str(path)]).splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] in "bBdD":
            address, size = int(parts[0], 16), int(parts[1], 16)
            found += range(base + address, base + address + size, 8)
    return np.array(found, np.uint64)
