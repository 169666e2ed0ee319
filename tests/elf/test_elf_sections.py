"""Who may write a section after start-up, and the kinds of file."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from elfscan.fileformat.sections import classify
from sharing.model import FunctionFlag, ImageKind, Malformed, SectionKind
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder, small_program
from tests.elf.conftest import Build, Read, functions, variables

A, W, X, T = b.ALLOC, b.WRITE, b.EXEC, b.TLS


@pytest.mark.parametrize(
    ("name", "flags", "kind"),
    [
        (".data", A | W, SectionKind.WRITABLE),
        (".bss", A | W, SectionKind.WRITABLE),
        (".data.counter", A | W, SectionKind.WRITABLE),
        (".data..read_mostly", A | W, SectionKind.WRITABLE),
        (".data..cacheline_aligned", A | W, SectionKind.WRITABLE),
        (".data..page_aligned", A | W, SectionKind.WRITABLE),
        (".ldata", A | W, SectionKind.WRITABLE),
        ("my_section", A | W, SectionKind.WRITABLE),
        (".vvar", A | W, SectionKind.WRITABLE),
        (".data.rel.local", A | W, SectionKind.WRITABLE),
        (".data.rel.ro", A | W, SectionKind.RELRO),
        (".data.rel.ro.local.x", A | W, SectionKind.RELRO),
        (".data..ro_after_init", A | W, SectionKind.RELRO),
        ("ro_after_init", A | W, SectionKind.RELRO),
        (".got", A | W, SectionKind.OTHER),
        (".got.plt", A | W, SectionKind.OTHER),
        (".dynamic", A | W, SectionKind.OTHER),
        (".init_array", A | W, SectionKind.OTHER),
        (".init_array.00100", A | W, SectionKind.OTHER),
        ("__bug_table", A | W, SectionKind.OTHER),
        (".orc_lookup", A | W, SectionKind.OTHER),
        (".gnu.linkonce.this_module", A | W, SectionKind.WRITABLE),
        (".tdata", A | W | T, SectionKind.TLS),
        (".tbss.x", A | W | T, SectionKind.TLS),
        (".data..percpu", A | W, SectionKind.PERCPU),
        (".data..percpu..shared_aligned", A | W, SectionKind.PERCPU),
        (".init.data", A | W, SectionKind.INIT),
        (".init.rodata", A, SectionKind.INIT),
        (".init.text", A | X, SectionKind.CODE),
        (".rodata", A, SectionKind.CONSTANT),
        (".rodata", A | W, SectionKind.CONSTANT),
        (".rodata.str1.1", A, SectionKind.CONSTANT),
        ("__ksymtab", A, SectionKind.CONSTANT),
        ("__ex_table", A, SectionKind.CONSTANT),
        (".text.hot", A | X, SectionKind.CODE),
    ],
)
def test_kinds_by_name_and_flags(name: str, flags: int, kind: SectionKind) -> None:
    assert classify(name, flags, b.PROGBITS, in_relro=False) is kind


def test_the_relro_segment_decides_where_there_is_one() -> None:
    assert classify(".custom", A | W, b.PROGBITS, in_relro=True) is SectionKind.RELRO
    assert classify(".got", A | W, b.PROGBITS, in_relro=True) is SectionKind.RELRO
    assert classify(".tdata", A | W | T, b.PROGBITS, in_relro=True) is SectionKind.TLS


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        (["gcc", "-no-pie"], ImageKind.EXECUTABLE),
        (["gcc", "-static"], ImageKind.EXECUTABLE),
        (["gcc", "-pie", "-fPIE"], ImageKind.PIE),
        (["gcc", "-static-pie", "-fPIE"], ImageKind.PIE),
        (["gcc", "-shared", "-fPIC"], ImageKind.SHARED),
        (["gcc", "-c"], ImageKind.RELOCATABLE),
    ],
)
def test_kinds_of_file(build: Build, read: Read, flags: list[str], kind: ImageKind) -> None:
    assert read(build("int main(void) { return 0; }", *flags)).kind is kind


@pytest.mark.parametrize(("more", "kind"), [(["-Wl,-soname,libx.so.1"], ImageKind.SHARED), ([], ImageKind.PIE)])
def test_a_library_that_can_be_run_is_a_library_by_its_name(
    build: Build, read: Read, more: list[str], kind: ImageKind
) -> None:
    """libc.so.6 names an interpreter as programs do."""
    source = 'const char interp[] __attribute__((section(".interp"))) = "/lib64/ld-linux-x86-64.so.2"; int x;'
    assert read(build(source, "gcc", "-shared", "-fPIC", *more)).kind is kind


def test_build_id_and_needed(build: Build, read: Read) -> None:
    image = read(build("int main(void) { return 0; }", "gcc", "-Wl,--build-id=0xc0ffee"))
    assert image.build_id == "c0ffee"
    assert image.needed == ("libc.so.6",)
    assert read(build("int main(void) { return 0; }", "gcc", "-Wl,--build-id=none")).build_id is None


def test_constant_tables_with_pointers_are_relro(build: Build, read: Read) -> None:
    image = read(build("int x; int *const fixed[] = {&x}; int *loose[] = {&x}; int main(void) { return 0; }", "gcc"))
    kinds = {name: image.sections[image.variables["section"][row]].kind for name, row in variables(image).items()}
    assert kinds["fixed"] is SectionKind.RELRO
    assert kinds["loose"] is SectionKind.WRITABLE


def test_sections_that_are_not_loaded_hold_no_variables(tmp_path: Path, read: Read) -> None:
    elf = small_program()
    aside = elf.section(".stapsdt", bytes(64), flags=0)
    gone = elf.section(".excluded", bytes(64), flags=A | W | 0x8000_0000)
    elf.symbol("in_note", aside, 8, 8)
    elf.symbol("in_excluded", gone, 8, 8)
    (tmp_path / "p").write_bytes(elf.bytes())
    image = read(tmp_path / "p")
    assert [s.name for s in image.sections] == [".text", ".data", ".bss"]
    assert set(variables(image)) == {"lock", "counter"}


KERNEL = """
#define SECTION(name) __attribute__((section(name), used))
typedef int (*initcall_t)(void);
const char linux_banner[] = "Linux version";
int hot; int shown[4] = {1};
int per_cpu_count SECTION(".data..percpu") = 1;
int boot_only SECTION(".init.data") = 2;
int late SECTION(".data..ro_after_init") = 3;
int SECTION(".init.text") setup(void) { return boot_only++; }
int worker(int x) { return hot += x; }
int unused_here(void) { return 1; }
int (*table[])(int) = { worker };
asm(".section .initcall6.init,\\"a\\"\\n__initcall__kmod_x__setup6:\\n.long setup - .\\n.previous\\n");
asm(".section __ksymtab,\\"a\\"\\n__ksymtab_worker:\\n.long worker - .\\n.previous\\n");
asm(".globl _start\\n_start: nop\\n");
"""
KERNEL_SCRIPT = """
SECTIONS {
  . = 0xffffffff81000000;
  .text : { _text = .; *(.text) _etext = .; }
  .rodata : { *(.rodata*) *(__ksymtab_strings) }
  __ksymtab : { __start___ksymtab = .; *(__ksymtab) __stop___ksymtab = .; }
  . = ALIGN(4096);
  .data : { _sdata = .; *(.data) __start_ro_after_init = .; *(.data..ro_after_init) __end_ro_after_init = .;
            _edata = .; }
  .data..percpu 0 : AT(0x4000000) { __per_cpu_start = .; *(.data..percpu) __per_cpu_end = .; }
  . = 0xffffffff82000000;
  .init.text : { *(.init.text) }
  .init.data : { *(.init.data) __initcall_start = .; *(.initcall6.init) __initcall_end = .; }
  .bss : { __bss_start = .; *(.bss) *(COMMON) __bss_stop = .; }
  _end = .;
  /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame) }
}
"""


def test_a_kernel_is_known_by_its_sections(build: Build, read: Read, tmp_path: Path) -> None:
    script = tmp_path / "vmlinux.lds"
    script.write_text(KERNEL_SCRIPT)
    path = build(
        KERNEL, "gcc", "-O1", "-nostdlib", "-static", "-mcmodel=kernel", "-fno-pie", "-no-pie", f"-Wl,-T,{script}"
    )
    image = read(path)
    assert image.kind is ImageKind.KERNEL
    rows = variables(image)
    kinds = {name: image.sections[image.variables["section"][row]].kind for name, row in rows.items()}
    assert kinds == {
        "linux_banner": SectionKind.CONSTANT,
        "hot": SectionKind.WRITABLE,
        "shown": SectionKind.WRITABLE,
        "table": SectionKind.WRITABLE,
        "per_cpu_count": SectionKind.PERCPU,
        "boot_only": SectionKind.INIT,
        "late": SectionKind.RELRO,
    }
    calls = functions(image)
    flags = {name: int(image.functions["flags"][row]) for name, row in calls.items()}
    assert flags["setup"] & FunctionFlag.INIT
    assert image.init_functions == (int(image.functions["address"][calls["setup"]]),)
    assert flags["worker"] & FunctionFlag.ADDRESS_TAKEN, "found by its value in .data: nothing is relocated"
    assert flags["worker"] & FunctionFlag.EXPORTED
    # Global are all functions that another unit calls; for modules are those that the table of exports names.
    assert [name for name in ("worker", "unused_here", "setup") if flags[name] & FunctionFlag.FOR_MODULES] == ["worker"]
    assert not flags["unused_here"] & FunctionFlag.ADDRESS_TAKEN
    spans = [(s.address, s.end) for s in image.sections if s.size]
    assert all(a <= b for (_, a), (b, _) in pairwise(spans)), "carved parts do not overlap"


def test_vmlinux_is_sorted_into_kinds(vmlinux: Path, read: Read) -> None:
    image = read(vmlinux)
    assert image.kind is ImageKind.KERNEL
    by_kind = dict.fromkeys(SectionKind, 0)
    for section in image.variables["section"].tolist():
        by_kind[image.sections[section].kind] += 1
    assert by_kind[SectionKind.WRITABLE] > 10_000
    for kind in (SectionKind.PERCPU, SectionKind.INIT, SectionKind.RELRO, SectionKind.CONSTANT):
        assert by_kind[kind] > 100
    rows = variables(image)
    kind_of = {
        name: image.sections[image.variables["section"][rows[name]]].kind
        for name in ("jiffies", "tasklist_lock", "init_task", "kmalloc_caches", "boot_command_line", "cpu_number")
    }
    assert kind_of == {
        "jiffies": SectionKind.WRITABLE,
        "tasklist_lock": SectionKind.WRITABLE,
        "init_task": SectionKind.WRITABLE,
        "kmalloc_caches": SectionKind.RELRO,
        "boot_command_line": SectionKind.INIT,
        "cpu_number": SectionKind.PERCPU,
    }
    assert len(image.init_functions) > 300


def test_a_debug_file_has_layout_and_no_code(build: Build, tmp_path: Path, read: Read) -> None:
    """objcopy --only-keep-debug keeps the section table and makes everything NOBITS."""
    path = build("int x[5]; int main(void) { return x[1]++; }", "gcc", "-g")
    only = tmp_path / "only.debug"
    subprocess.run(["objcopy", "--only-keep-debug", str(path), str(only)], check=True)
    whole, debug = read(path), read(only)
    row, other = variables(whole)["x"], variables(debug)["x"]
    assert whole.variables["address"][row] == debug.variables["address"][other]


def test_a_malformed_alignment_of_sections_is_named(tmp_path: Path) -> None:
    from elfscan.image import read_images

    elf = ElfBuilder(type=b.ET_REL)
    elf.section("\x1b[2Jbad", bytes(4), flags=A | W, align=12)
    (tmp_path / "o.o").write_bytes(elf.bytes())
    with pytest.raises(Malformed, match="alignment 0xc") as caught:
        list(read_images(str(tmp_path / "o.o"), types=False, access=False))
    assert "\x1b" not in str(caught.value)


def test_every_variable_lies_in_its_section(server: Callable[[str], Path], read: Read) -> None:
    image = read(server("redis-server"))
    starts = [s.address for s in image.sections]
    ends = [s.end for s in image.sections]
    for variable in image.variables:
        assert starts[variable["section"]] <= variable["address"]
        assert variable["address"] + variable["size"] <= ends[variable["section"]]
    assert [s.index for s in image.sections] == list(range(len(image.sections)))
