"""Single instructions of RISC-V: the bytes that each touches, the registers that it changes, how addresses are made.

The assembler turns the long forms into compressed ones where there are any; ``.option norvc`` keeps them long.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sharing.model import AccessKind
from tests.access.conftest import Build
from tests.access.test_access_decode import assemble, describe, rows

# The address of the variable `v` is in a0.
_ACCESSES = """
lb a1, (a0)                         | load 1
lbu a1, (a0)                        | load 1
lh a1, 2(a0)                        | load 2
lhu a1, 2(a0)                       | load 2
lw a1, 4(a0)                        | load 4
lwu a1, 4(a0)                       | load 4
ld a1, 8(a0)                        | load 8
ld zero, 8(a0)                      | load 8
sb a1, (a0)                         | store 1
sh a1, 2(a0)                        | store 2
sw zero, 4(a0)                      | store 4
sd a1, 8(a0)                        | store 8
flw fa0, (a0)                       | load 4
fld fa0, (a0)                       | load 8
fsw fa0, (a0)                       | store 4
fsd fa0, (a0)                       | store 8
lr.w a1, (a0)                       | load atomic 4
lr.d.aqrl a1, (a0)                  | load atomic 8
1: lr.w a1, (a0); addi a1, a1, 1; sc.w a2, a1, (a0); bnez a2, 1b | rmw atomic 4
1: lr.d.aq a1, (a0); sc.d.rl a2, a3, (a0); bnez a2, 1b | rmw atomic 8
amoadd.w a1, a2, (a0)               | rmw atomic 4
amoadd.d zero, a2, (a0)             | rmw atomic 8
amoswap.w.aqrl a1, a2, (a0)         | rmw atomic 4
amoxor.d a1, a2, (a0)               | rmw atomic 8
amoand.w a1, a2, (a0)               | rmw atomic 4
amoor.d a1, a2, (a0)                | rmw atomic 8
amomin.w a1, a2, (a0)               | rmw atomic 4
amomax.d a1, a2, (a0)               | rmw atomic 8
amominu.w a1, a2, (a0)              | rmw atomic 4
amomaxu.d a1, a2, (a0)              | rmw atomic 8
jalr (a0)                           |
fence rw, rw                        |
fence.i                             |
addi a1, a0, 8                      |
fmv.x.d a1, fa0                     |
slli a1, a2, 2; add a1, a1, a0; lw a3, (a1) | load 4 stride=4
slli a1, a2, 32; srli a1, a1, 29; add a1, a1, a0; ld a3, (a1) | load 8 stride=8
slli a1, a2, 32; li a4, 1; srli a1, a1, 31; add a1, a1, a0; sh a4, (a1) | store 2 stride=2
slli a1, a2, 48; srai a1, a1, 44; add a1, a1, a0; ld a3, (a1) | load 8 stride=16
srli a1, a2, 29; add a1, a1, a0; ld a3, (a1) | load 8 stride=1
slli a1, a2, 32; j 1f; 1: srli a1, a1, 29; add a1, a1, a0; ld a3, (a1) | load 8 stride=1
slliw a1, a2, 3; add a1, a1, a0; ld a3, (a1) | load 8 stride=8
sh2add a1, a2, a0; lw a3, (a1)      | load 4 stride=4
sh3add.uw a1, a2, a0; ld a3, (a1)   | load 8 stride=8
add.uw a1, a2, a0; lb a3, (a1)      | load 1 stride=1
li a1, 24; mul a2, a3, a1; add a2, a2, a0; ld a3, (a2) | load 8 stride=24
andi a1, a0, -4; lw a2, (a1)        | load 4
mv a1, a0; lw a2, (a1)              | load 4
addi sp, sp, -16; sd a0, 8(sp); li a0, 0; ld a1, 8(sp); lw a2, (a1); addi sp, sp, 16 | load 4
li a1, 16; sub a1, a0, a1; lw a2, 20(a1) | load 4
lui a1, 1; addiw a1, a1, -2048; addiw a1, a1, -2044; add a1, a1, a0; lw a2, (a1) | load 4
lw a1, %tprel_lo(v)(tp)             |
auipc a1, 0; lw a2, (zero)          |
"""

_CHANGES = """
li a0, 1
lui a0, 5
mv a0, a1
addw a0, a0, a1
addiw a0, a0, 0
sub a0, a1, a0
xori a0, a0, 1
ori a0, a0, 1
andi a0, a0, 1
and a0, a0, a1
slt a0, a0, a1
sltiu a0, a0, 5
srli a0, a0, 3
sraiw a0, a0, 3
sllw a0, a0, a1
mulh a0, a0, a1
divu a0, a0, a1
remw a0, a0, a1
lw a0, (a1)
lr.w a0, (a1)
sc.d a0, a2, (a1)
amoadd.d a0, a2, (a1)
fcvt.l.d a0, fa0
fmv.x.w a0, fa0
feq.d a0, fa0, fa1
fclass.d a0, fa0
csrr a0, cycle
rdtime a0
ecall
call f0
jal t0, f0
vsetvli a0, a1, e32, m1, ta, ma
"""

_KEEPS = """
sd a0, (a1)
beq a0, a1, 1f; 1: nop
li a1, 1
lui a1, 5
mv a1, a0
add zero, a0, a1
fmv.d.x fa0, a0
fcvt.d.l fa0, a0
csrw fcsr, a0
fence
sc.w a2, a0, (a1)
fmadd.d fa0, fa1, fa2, fa3
vle32.v v8, (a1)
"""


def assembled(build: Build, tmp_path: Path, bodies: list[str]) -> list[list[str]]:
    head = ".option arch, +zba, +v; "
    elf, result = assemble(build, tmp_path, "riscv64", [head + body for body in bodies])
    return [describe(elf, result, number) for number in range(len(bodies))]


@pytest.mark.parametrize("form", ["", ".option norvc; "])
def test_each_instruction_touches_what_the_manual_says(build: Build, tmp_path: Path, form: str) -> None:
    cases = rows(_ACCESSES)
    found = assembled(build, tmp_path, [f"{form}lla a0, v; {text}" for text, _ in cases])
    wrong = [
        f"{text}: expected {expected or 'nothing'}, got {got}"
        for (text, expected), got in zip(cases, found, strict=True)
        if got != [part for part in [expected] if part]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("table", "expected"), [(_CHANGES, []), (_KEEPS, ["load 4"])])
def test_a_register_that_an_instruction_changes_is_forgotten(
    build: Build, tmp_path: Path, table: str, expected: list[str]
) -> None:
    cases = [text for text, _ in rows(table)]
    found = assembled(build, tmp_path, [f"lla a0, v; {text}; lw a5, (a0)" for text in cases])
    assert [text for text, got in zip(cases, found, strict=True) if got != expected] == []


def test_thread_local_storage_is_counted_and_not_reported(build: Build, tmp_path: Path) -> None:
    _, result = assemble(build, tmp_path, "riscv64", ["lw a0, 4(tp); sd a0, 8(tp)"])
    assert len(result.sites) == 0
    assert result.counts["segment_operands"] == 2


def test_what_is_not_decoded_is_counted_and_ends_nothing(build: Build, tmp_path: Path) -> None:
    vector = ".option arch, +v; lla a0, v; vle32.v v8, (a0); vadd.vi v8, v8, 1; lw a1, (a0)"
    elf, result = assemble(build, tmp_path, "riscv64", [vector, "nop"])
    assert result.counts["undecoded_bytes"] == 8
    assert describe(elf, result, 0) == ["load 4"]


def test_the_compiler_and_binutils_agree_on_every_compressed_form(build: Build, tmp_path: Path) -> None:
    """All 49,152 encodings: those that objdump names are decoded, the others are not.

    Apart from 0x6101, sp + 0: the manual reserves it, and objdump names it.
    """
    code = b"".join(n.to_bytes(2, "little") for n in range(1 << 16) if n & 3 != 3)
    (tmp_path / "all.bin").write_bytes(code)
    listing = subprocess.run(
        ["riscv64-linux-gnu-objdump", "-D", "-b", "binary", "-m", "riscv:rv64", tmp_path / "all.bin"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rejected = sum(line.split("\t")[2].startswith((".2byte", ".short", "unimp")) for line in listing.splitlines()[7:])
    from tests.access.test_access_hostile import plan_for, scan

    result = scan(plan_for(tmp_path, code, arch="riscv64"))
    assert result.counts["undecoded_bytes"] == 2 * (rejected + 1)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("lui a0, %hi(v); lw a1, %lo(v)(a0)", AccessKind.LOAD),
        ("lui a0, %hi(v+64); addi a0, a0, %lo(v+64); sd a1, -64(a0)", AccessKind.STORE),
        ("lui a0, %hi(v); slli a1, a1, 3; add a0, a0, a1; ld a2, %lo(v)(a0)", AccessKind.LOAD),
        ("1: auipc a0, %pcrel_hi(v); lw a1, %pcrel_lo(1b)(a0)", AccessKind.LOAD),
        ("la a0, v; amoadd.d a1, a2, (a0)", AccessKind.RMW),
    ],
)
def test_ways_to_name_a_variable(build: Build, tmp_path: Path, text: str, kind: AccessKind) -> None:
    source = tmp_path / "name.s"
    data = ".bss\n.balign 64\n.globl v\n.type v, %object\n.size v, 256\nv: .zero 256\n"
    body = text.replace("; ", "\n")
    function = f".text\n.globl _start\n.type _start, %function\n_start:\n{body}\nret\n.size _start, .-_start\n"
    source.write_text(function + data)
    from elfscan.code.accessplan import start_scan
    from tests.access.elfplan import read_elf

    elf = read_elf(build("gcc-riscv64", source, "-nostdlib", "-static", "-Wl,--no-relax"))
    (site,) = start_scan(elf.plan).result().sites
    assert (int(site["target"]), int(site["kind"])) == (elf.objects["v"][0], int(kind))
