"""Symbols agree with ``readelf -sW``: every difference falls under a rule that is written here."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sharing.model import Image, SectionKind, VariableFlag
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder, small_program
from tests.elf.conftest import Build, Read, functions, name_of, variables

DATA_TYPES = {"OBJECT", "COMMON", "TLS", "NOTYPE"}
CODE_TYPES = {"FUNC", "IFUNC"}


@dataclass(frozen=True)
class Symbol:
    """A line of ``readelf -sW``."""

    value: int
    size: int
    type: str
    bind: str
    section: int
    name: str


_LINE = re.compile(r"\s*\d+: ([0-9a-f]+)\s+(\d+|0x[0-9a-f]+)\s+(\w+)\s+(\w+)\s+\w+\s+(?:\[.*\]\s+)?(\d+) (.+)$")


def readelf_symbols(path: Path) -> list[Symbol]:
    """The defined, named symbols of all tables."""
    out = subprocess.run(["readelf", "-sW", str(path)], capture_output=True, text=True, errors="replace", check=True)
    found = []
    for line in out.stdout.splitlines():
        match = _LINE.match(line)
        if match:
            value, size, kind, bind, section, given = match.groups()
            name = re.sub(r" \(\d+\)$", "", given).partition("@")[0]
            if kind not in ("SECTION", "FILE"):
                found.append(Symbol(int(value, 16), int(size, 0), kind, bind, int(section), name))
    return found


def sections_by_number(path: Path) -> dict[int, str]:
    out = subprocess.run(["readelf", "-SW", str(path)], capture_output=True, text=True, check=True).stdout
    return {int(n): name for n, name in re.findall(r"^\s*\[\s*(\d+)\] (\S+)", out, re.M)}


# Each rule: (reason, test).  A symbol that is neither in the image nor under a rule is a failure.
MARKS = re.compile(r"__(start|stop|ksymtab|kstrtab|kstrtabns|initcall|crc|UNIQUE_ID|pfx|cfi)_|[$]|[.]L|annobin")

# What crtbegin.o, crtend.o and the linker bring: objects without bytes.
STARTUP = {
    "__do_global_dtors_aux_fini_array_entry", "__frame_dummy_init_array_entry", "__EH_FRAME_BEGIN__", "__FRAME_END__",
    "__dso_handle", "__TMC_END__", "__TMC_LIST__", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_", "__GNU_EH_FRAME_HDR",
}  # fmt: skip


def unexplained(path: Path, image: Image) -> list[tuple[str, Symbol]]:
    """Symbols of readelf that the image lacks or has otherwise, and that no rule explains."""
    numbers = sections_by_number(path)
    kinds: dict[str, SectionKind] = {s.name: s.kind for s in image.sections}
    tls = [s for s in image.sections if s.kind is SectionKind.TLS]
    base = min((s.address for s in tls), default=0)
    rows: dict[tuple[int, str], int] = {}
    for row, variable in enumerate(image.variables):
        section = image.sections[variable["section"]]
        for name in (name_of(image, row), *image.aliases.get(row, ())):
            rows[int(variable["address"]), name] = row
        rows[int(variable["address"]), section.name] = row
    starts = set(image.functions["address"].tolist())
    names_at: dict[int, set[str]] = {}
    problems: list[tuple[str, Symbol]] = []
    symbols = readelf_symbols(path)
    for symbol in symbols:
        if symbol.type in CODE_TYPES or (symbol.type == "NOTYPE" and symbol.size):
            names_at.setdefault(symbol.value, set()).add(symbol.name)
    sizes: dict[int, set[int]] = {}
    for symbol in symbols:
        sizes.setdefault(symbol.value, set()).add(symbol.size)
    for symbol in symbols:
        kind = kinds.get(numbers.get(symbol.section, ""))
        if kind is None or kind is SectionKind.OTHER:
            continue  # not loaded, or a table of the linker and loader: no variables of the program
        if symbol.type in CODE_TYPES:
            if kind is SectionKind.CODE and symbol.value not in starts:
                problems.append(("no such function", symbol))
            continue
        if symbol.type not in DATA_TYPES or kind is SectionKind.CODE or MARKS.match(symbol.name):
            continue
        if symbol.size == 0 and (symbol.type == "NOTYPE" or symbol.name in STARTUP):
            continue  # a label or a linker's mark; those that are data are tested by name below
        address = symbol.value + (base if symbol.type == "TLS" else 0)
        found = rows.get((address, symbol.name))
        if found is None:
            problems.append(("no such variable", symbol))
        elif symbol.size and int(image.variables["size"][found]) not in sizes[symbol.value]:
            problems.append((f"size {image.variables['size'][found]}", symbol))
    for function in image.functions:
        known = names_at.get(int(function["address"]))
        if known and function["name"] >= 0 and image.names[function["name"]] not in known:
            named = image.names[function["name"]]
            problems.append(("no such name", Symbol(int(function["address"]), 0, "FUNC", "", 0, named)))
    return problems


@pytest.mark.parametrize("name", ["mariadbd", "postgres", "redis-server", "memcached"])
def test_servers_agree_with_readelf(server: Callable[[str], Path], read: Read, name: str) -> None:
    path = server(name)
    image = read(path)
    assert unexplained(path, image) == []
    assert image.counts["symbols"] > 100


@pytest.mark.parametrize("path", ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"])
def test_libraries_agree_with_readelf(read: Read, path: str) -> None:
    if not Path(path).exists():
        pytest.skip(f"no {path}")
    image = read(Path(path))
    assert unexplained(Path(path), image) == []
    assert len(image.variables) > 100


def test_vmlinux_agrees_with_readelf(vmlinux: Path, read: Read) -> None:
    image = read(vmlinux)
    assert unexplained(vmlinux, image) == []
    assert len(image.variables) > 25_000


PROGRAM = """
#include <stdio.h>
__thread int per_thread = 3;
int first, second[5];
static long local_static;
int weak_one __attribute__((weak));
extern int other_name __attribute__((alias("first")));
static int helper(void) { static int calls; return ++calls; }
int work(void) { return helper() + (int)local_static++ + per_thread; }
int main(void) { fprintf(stderr, "%d", work()); return 0; }
"""


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O2", "-static"], ["-no-pie"], ["-shared", "-fPIC"]])
def test_a_compiled_program_agrees_with_readelf(build: Build, read: Read, flags: list[str]) -> None:
    path = build(PROGRAM, "gcc", *flags)
    image = read(path)
    assert unexplained(path, image) == []
    rows = variables(image)
    assert rows["first"] == rows["other_name"]
    assert image.variables["size"][rows["second"]] == 20
    assert image.sections[image.variables["section"][rows["per_thread"]]].kind is SectionKind.TLS


def test_a_copied_variable_is_marked(build: Build, read: Read) -> None:
    """stderr lives in the executable when code names its address directly (R_X86_64_COPY)."""
    image = read(build(PROGRAM, "gcc", "-no-pie", "-fno-pie"))
    row = variables(image)["stderr"]
    assert image.variables["flags"][row] & VariableFlag.COPY_RELOC
    assert not image.variables["flags"][variables(image)["first"]] & VariableFlag.COPY_RELOC


def test_gnu_unique_variables(build: Build, read: Read) -> None:
    text = "struct A { static int &n() { static int x; return x; } }; int f() { return A::n()++; }"
    image = read(build(text, "g++", "-shared", "-fPIC", "-O1", suffix=".cpp"))
    (row,) = {row for name, row in variables(image).items() if name == "_ZZN1A1nEvE1x"}
    assert image.variables["flags"][row] & VariableFlag.UNIQUE


def test_readable_names_of_plain_cpp_variables(build: Build, read: Read) -> None:
    text = """
    namespace ns { struct C { static int x; }; int C::x; int plain; namespace { int hidden = 3; } }
    template <class T> struct Box { static T value; }; template <class T> T Box<T>::value;
    int f() { return ns::hidden++ + Box<long>::value++; }
    """
    image = read(build(text, "g++", "-shared", "-fPIC", "-O1", suffix=".cpp"))
    names = {name_of(image, row) for row in range(len(image.variables))}
    assert {"ns::C::x", "ns::plain", "ns::hidden", "Box<long>::value"} <= names
    assert image.aliases[variables(image)["ns::C::x"]] == ("_ZN2ns1C1xE",)


def test_versions_are_stripped(tmp_path: Path, read: Read) -> None:
    elf = small_program()
    elf.symbol("environ@@GLIBC_2.2.5", 2, 0x402028, 8)
    elf.symbol("old@GLIBC_2.2", 2, 0x402030, 8)
    (tmp_path / "p").write_bytes(elf.bytes())
    assert {"environ", "old"} <= set(variables(read(tmp_path / "p")))


def test_aliases_are_one_variable_led_by_the_public_name(tmp_path: Path, read: Read) -> None:
    elf = small_program()
    elf.symbol("hidden_name", 2, 0x402028, 8, bind=b.LOCAL)
    elf.symbol("__internal", 2, 0x402028, 8)
    elf.symbol("public", 2, 0x402028, 8, bind=b.WEAK)
    (tmp_path / "p").write_bytes(elf.bytes())
    image = read(tmp_path / "p")
    row = variables(image)["public"]
    assert name_of(image, row) == "public"
    assert sorted(image.aliases[row]) == ["__internal", "hidden_name"]


def test_a_symbol_without_size_reaches_to_the_next(tmp_path: Path, read: Read) -> None:
    elf = small_program()
    elf.symbol("table", 2, 0x402028, 0)
    elf.symbol("label", 2, 0x402030, 0, b.NOTYPE)
    elf.symbol("in_lock", 2, 0x402008, 0, b.NOTYPE)  # inside of a sized variable: no object of its own
    (tmp_path / "p").write_bytes(elf.bytes())
    image = read(tmp_path / "p")
    rows = variables(image)
    sizes = {name: int(image.variables["size"][rows[name]]) for name in ("table", "label")}
    assert sizes == {"table": 8, "label": 16}
    for name, expected in (("table", True), ("label", True), ("lock", False)):
        inferred = bool(image.variables["flags"][rows[name]] & VariableFlag.SIZE_INFERRED)
        assert inferred is expected
    assert "in_lock" not in rows


@pytest.mark.parametrize(
    "mark",
    ["__bss_start", "_edata", "_end", "end", "__data_start", "data_start", "__start_set", "__stop_set", "__TMC_END__",
     "__per_cpu_start", "__init_begin", "_sdata", "__end_once", "$d", "$x.4", ".L3", "__initcall__kmod_a__b"],
)  # fmt: skip
def test_marks_are_no_variables_and_take_no_bytes(tmp_path: Path, read: Read, mark: str) -> None:
    elf = small_program()
    elf.symbol(mark, 2, 0x402030, 0, b.NOTYPE)
    elf.symbol("behind", 2, 0x402028, 0)
    (tmp_path / "p").write_bytes(elf.bytes())
    image = read(tmp_path / "p")
    assert mark not in variables(image)
    assert image.variables["size"][variables(image)["behind"]] == 24


def test_common_symbols_get_a_place(tmp_path: Path, read: Read) -> None:
    elf = ElfBuilder(type=b.ET_REL)
    elf.section(".data", bytes(8), flags=b.ALLOC | b.WRITE)
    elf.symbol("small", b.COMMON, 4, 4)
    elf.symbol("aligned", b.COMMON, 64, 40)
    (tmp_path / "c.o").write_bytes(elf.bytes())
    image = read(tmp_path / "c.o")
    rows = variables(image)
    aligned = image.variables[rows["aligned"]]
    assert aligned["address"] % 64 == 0
    assert aligned["size"] == 40
    assert image.sections[aligned["section"]].name == "COMMON"
    assert all(image.variables["flags"][row] & VariableFlag.COMMON for row in rows.values())


def test_symbols_of_both_tables_are_one_set(build: Build, read: Read) -> None:
    path = build(PROGRAM, "gcc", "-O1", "-rdynamic")
    image = read(path)
    assert len(set(image.variables["address"][image.variables["section"] >= 0].tolist())) == len(image.variables)
    subprocess.run(["strip", str(path)], check=True)
    stripped = read(path)
    rows = variables(stripped)
    assert {"first", "second"} <= set(rows)
    assert "local_static" not in rows
    assert "work" in functions(stripped)


def test_without_section_headers_the_dynamic_segment_tells(build: Build, read: Read) -> None:
    """sstrip removes the section table: segments and DT_SYMTAB stay."""
    path = build(PROGRAM, "gcc", "-O1", "-shared", "-fPIC")
    whole = read(path)
    data = bytearray(path.read_bytes())
    data[0x28:0x30] = bytes(8)  # e_shoff
    data[0x3C:0x40] = bytes(4)  # e_shnum, e_shstrndx
    path.write_bytes(bytes(data))
    stripped = read(path)
    assert all(s.name.startswith("segment") for s in stripped.sections)
    for name in ("first", "second", "weak_one"):
        was, now = whole.variables[variables(whole)[name]], stripped.variables[variables(stripped)[name]]
        assert (was["address"], was["size"]) == (now["address"], now["size"])
        assert stripped.sections[now["section"]].kind is SectionKind.WRITABLE
    assert whole.imports == stripped.imports
    assert whole.needed == stripped.needed
    assert len(stripped.functions) > 3


def test_imports_of_an_executable_without_section_headers(build: Build, read: Read) -> None:
    """Its GNU hash table lists definitions, and there are none: relocations name the imports."""
    path = build('#include <stdio.h>\nint main(void) { return puts(""); }', "gcc", "-O1", "-no-pie")
    whole = read(path)
    data = bytearray(path.read_bytes())
    data[0x28:0x30], data[0x3C:0x40] = bytes(8), bytes(4)  # e_shoff; e_shnum, e_shstrndx
    path.write_bytes(bytes(data))
    stripped = read(path)
    assert "puts" in whole.imports
    assert whole.imports == stripped.imports
    assert stripped.notes == ()


def test_files_with_65280_sections_and_more(tmp_path: Path, read: Read) -> None:
    """Section numbers beyond 16 bits are in a table beside the symbols, the count in section 0."""
    elf = ElfBuilder(type=b.ET_REL)
    for index in range(65_300):
        elf.section(f".d{index % 7}", b"1234", flags=b.ALLOC | b.WRITE)
    strings = elf.section(".str", b"\0far\0", type=b.STRTAB)
    null = elf.pack_symbol(0, 0, 0, 0, 0, 0)
    table = elf.section(".sym", null + elf.pack_symbol(1, 0xFFFF, 0, 4, 1, 1), type=b.SYMTAB, link=strings)
    elf.section(".ndx", np.array([0, 65_290], "<u4").tobytes(), type=18, link=table)
    count = len(elf.sections) + 1
    elf.header |= {"shnum": 0, "shstrndx": 0xFFFF}
    elf.sections[0].override |= {"size": count, "link": count - 1}
    (tmp_path / "many.o").write_bytes(elf.bytes())
    image = read(tmp_path / "many.o")
    row = variables(image)["far"]
    assert image.variables["size"][row] == 4
    assert image.sections[image.variables["section"][row]].address == image.variables["address"][row]
