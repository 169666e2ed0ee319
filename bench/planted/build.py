"""Building a planted program as users build theirs, and where its symbols are.

Owns the kinds of builds and the command lines of compilers, strip, nm and readelf.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.planted.truth import Program, sources
from sharing.basics.geometry import lines_of

COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang-19", "clang++-19")}
STRIPPED, SOURCE = "stripped", "source"
KINDS = ("gcc -O2", "clang -O2", "gcc -O0", "clang -O0", STRIPPED, SOURCE)
_PLACE = re.compile(r"\b(bss|data|tbss|tdata)\+(0x[0-9a-f]+)")


@dataclass(frozen=True, slots=True)
class Symbols:
    """``at`` is (address, bytes) of a symbol by name, ``sections`` the address of each by name without its dot."""

    at: dict[str, tuple[int, int]]
    sections: dict[str, int]

    def lines(self, symbol: str, first: int, size: int, line_size: int) -> set[int]:
        """Where the lines begin that these bytes of a symbol are on; none of one that is not there."""
        named = (where for name, where in self.at.items() if name == symbol or name.startswith(f"{symbol}."))
        found = next(named, None)
        if found is None:
            return set()
        return set(lines_of(found[0] + first, size, line_size))

    def named(self, text: str) -> str:
        """A name of a stripped file's report with symbols in the place of sections: ``bss+0x20`` is ``stats+0x8``."""
        return _PLACE.sub(lambda found: self._symbol(self.sections.get(found[1], 0) + int(found[2], 16)), text)

    def _symbol(self, address: int) -> str:
        for name, (start, size) in self.at.items():
            if start <= address < start + size:
                return f"{name}+{address - start:#x}"
        return f"{address:#x}"


def build(name: str, program: Program, kind: str, folder: Path) -> Path:
    """The built file, or the compile database of the sources.  ``CalledProcessError`` where a compiler fails."""
    return compiled(name, sources(name), (f"-std={program.standard}", *program.flags), kind, folder)


def compiled(name: str, files: list[Path], flags: tuple[str, ...], kind: str, folder: Path) -> Path:
    """As ``build``, of these sources with these flags."""
    compiler, level = kind.split() if " " in kind else ("gcc", "-O2")
    cxx = any(path.suffix in (".cc", ".cpp") for path in files)
    command = [COMPILERS[compiler][cxx], *flags, level, "-g"]
    out = folder / name / kind.replace(" ", "")
    out.mkdir(parents=True, exist_ok=True)
    if kind == SOURCE:
        rows = [{"directory": str(out), "file": str(p), "arguments": [*command, "-c", str(p)]} for p in files]
        (out / "compile_commands.json").write_text(json.dumps(rows))
        return out
    binary = out / name
    libraries = [flag for flag in flags if flag.startswith("-l")]  # a linker takes of one what files before it need
    subprocess.run([*command, *map(str, files), "-o", str(binary), "-pthread", *libraries], check=True)
    if kind == STRIPPED:
        subprocess.run(["strip", "-o", str(out / f"{name}.stripped"), str(binary)], check=True)
        return out / f"{name}.stripped"
    return binary


def symbols(binary: Path) -> Symbols:
    """Of a file that was not stripped."""
    words = [row.split() for row in _output("nm", "-S", str(binary)).splitlines()]
    at = {row[3]: (int(row[0], 16), int(row[1], 16)) for row in words if len(row) == 4}
    table = re.findall(r"\]\s+\.(\S+)\s+\S+\s+([0-9a-f]{16})", _output("readelf", "-SW", str(binary)))
    return Symbols(at, {name: int(address, 16) for name, address in table})


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
