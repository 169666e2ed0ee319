"""Fixtures of the DWARF tests: compile a program, read it, look up variables and layouts."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from elfscan.debug.dwarf import DwarfDocument, DwarfVariable, start_dwarf
from elfscan.tools import tool_path
from sharing.model import LinemateError, TypeTable

Tool = Callable[[str], str]


@dataclass(frozen=True)
class Program:
    """A file and what was read from it."""

    path: Path
    document: DwarfDocument

    @property
    def types(self) -> TypeTable:
        return TypeTable(self.document.types)

    def named(self, name: str) -> list[DwarfVariable]:
        return [v for v in self.document.variables if v.name == name]

    def __getitem__(self, name: str) -> DwarfVariable:
        (variable,) = self.named(name)
        return variable

    def file_of(self, name: str) -> str:
        row = self[name].file
        return self.document.files[row] if row >= 0 else ""

    def leaves(self, name: str) -> dict[str, tuple[int, int]]:
        """path: (offset, size) in bytes of the leaf members of a variable."""
        return {m.path: (m.offset, m.size) for m in self.types.flatten(self[name].type)}


@pytest.fixture(scope="session", autouse=True)
def helper() -> None:
    try:
        tool_path("linemate-dwarf")
    except LinemateError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def tool() -> Tool:
    """The path of a program, or a skip that names it."""

    def find(name: str) -> str:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not installed")
        return found

    return find


@pytest.fixture(scope="session")
def run(tool: Tool) -> Callable[..., str]:
    """Run a program to its end and return its output."""

    def call(*args: str | Path, cwd: Path | None = None) -> str:
        command = [tool(str(args[0])), *map(str, args[1:])]
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, errors="replace", check=False, timeout=60
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
        return done.stdout

    return call


@pytest.fixture(scope="session")
def build(run: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile source text: ``build("gcc", "c", text, "-O2")``.  Equal requests are compiled once."""
    made: dict[tuple[str, ...], Path] = {}

    def compile_(compiler: str, suffix: str, text: str, *flags: str) -> Path:
        key = (compiler, suffix, text, *flags)
        if key not in made:
            directory = tmp_path_factory.mktemp("dwarf")
            (directory / f"program.{suffix}").write_text(text)
            run(compiler, "-g", "-o", "program", f"program.{suffix}", *flags, cwd=directory)
            made[key] = directory / "program"
        return made[key]

    return compile_


@pytest.fixture(scope="session")
def read() -> Callable[..., Program]:
    def call(path: Path, **options: object) -> Program:
        return Program(path, start_dwarf(str(path), **options).result())  # type: ignore[arg-type]

    return call


@pytest.fixture(scope="session")
def compiled(build: Callable[..., Path], read: Callable[..., Program]) -> Callable[..., Program]:
    """Compile and read."""
    seen: dict[Path, Program] = {}

    def call(compiler: str, suffix: str, text: str, *flags: str) -> Program:
        path = build(compiler, suffix, text, *flags)
        if path not in seen:
            seen[path] = read(path)
        return seen[path]

    return call


@pytest.fixture(scope="session")
def addresses(run: Callable[..., str]) -> Callable[[Path], dict[str, int]]:
    """Symbol values by name, as nm says."""

    def call(path: Path) -> dict[str, int]:
        rows = (line.split() for line in run("nm", path).splitlines())
        return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}

    return call


@pytest.fixture(scope="session")
def contents() -> Callable[[Path, str], bytes]:
    """The initial bytes of a variable, from the symbol table and the section: no debug information involved."""

    def call(path: Path, name: str) -> bytes:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            (symbol,) = elf.get_section_by_name(".symtab").get_symbol_by_name(name)
            section = elf.get_section(symbol["st_shndx"])
            start = symbol["st_value"] - section["sh_addr"]
            return section.data()[start : start + symbol["st_size"]]

    return call
