"""Object files: the synthetic layout, and relocations applied as the linker would apply them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.fileformat.placement import open_program
from elfscan.fileformat.program import Program
from elfscan.image import read_images
from sharing.model import AccessKind, FunctionFlag, Image, ImageKind, SectionKind
from tests.elf.conftest import Build, Read, functions, variables

TEXT = """
#include <stddef.h>
extern int outside; extern void call_out(void *); extern long far_away[];
int common_one; long common_two[4];
static int hidden = 3; int shown[70] = {1}; char bytes[3]; short halves[4]; _Alignas(16) __int128 wide;
static const int constants[] = {1, 2, 3, 4, 5};
int (*callback)(int);
int pick(int x) { switch (x) { case 0: return 3; case 1: return hidden; case 2: return 9; case 3: return shown[4];
                  case 4: return constants[x & 3]; case 5: return 77; default: return 0; } }
int (*table[])(int) = { pick };
int g(int x) { common_one++; outside = hidden; call_out(&hidden); hidden++; bytes[1]++; halves[2]++; wide += x;
               return (int)common_two[2] + pick(x) + (int)far_away[x]; }
__attribute__((constructor)) static void init(void) { common_one = 4; }
"""


def opened(path: Path) -> Program:
    return open_program(ElfFile(str(path), map_file(str(path))))


def linked_like(program: Program, object_file: Path, linker: str, emulation: list[str]) -> dict[str, bytes]:
    """Section bytes after the system's linker has placed everything where the reader placed it."""
    if shutil.which(linker) is None:
        pytest.skip(f"no {linker}")
    script = "SECTIONS {\n"
    for section in program.layout.sections:
        script += f"  {section.name} {section.address:#x} : {{ *({section.name}) }}\n"
    script += "  .got 0x40000000 : { *(.got) *(.got.plt) }\n}\n"
    script_file = object_file.with_suffix(".ld")
    script_file.write_text(script)
    names = program.import_names()
    defined = [
        f"--defsym={n}={int(p):#x}" for n, p in zip(names, program.linkage.placeholders["slot"].tolist(), strict=True)
    ]
    output = object_file.with_suffix(".linked")
    command = [linker, *emulation, "--no-relax", "-T", str(script_file), *defined, "-o", str(output), str(object_file)]
    subprocess.run(command, check=True, capture_output=True)
    linked = ElfFile(str(output), map_file(str(output)))
    return {
        name: linked.section_bytes(row).tobytes()
        for row, name in enumerate(linked.section_names)
        if linked.sections["flags"][row] & 2
    }


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O2", "-mcmodel=kernel", "-fno-pie"], ["-O2", "-fno-pie"]])
def test_x86_64_code_is_relocated_as_by_ld(build: Build, flags: list[str]) -> None:
    path = build(TEXT, "gcc", "-c", "-fno-common", "-fno-asynchronous-unwind-tables", *flags, name="o.o")
    assert_like_linker(path, "ld", ["-m", "elf_x86_64"])


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O2", "-fno-pie"]])
def test_aarch64_code_is_relocated_as_by_ld(build: Build, flags: list[str]) -> None:
    path = build(
        TEXT, "aarch64-linux-gnu-gcc", "-c", "-fno-common", "-fno-asynchronous-unwind-tables", *flags, name="o.o"
    )
    assert_like_linker(path, "aarch64-linux-gnu-ld", [])


@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O2", "-fno-pie"], ["-Os", "-march=rv64g"]])
def test_riscv_code_is_relocated_as_by_ld(build: Build, flags: list[str]) -> None:
    path = build(
        TEXT, "riscv64-linux-gnu-gcc", "-c", "-fno-common", "-fno-asynchronous-unwind-tables", *flags, name="o.o"
    )
    assert_like_linker(path, "riscv64-linux-gnu-ld", [])


def assert_like_linker(path: Path, linker: str, emulation: list[str]) -> None:
    """Every byte agrees, except the operands that name a GOT slot: those are ours to place."""
    elf = ElfFile(str(path), map_file(str(path)))
    with open_program(elf) as program:
        patched = Path(program.code_path).read_bytes()
        linked = linked_like(program, path, linker, emulation)
        relocations = subprocess.run(["readelf", "-rW", str(path)], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in relocations.splitlines() if " R_" in line]
        through_got = {int(row[0], 16) for row in rows if "GOT" in row[2]}
        # On RISC-V the lower half names the place of the upper one.
        through_got |= {int(r[0], 16) for r in rows if "PCREL_LO12" in r[2] and int(r[3], 16) in through_got}
        compared = 0
        for section, offset in zip(program.layout.sections, program.file_offsets, strict=True):
            if offset < 0 or section.name.startswith(".note"):
                continue
            ours, theirs = patched[offset : offset + section.size], linked[section.name]
            differing = [
                i
                for i, (a, b) in enumerate(zip(ours, theirs, strict=False))
                if a != b and not (section.name == ".text" and any(at - 3 <= i < at + 4 for at in through_got))
            ]
            assert (section.name, differing) == (section.name, [])
            compared += len(ours)
        assert compared > 200
    assert not os.path.exists(program.code_path), "the patched copy goes with the program"


def test_sections_never_share_a_line(build: Build, read: Read) -> None:
    image = read(build(TEXT, "gcc", "-c", "-fdata-sections", "-ffunction-sections", name="o.o"))
    assert image.synthetic
    assert image.kind is ImageKind.RELOCATABLE
    ends = 0
    for section in image.sections:
        assert section.address % section.alignment == 0
        assert section.address - ends >= 256
        ends = section.end


def test_words_that_hold_code_addresses(build: Build, read: Read) -> None:
    image = read(build(TEXT, "gcc", "-c", "-O1", name="o.o"))
    rows = functions(image)
    taken = {name for name, row in rows.items() if image.functions["flags"][row] & FunctionFlag.ADDRESS_TAKEN}
    assert {"pick", "init"} <= taken
    assert "g" not in taken
    assert image.functions["flags"][rows["init"]] & FunctionFlag.INIT
    assert {"outside", "call_out", "far_away"} <= image.imports


def sites_of(image: Image, name: str) -> set[tuple[AccessKind, int]]:
    variable = image.variables[variables(image)[name]]
    start, end = int(variable["address"]), int(variable["address"] + variable["size"])
    return {
        (AccessKind(int(s["kind"])), int(s["target"]) - start) for s in image.sites if start <= int(s["target"]) < end
    }


@pytest.mark.parametrize("compiler", ["gcc", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"])
@pytest.mark.parametrize("flags", [["-O0"], ["-O2"], ["-O2", "-fPIC"], ["-O2", "-fno-pie"]])
def test_accesses_of_object_code_are_found(build: Build, native: None, compiler: str, flags: list[str]) -> None:
    path = build(TEXT, compiler, "-c", "-fcommon", *flags, name="o.o")
    (image,) = read_images(str(path), types=False)
    assert image.notes == ()
    kinds = {kind for kind, at in sites_of(image, "hidden") if at == 0}
    assert {AccessKind.LOAD, AccessKind.ADDRESS} <= kinds
    assert kinds & {AccessKind.RMW, AccessKind.STORE}
    assert {at for _, at in sites_of(image, "halves")} >= {4}
    assert sites_of(image, "common_one"), "COMMON, through the GOT in position-independent code"
    called = {image.callee_names.get(callee) for callee in image.calls["callee"].tolist()}
    assert "call_out" in called


def test_a_kernel_module_is_one(build: Build, read: Read) -> None:
    text = """
    struct module { char name[64]; } __this_module __attribute__((section(".gnu.linkonce.this_module")));
    static const char license[] __attribute__((section(".modinfo"), used)) = "license=GPL";
    static int boot_only __attribute__((section(".init.data"), used)) = 3;
    static int per_cpu __attribute__((section(".data..percpu"), used)) = 3;
    static int late __attribute__((section(".data..ro_after_init"), used)) = 3;
    static int busy __attribute__((section(".data..read_mostly"), used)) = 3;
    int __attribute__((section(".init.text"))) init_module(void) { return boot_only++; }
    int work(void) { return busy++; }
    """
    image = read(build(text, "gcc", "-c", "-O1", name="m.ko"))
    assert image.kind is ImageKind.MODULE
    kinds = {name: image.sections[image.variables["section"][row]].kind for name, row in variables(image).items()}
    assert kinds == {
        "boot_only": SectionKind.INIT,
        "per_cpu": SectionKind.PERCPU,
        "late": SectionKind.RELRO,
        "busy": SectionKind.WRITABLE,
        "license": SectionKind.CONSTANT,
        "__this_module": SectionKind.WRITABLE,  # the kernel counts users and keeps lists in it
    }
    start = int(image.functions["address"][functions(image)["init_module"]])
    assert image.init_functions == (start,)
    assert image.functions["flags"][functions(image)["init_module"]] & FunctionFlag.INIT
