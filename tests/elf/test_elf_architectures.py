"""Every architecture's layout is read: classes, byte orders, line sizes; checked against the compiler and readelf."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from sharing.model import FunctionFlag, SectionKind
from sharing.model.arch import MACHINES, find_architecture, mips
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder
from tests.elf.conftest import Build, Read, functions, variables

TEXT = """
struct pair { long a; char b; } pairs[7] = {{1, 2}};
int counter; static short hidden = 3; const int fixed = 4; void *pointer = &counter;
__attribute__((aligned(128))) char line[128];
int work(int x) { hidden += x; return counter++; }
int (*table[])(int) = { work };
"""

TARGETS = [
    ("x86_64-linux-gnu", "x86-64", 64, "little", 64, 128),
    ("x86_64-linux-gnux32", "x32", 32, "little", 64, 128),
    ("i386-linux-gnu", "i386", 32, "little", 64, 64),
    ("aarch64-linux-gnu", "aarch64", 64, "little", 64, 128),
    ("aarch64_be-linux-gnu", "aarch64", 64, "big", 64, 128),
    ("arm-linux-gnueabihf", "arm", 32, "little", 64, 64),
    ("armeb-linux-gnueabi", "arm", 32, "big", 64, 64),
    ("powerpc64-linux-gnu", "ppc64", 64, "big", 128, 128),
    ("powerpc64le-linux-gnu", "ppc64le", 64, "little", 128, 128),
    ("powerpc-linux-gnu", "ppc", 32, "big", 64, 64),
    ("s390x-linux-gnu", "s390x", 64, "big", 256, 256),
    ("riscv64-linux-gnu", "riscv64", 64, "little", 64, 64),
    ("riscv32-linux-gnu", "riscv32", 32, "little", 64, 64),
    ("sparc64-linux-gnu", "sparc64", 64, "big", 64, 64),
    ("sparc-linux-gnu", "sparc", 32, "big", 64, 64),
    ("mips64-linux-gnuabi64", "mips64", 64, "big", 64, 64),
    ("mips64el-linux-gnuabi64", "mips64", 64, "little", 64, 64),
    ("mips-linux-gnu", "mips", 32, "big", 64, 64),
    ("loongarch64-linux-gnu", "loongarch64", 64, "little", 64, 64),
]


def compiled(build: Build, target: str) -> Path:
    try:
        return build(TEXT, "clang-19", f"--target={target}", "-O1", "-c", name="o.o")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"clang-19 has no {target}: {error.stderr[:100]}")


@pytest.mark.parametrize(("target", "name", "bits", "order", "line", "pair"), TARGETS)
def test_objects_of_every_architecture(
    build: Build, read: Read, target: str, name: str, bits: int, order: str, line: int, pair: int
) -> None:
    path = compiled(build, target)
    image = read(path)
    got = image.arch
    assert (got.name, got.bits, got.byteorder, got.line_size, got.pair_size) == (name, bits, order, line, pair)
    rows = variables(image)
    word = bits // 8
    sizes = {n: int(image.variables["size"][rows[n]]) for n in ("pairs", "counter", "hidden", "fixed", "line", "table")}
    assert sizes == {"pairs": 14 * word, "counter": 4, "hidden": 2, "fixed": 4, "line": 128, "table": word}
    kinds = {n: image.sections[image.variables["section"][row]].kind for n, row in rows.items()}
    assert kinds["counter"] is kinds["hidden"] is kinds["line"] is SectionKind.WRITABLE
    assert kinds["fixed"] is SectionKind.CONSTANT
    assert image.variables["address"][rows["line"]] % 128 == 0
    expected = {
        n: int(size)
        for size, n in re.findall(
            r"\s(\d+)\s+OBJECT\s+\w+\s+\w+\s+(?:\[.*\]\s+)?\d+ (\w+)$",
            subprocess.run(["readelf", "-sW", str(path)], capture_output=True, text=True, check=True).stdout,
            re.M,
        )
    }
    assert {n: int(image.variables["size"][row]) for n, row in rows.items()} == expected
    assert "work" in functions(image) or name == "ppc64", "ELFv1 names descriptors, its code has dotted names"
    if name.startswith("mips"):
        (note,) = image.notes
        assert re.fullmatch(rf"\d+ relocations not read: their numbers are not known on {name}; pointers .*", note)
        return
    assert image.notes == ()
    if name != "ppc64":  # there the word holds the address of a descriptor
        taken = image.functions["flags"][functions(image)["work"]] & FunctionFlag.ADDRESS_TAKEN
        assert taken, "a word of the table holds its address"


@pytest.mark.parametrize("target", ["powerpc64-linux-gnu", "riscv32-linux-gnu", "arm-linux-gnueabihf"])
def test_what_is_not_decoded_is_said(build: Build, target: str) -> None:
    from elfscan.image import read_images

    (image,) = read_images(str(compiled(build, target)), types=False, access=True)
    assert len(image.sites) == 0
    assert image.notes == (f"access sites are not read on {image.arch.name}: layout only",)
    assert len(image.variables) > 4


def test_thumb_functions_start_at_even_addresses(build: Build, read: Read) -> None:
    path = build(TEXT, "clang-19", "--target=armv7-linux-gnueabihf", "-mthumb", "-O1", "-c", name="o.o")
    image = read(path)
    assert image.functions["address"][functions(image)["work"]] % 2 == 0


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("order", ["<", ">"])
def test_both_classes_and_byte_orders(tmp_path: Path, read: Read, bits: int, order: str) -> None:
    elf = ElfBuilder(bits=bits, order=order, machine=mips.EM_MIPS, type=b.ET_EXEC)
    data = elf.section(".data", bytes(256), flags=b.ALLOC | b.WRITE, address=0x10000, align=64)
    elf.segment(1, 6, data)
    elf.symbol("first", data, 0x10010, 0x20)
    elf.symbol("second", data, 0x10030, 0xD0)
    (tmp_path / "p").write_bytes(elf.bytes())
    image = read(tmp_path / "p")
    assert (image.arch.bits, image.arch.byteorder) == (bits, "little" if order == "<" else "big")
    assert image.variables["address"].tolist() == [0x10010, 0x10030]
    assert image.variables["size"].tolist() == [0x20, 0xD0]


def test_a_machine_that_is_not_in_the_registry_still_has_a_layout() -> None:
    unknown = find_architecture(0x1234, 64, "big")
    assert (unknown.name, unknown.line_size, unknown.decodes) == ("machine-4660", 64, False)


def test_only_the_first_row_that_fits_counts() -> None:
    """No row of the registry is hidden by one before it."""
    for row in MACHINES:
        found = find_architecture(row.e_machine, row.bits or 32, row.byteorder or "big")
        assert found.name == row.name
        assert found.decodes == (row.decoder != 0)
