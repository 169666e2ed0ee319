"""The function table: extents that do not overlap, names of PLT stubs, unwind frames where symbols are missing."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elfscan.code.functions import FunctionSymbols, fill_holes, function_symbols
from elfscan.code.unwind import EXTENT_DTYPE, read_extents
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.symbols import SYMBOL_DTYPE, Names, Symbols
from sharing.model import FunctionFlag, Image, Section, SectionKind
from tests.elf.conftest import Build, Read, functions

CODE = Section(0, ".text", SectionKind.CODE, 0x1000, 0x400, 16, 0)

CALLS = """
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
int twice(int x) { return 2 * x; }
__attribute__((noinline)) static int quiet(int x) { return x + rand(); }
__attribute__((constructor)) static void start(void) { srand(3); }
int (*table[])(int) = { quiet };
int main(int argc, char **argv) { char b[20]; strcpy(b, argv[0]); puts(b); return table[0](argc) + twice(quiet(3)); }
"""


def placed(functions: list[tuple[int, int, int]]) -> FunctionSymbols:
    """Symbols at (address, size, type) in one section of code."""
    table = np.zeros(len(functions), SYMBOL_DTYPE)
    for row, (address, size, kind) in enumerate(functions):
        table[row]["value"], table[row]["size"], table[row]["type"], table[row]["bind"] = address, size, kind, 1
        table[row]["name"] = 1
    symbols = Symbols(table, Names(b"\0f\0"), ((0, 0, len(table)),))
    return function_symbols(symbols, table["value"].copy(), np.zeros(len(table), np.int32), (CODE,))


ADDRESSES = st.integers(0x1000, 0x13FF)
SIZES = st.one_of(st.integers(0, 0x80), st.sampled_from([1 << 32, (1 << 64) - 1]))


@given(st.lists(st.tuples(ADDRESSES, SIZES, st.sampled_from([0, 2, 10])), max_size=40))
def test_extents_are_sorted_disjoint_and_in_the_section(symbols: list[tuple[int, int, int]]) -> None:
    found = placed(symbols)
    start, end = found.start.tolist(), found.end.tolist()
    assert start == sorted(set(start))
    assert all(s < e <= CODE.end for s, e in zip(start, end, strict=True))
    assert all(e <= s for e, s in zip(end, start[1:], strict=False))
    typed = {address for address, _, kind in symbols if kind}
    assert typed <= set(start), "a typed function starts where its symbol says"


@given(
    st.lists(st.tuples(ADDRESSES, st.integers(1, 0x80), st.just(2)), max_size=20),
    st.lists(st.tuples(ADDRESSES, st.integers(1, 0x80)), max_size=20, unique_by=lambda f: f[0]),
)
def test_frames_fill_only_holes(symbols: list[tuple[int, int, int]], frames: list[tuple[int, int]]) -> None:
    known = placed(symbols)
    extents = np.array(sorted(frames), EXTENT_DTYPE)
    start, end, _ = fill_holes(known, extents, np.zeros(len(extents), np.int32), [(0x1100, 0x1180)])
    pieces = sorted([*zip(known.start, known.end, strict=True), *zip(start, end, strict=True)])
    assert all(a[1] <= b[0] for a, b in pairwise(pieces))
    for address in start.tolist():
        assert not 0x1100 <= address < 0x1180
        assert not any(s <= address < e for s, e in zip(known.start, known.end, strict=True))
    covered = {a for a, _ in pieces}
    for address, _ in frames:
        inside = any(s <= address < e for s, e in zip(known.start, known.end, strict=True))
        assert inside or 0x1100 <= address < 0x1180 or address in covered


def test_a_function_inside_of_another_takes_the_rest() -> None:
    found = placed([(0x1000, 0x100, 2), (0x1040, 0x10, 2)])
    assert [(hex(s), hex(e)) for s, e in zip(found.start.tolist(), found.end.tolist(), strict=True)] == [
        ("0x1000", "0x1040"),
        ("0x1040", "0x1100"),
    ]


def test_a_label_inside_of_a_function_is_not_a_function() -> None:
    assert placed([(0x1000, 0x100, 2), (0x1040, 0, 0)]).start.tolist() == [0x1000]
    assert placed([(0x1000, 0x40, 2), (0x1040, 0, 0)]).start.tolist() == [0x1000, 0x1040]


def objdump_plt(path: Path, tool: str = "objdump") -> dict[int, str]:
    """Labels of the PLT sections, versions and the marks of PLT headers left out."""
    if shutil.which(tool) is None:
        pytest.skip(f"no {tool}")
    command = [tool, "-d", "--section=.plt", "--section=.plt.sec", "--section=.plt.got", str(path)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    labels = re.findall(r"^([0-9a-f]+) <([^>]+)@plt>:$", out, re.M)
    return {int(address, 16): name.partition("@")[0] for address, name in labels if not name.startswith("*ABS*")}


def assert_stubs(image: Image, labels: dict[int, str]) -> None:
    stubs = image.functions[image.functions["flags"] & FunctionFlag.STUB != 0]
    named = {int(s["address"]): image.names[s["name"]] for s in stubs if s["name"] >= 0}
    assert labels
    # Which of a function's own aliases objdump shows is its choice; an import has one name.
    wrong = {hex(a): (n, named.get(a)) for a, n in labels.items() if named.get(a) != n and n in image.imports}
    assert wrong == {}
    assert set(labels) <= set(named)
    assert all(image.callee_names[address] == name for address, name in named.items())


@pytest.mark.parametrize(
    "flags",
    [
        ["gcc"],
        ["gcc", "-Wl,-z,lazy"],
        ["gcc", "-Wl,-z,now"],
        ["gcc", "-Wl,-z,lazy", "-fcf-protection=full", "-Wl,-z,ibtplt"],
        ["gcc", "-Wl,-z,now", "-fcf-protection=full", "-Wl,-z,ibtplt"],
        ["gcc", "-no-pie"],
        ["gcc", "-shared", "-fPIC"],
        ["gcc", "-fuse-ld=gold"],
        ["clang-19", "-fuse-ld=lld"],
        ["clang-19", "-fuse-ld=lld", "-Wl,-z,lazy", "-Wl,-z,force-ibt"],
    ],
)
def test_plt_stubs_are_named_after_their_imports(build: Build, read: Read, flags: list[str]) -> None:
    try:
        path = build(CALLS, *flags, "-O1")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"{' '.join(flags)}: {error.stderr[:100]}")
    assert_stubs(read(path), objdump_plt(path))


@pytest.mark.parametrize("flags", [[], ["-Wl,-z,lazy"], ["-mbranch-protection=standard"], ["-shared", "-fPIC"]])
def test_plt_stubs_of_aarch64(build: Build, read: Read, flags: list[str]) -> None:
    path = build(CALLS, "aarch64-linux-gnu-gcc", "-O1", *flags)
    assert_stubs(read(path), objdump_plt(path, "aarch64-linux-gnu-objdump"))


@pytest.mark.parametrize("flags", [[], ["-Wl,-z,lazy"], ["-no-pie", "-march=rv64g"], ["-shared", "-fPIC"]])
def test_plt_stubs_of_riscv(build: Build, read: Read, flags: list[str]) -> None:
    path = build(CALLS, "riscv64-linux-gnu-gcc", "-O1", *flags)
    assert_stubs(read(path), objdump_plt(path, "riscv64-linux-gnu-objdump"))


@pytest.mark.parametrize("name", ["mariadbd", "postgres"])
def test_plt_stubs_of_servers(server: Callable[[str], Path], read: Read, name: str) -> None:
    path = server(name)
    assert_stubs(read(path), objdump_plt(path))


def readelf_frames(path: Path) -> dict[int, int]:
    """Start and size of the frames by ``readelf``."""
    # readelf exits with 1 where it cannot follow the link to separate debug information.
    out = subprocess.run(["readelf", "-wF", str(path)], capture_output=True, text=True).stdout
    ranges = re.findall(r" FDE cie=[0-9a-f]+ pc=([0-9a-f]+)\.\.([0-9a-f]+)", out)
    return {int(a, 16): int(b, 16) - int(a, 16) for a, b in ranges if a != b}


@pytest.mark.parametrize(
    "path", ["program", "/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/memcached", "static", "aarch64", "riscv64"]
)
def test_frames_agree_with_readelf(build: Build, path: str) -> None:
    binary = Path(path)
    if path == "program":
        binary = build(CALLS, "gcc", "-O2")
    elif path == "static":
        binary = build(CALLS, "gcc", "-O2", "-static")
    elif path in ("aarch64", "riscv64"):
        binary = build(CALLS, f"{path}-linux-gnu-gcc", "-O2")
    elif not binary.exists():
        pytest.skip(f"no {path}")
    extents = read_extents(ElfFile(str(binary), map_file(str(binary))))
    assert dict(zip(extents["address"].tolist(), extents["size"].tolist(), strict=True)) == readelf_frames(binary)


def test_frames_are_found_without_their_header(build: Build) -> None:
    path = build(CALLS, "gcc", "-O2", "-Wl,--no-eh-frame-hdr")
    extents = read_extents(ElfFile(str(path), map_file(str(path))))
    assert dict(zip(extents["address"].tolist(), extents["size"].tolist(), strict=True)) == readelf_frames(path)


@pytest.mark.parametrize("compiler", ["gcc", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"])
def test_a_stripped_program_keeps_its_functions(build: Build, read: Read, compiler: str) -> None:
    path = build(CALLS, compiler, "-O1", "-fasynchronous-unwind-tables")
    whole = read(path)
    starts = {name: int(whole.functions["address"][row]) for name, row in functions(whole).items()}
    tool = "strip" if compiler == "gcc" else compiler.replace("gcc", "strip")
    subprocess.run([tool, str(path)], check=True)
    stripped = read(path)
    by_start = {int(f["address"]): int(f["flags"]) for f in stripped.functions}
    # On RISC-V the start-up code has main's address from the loader: it keeps its name.
    for name in ("twice", "quiet", "start") if "riscv" in compiler else ("main", "twice", "quiet", "start"):
        assert by_start[starts[name]] & FunctionFlag.FROM_UNWIND
    assert not (stripped.functions["flags"][stripped.functions["name"] >= 0] & FunctionFlag.FROM_UNWIND).any()


def test_mariadbd_is_covered_by_symbols_and_frames(server: Callable[[str], Path], read: Read) -> None:
    """Nearly all of a stripped server's code belongs to a function: what is left is alignment."""
    image = read(server("mariadbd"))
    text = next(s for s in image.sections if s.name == ".text")
    inside = (image.functions["address"] >= text.address) & (image.functions["address"] < text.end)
    assert image.functions["size"][inside].sum() > 0.96 * text.size
    assert image.counts["functions_from_unwind"] > 10_000


def test_flags_say_how_a_function_is_entered(build: Build, read: Read) -> None:
    image = read(build(CALLS, "gcc", "-O1", "-rdynamic"))
    rows = functions(image)
    flags = {name: int(image.functions["flags"][rows[name]]) for name in ("main", "twice", "quiet", "start")}
    assert flags["twice"] & FunctionFlag.EXPORTED
    assert not flags["quiet"] & FunctionFlag.EXPORTED
    assert flags["quiet"] & FunctionFlag.ADDRESS_TAKEN, "the relocated table holds its address"
    assert not flags["twice"] & FunctionFlag.ADDRESS_TAKEN
    assert flags["start"] & FunctionFlag.INIT, "named by .init_array"
    assert not flags["main"] & FunctionFlag.INIT
    start = int(image.functions["address"][rows["start"]])
    assert start in image.init_functions
    assert image.entry_points == (int(image.functions["address"][rows["_start"]]),)


@pytest.mark.parametrize("flags", [["-no-pie"], ["-static"], ["-Wl,-z,pack-relative-relocs"], ["-static-pie"]])
def test_stored_addresses_are_found_in_every_kind_of_program(build: Build, read: Read, flags: list[str]) -> None:
    """Absolute words, RELATIVE relocations and the packed RELR table tell the same."""
    image = read(build(CALLS, "gcc", "-O1", *flags))
    rows = functions(image)
    assert image.functions["flags"][rows["quiet"]] & FunctionFlag.ADDRESS_TAKEN
    assert not image.functions["flags"][rows["twice"]] & FunctionFlag.ADDRESS_TAKEN
    assert image.functions["flags"][rows["start"]] & FunctionFlag.INIT


def test_a_slot_that_code_only_calls_through_takes_no_address(build: Build, native: None) -> None:
    """Libraries of Rust's are compiled so; a slot that is loaded from hands the address on."""
    text = """
    .globl _start, called, loaded, listed
    .text
    _start: call *called@GOTPCREL(%rip)
            mov loaded@GOTPCREL(%rip), %rdi
            call *table(%rip)
            ret
    .type called, @function
    called: ret
    .size called, 1
    .type loaded, @function
    loaded: ret
    .size loaded, 1
    .type listed, @function
    listed: ret
    .size listed, 1
    .data
    table: .quad listed
    """
    from elfscan.image import read_images

    path = build(text, "gcc", "-nostdlib", "-pie", "-Wl,--no-relax", suffix=".s")
    (image,) = read_images(str(path), types=False)
    rows = functions(image)
    taken = {name for name in rows if image.functions["flags"][rows[name]] & FunctionFlag.ADDRESS_TAKEN}
    assert taken & {"called", "loaded", "listed"} == {"loaded", "listed"}


def test_cold_parts_keep_their_own_extent(build: Build, read: Read) -> None:
    text = """
    #include <stdlib.h>
    int n;
    int hot(int x) { if (__builtin_expect(x == 77, 0)) { n += 3; abort(); } return n += x; }
    """
    image = read(build(text, "gcc", "-O2", "-c", "-freorder-blocks-and-partition"))
    rows = functions(image)
    assert image.functions["flags"][rows["hot.cold"]] & FunctionFlag.COLD
    assert not image.functions["flags"][rows["hot"]] & FunctionFlag.COLD


def test_a_library_calling_its_own_function_calls_that_function(build: Build, native: None) -> None:
    """Through the PLT, because the function could be replaced; the call table names the function itself."""
    from elfscan.image import read_images

    text = """
    static int n;
    __attribute__((noinline)) int inner(int x) { return n += x; }
    int outer(int x) { return inner(x) + 1; }
    """
    path = build(text, "gcc", "-O1", "-shared", "-fPIC")
    (image,) = read_images(str(path), types=False)
    rows = functions(image)
    callers = image.calls["function"] == rows["outer"]
    assert image.calls["callee"][callers].tolist() == [int(image.functions["address"][rows["inner"]])]
