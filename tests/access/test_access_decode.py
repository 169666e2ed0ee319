"""Single instructions: which bytes each touches and how, and which registers it changes.

The table covers the places where the disassembler library's own access information is missing or wrong
(movups, setcc, cmpxchg, fistp, scalar moves, atomics, vector structures, and more): the scanner must not
depend on it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model import AccessKind, SiteFlag
from tests.access.conftest import Build
from tests.access.elfplan import Elf, read_elf

# The operand is the variable `v`; its address is in rax, and for string operations in rdi and rsi.
_X86_ACCESSES = """
movl (%rax), %ecx                   | load 4
movb %cl, (%rax)                    | store 1
movw $7, (%rax)                     | store 2
movq $7, (%rax)                     | store 8
movzbl (%rax), %ecx                 | load 1
movslq (%rax), %rcx                 | load 4
movbe %ecx, (%rax)                  | store 4
movnti %rcx, (%rax)                 | store 8
cmpl $0, (%rax)                     | load 4
cmpq %rcx, (%rax)                   | load 8
testb $1, (%rax)                    | load 1
testl %ecx, (%rax)                  | load 4
incl (%rax)                         | rmw 4
decq (%rax)                         | rmw 8
negw (%rax)                         | rmw 2
notb (%rax)                         | rmw 1
addl $1, (%rax)                     | rmw 4
addq %rcx, (%rax)                   | rmw 8
addq (%rax), %rcx                   | load 8
adcl $0, (%rax)                     | rmw 4
sbbl $0, (%rax)                     | rmw 4
orb $4, (%rax)                      | rmw 1
xorl %ecx, (%rax)                   | rmw 4
shll $2, (%rax)                     | rmw 4
sarq %cl, (%rax)                    | rmw 8
rolw $8, (%rax)                     | rmw 2
rorb $1, (%rax)                     | rmw 1
rclq $1, (%rax)                     | rmw 8
shldl $3, %ecx, (%rax)              | rmw 4
btl $3, (%rax)                      | load 4
btsq $3, (%rax)                     | rmw 8
btrl $3, (%rax)                     | rmw 4
btcl $3, (%rax)                     | rmw 4
sete (%rax)                         | store 1
setbe (%rax)                        | store 1
setg (%rax)                         | store 1
cmovnel (%rax), %ecx                | load 4
imull $3, (%rax), %ecx              | load 4
imulq (%rax), %rcx                  | load 8
mulq (%rax)                         | load 8
divl (%rax)                         | load 4
idivq (%rax)                        | load 8
pushq (%rax)                        | load 8
popq (%rax)                         | store 8
xchgl %ecx, (%rax); movl %ecx, %edx | rmw atomic 4
xchgb %cl, (%rax); movb %cl, %dl    | rmw atomic 1
xchgl %ecx, (%rax); movl $1, %ecx   | store atomic 4
xaddl %ecx, (%rax)                  | rmw 4
lock xaddq %rcx, (%rax)             | rmw atomic 8
cmpxchgl %ecx, (%rdi)               | rmw 4
lock cmpxchgl %ecx, (%rdi)          | rmw atomic 4
lock cmpxchg8b (%rdi)               | rmw atomic 8
lock cmpxchg16b (%rdi)              | rmw atomic 16
lock incl (%rax)                    | rmw atomic 4
lock orl $0, (%rax)                 | rmw atomic 4
lock orl $0, (%rsp)                 |
lock btsq $3, (%rax)                | rmw atomic 8
prefetcht0 (%rax)                   |
prefetchw (%rax)                    |
nopl (%rax)                         |
clflush (%rax)                      |
leaq 8(%rax), %rcx                  |
movl %fs:(%rax), %ecx               |
movl %gs:(%rax), %ecx               |
call *(%rax)                        | load 8
flds (%rax)                         | load 4
fldl (%rax)                         | load 8
fldt (%rax)                         | load 10
fsts (%rax)                         | store 4
fstpl (%rax)                        | store 8
fstpt (%rax)                        | store 10
filds (%rax)                        | load 2
fistpll (%rax)                      | store 8
fistl (%rax)                        | store 4
fisttpl (%rax)                      | store 4
fadds (%rax)                        | load 4
fnstcw (%rax)                       | store 2
fldcw (%rax)                        | load 2
ldmxcsr (%rax)                      | load 4
stmxcsr (%rax)                      | store 4
movss (%rax), %xmm0                 | load 4
movss %xmm0, (%rax)                 | store 4
movsd %xmm0, (%rax)                 | store 8
movups %xmm0, (%rax)                | store 16
movaps (%rax), %xmm0                | load 16
movdqu %xmm0, (%rax)                | store 16
movdqa (%rax), %xmm0                | load 16
movntdq %xmm0, (%rax)               | store 16
movq %xmm0, (%rax)                  | store 8
movq (%rax), %xmm0                  | load 8
movd %xmm0, (%rax)                  | store 4
movhps %xmm0, (%rax)                | store 8
movlps (%rax), %xmm0                | load 8
pextrq $1, %xmm0, (%rax)            | store 8
extractps $1, %xmm0, (%rax)         | store 4
paddd (%rax), %xmm0                 | load 16
addss (%rax), %xmm0                 | load 4
mulsd (%rax), %xmm0                 | load 8
cmpsd $1, (%rax), %xmm0             | load 8
ucomisd (%rax), %xmm0               | load 8
cvttsd2si (%rax), %ecx              | load 8
cvtsi2sdl (%rax), %xmm0             | load 4
cvtss2sd (%rax), %xmm0              | load 4
vmovups %ymm0, (%rax)               | store 32
vmovdqu (%rax), %ymm0               | load 32
vmovdqa %xmm0, (%rax)               | store 16
vmovss %xmm0, (%rax)                | store 4
vmovq %xmm0, (%rax)                 | store 8
vmovd %xmm0, (%rax)                 | store 4
vmovdqu64 %zmm0, (%rax)             | store 64
vmovdqu8 (%rax), %zmm0              | load 64
vextracti128 $1, %ymm0, (%rax)      | store 16
vpaddd (%rax), %ymm1, %ymm0         | load 32
vbroadcastss (%rax), %ymm0          | load 4
movsb                               | store 1, load 1
movsq                               | store 8, load 8
stosl                               | store 4
lodsb                               | load 1
cmpsb                               | load 1, load 1
cmpsl                               | load 4, load 4
scasl                               | load 4
rep stosq                           | store 8 stride=1
rep movsb                           | store 1 stride=1, load 1 stride=1
repne scasb                         | load 1 stride=1
movl $3, %ecx; rep stosq            | store 24
movzbl %cl, %ecx; andl $0x780, %ecx; movl (%rax,%rcx), %edx | load 4 stride=128
shlq $5, %rcx; andl $0xfff, %ecx; movl (%rax,%rcx), %edx | load 4 stride=32
andl $0xfff, %ecx; movl (%rax,%rcx), %edx | load 4 stride=1
andl $15, %ecx; movl (%rax,%rcx,8), %edx | load 4 stride=8
movl v(%rip), %ecx                  | load 4
addl $1, v+4(%rip)                  | rmw 4
"""

_A64_ACCESSES = """
ldr w1, [x0]                        | load 4
ldr x1, [x0, #8]                    | load 8
ldrb w1, [x0]                       | load 1
ldrsh x1, [x0]                      | load 2
ldrsw x1, [x0]                      | load 4
ldur x1, [x0, #-0]                  | load 8
str xzr, [x0]                       | store 8
strh w1, [x0]                       | store 2
ldr q0, [x0]                        | load 16
str q0, [x0]                        | store 16
str s0, [x0]                        | store 4
ldr d0, [x0]                        | load 8
ldr b0, [x0]                        | load 1
ldp x1, x2, [x0]                    | load 16
ldp w1, w2, [x0]                    | load 8
ldpsw x1, x2, [x0]                  | load 8
stp x1, x2, [x0]                    | store 16
stp q0, q1, [x0]                    | store 32
stnp x1, x2, [x0]                   | store 16
ldr w1, [x0], #4                    | load 4
ldr w1, [x0, #4]!                   | load 4
str w1, [x0, x2, lsl #2]            | store 4 stride=4
and x2, x2, #0x780; ldr w1, [x0, x2] | load 4 stride=128
and x2, x2, #0xfff; ldr w1, [x0, x2] | load 4 stride=1
ldr x1, [x0, w2, sxtw #3]           | load 8 stride=8
ldar w1, [x0]                       | load atomic 4
ldapr x1, [x0]                      | load atomic 8
ldarb w1, [x0]                      | load atomic 1
stlr x1, [x0]                       | store atomic 8
stlrh w1, [x0]                      | store atomic 2
ldadd w1, w2, [x0]                  | rmw atomic 4
ldaddal x1, x2, [x0]                | rmw atomic 8
ldaddlb w1, w2, [x0]                | rmw atomic 1
ldclrah w1, w2, [x0]                | rmw atomic 2
ldset w1, w2, [x0]                  | rmw atomic 4
ldeoral x1, x2, [x0]                | rmw atomic 8
ldsmaxa w1, w2, [x0]                | rmw atomic 4
ldumin x1, x2, [x0]                 | rmw atomic 8
stadd w1, [x0]                      | rmw atomic 4
staddlb w1, [x0]                    | rmw atomic 1
stumax x1, [x0]                     | rmw atomic 8
swp w1, w2, [x0]                    | rmw atomic 4
swpalb w1, w2, [x0]                 | rmw atomic 1
cas x1, x2, [x0]                    | rmw atomic 8
casab w1, w2, [x0]                  | rmw atomic 1
caspal x2, x3, x4, x5, [x0]         | rmw atomic 16
caspa w2, w3, w4, w5, [x0]          | rmw atomic 8
ldxr w1, [x0]                       | load atomic 4
1: ldxr w1, [x0]; stxr w2, w1, [x0]; cbnz w2, 1b | rmw atomic 4
1: ldaxrb w1, [x0]; stlxrb w2, w1, [x0]; cbnz w2, 1b | rmw atomic 1
1: ldaxp x1, x2, [x0]; stlxp w3, x1, x2, [x0]; cbnz w3, 1b | rmw atomic 16
ld1 {v0.16b}, [x0]                  | load 16
ld1 {v0.2d, v1.2d}, [x0]            | load 32
ld1 {v0.4h, v1.4h, v2.4h}, [x0]     | load 24
ld1 {v0.s}[1], [x0]                 | load 4
ld1r {v0.4s}, [x0]                  | load 4
ld2r {v0.8h, v1.8h}, [x0]           | load 4
ld2 {v0.4s, v1.4s}, [x0]            | load 32
st1 {v0.d}[0], [x0]                 | store 8
st1 {v0.16b, v1.16b}, [x0], #32     | store 32
st4 {v0.8b, v1.8b, v2.8b, v3.8b}, [x0] | store 32
st2 {v0.b, v1.b}[3], [x0]           | store 2
prfm pldl1keep, [x0]                |
add x1, x0, #8                      |
cmp x0, x1                          |
ldtr x1, [x0]                       | load 8
"""

_X86_CHANGES = """
movl $1, %eax
movb $1, %al
sete %al
setg %ah
bswapq %rax
xchgq %rax, %rbx
xchgq %rbx, %rax
xaddq %rcx, %rax
xaddq %rax, %rcx
mulq %rcx
imulq %rcx
imulq %rcx, %rax
divq %rcx
cpuid
rdtsc
lodsq
popq %rax
cmovneq %rbx, %rax
movq %xmm0, %rax
vmovq %xmm0, %rax
pextrq $0, %xmm0, %rax
cvttsd2si %xmm0, %rax
movmskps %xmm0, %eax
pmovmskb %xmm0, %eax
vpmovmskb %ymm0, %eax
popcntq %rcx, %rax
tzcntq %rcx, %rax
bsfq %rcx, %rax
btsq %rcx, %rax
rdrand %rax
syscall
xgetbv
mulxq %rcx, %rbx, %rax
mulxq %rcx, %rax, %rbx
andnq %rcx, %rbx, %rax
bextrq %rcx, %rbx, %rax
shlxq %rcx, %rbx, %rax
adcq $0, %rax
sbbq %rax, %rax
rolq $8, %rax
negq %rax
notq %rax
shldq $4, %rcx, %rax
shrq $3, %rax
orq $1, %rax
fnstsw %ax
lahf
cwtl
cmpxchgq %rcx, %rbx
kmovq %k1, %rax
movq %cr0, %rax
"""

_X86_KEEPS = """
cmpq $3, %rax
testq %rax, %rax
btq $3, %rax
pushq %rax
nop
movq %rax, %xmm0
movq %rax, %rcx
cvtsi2sdq %rax, %xmm0
movl $1, %ecx
"""


def rows(table: str) -> list[tuple[str, str]]:
    out = []
    for line in table.strip().splitlines():
        text, _, expected = line.partition("|")
        out.append((text.strip(), expected.strip()))
    return out


def assemble(build: Build, tmp_path: Path, arch: str, bodies: list[str]) -> tuple[Elf, ScanResult]:
    """One function f0, f1, ... per body, over a variable v of 256 bytes."""
    lines = [".text", ".arch armv8.5-a" if arch == "aarch64" else ""]
    for number, body in enumerate(bodies):
        code = body.replace("; ", "\n ")
        lines += [f".globl f{number}", f".type f{number}, %function", f"f{number}:", f" {code}", " ret"]
        lines += [f".size f{number}, .-f{number}"]
    lines += [".bss", ".balign 64", ".globl v", ".type v, %object", ".size v, 256", "v: .zero 256", ""]
    source = tmp_path / "table.s"
    source.write_text("\n".join(lines))
    elf = read_elf(build(f"clang-{arch}", source, "-nostdlib", "-static-pie", "-Wl,-e,f0", "-Wl,--no-dynamic-linker"))
    return elf, start_scan(elf.plan).result()


def describe(elf: Elf, result: ScanResult, number: int) -> list[str]:
    """The accesses (not the addresses taken) of function ``f<number>``."""
    address = elf.functions[f"f{number}"]
    row = int(np.flatnonzero(elf.plan.functions["address"] == address)[0])
    out = []
    for site in result.sites[result.sites["function"] == row]:
        if site["kind"] == AccessKind.ADDRESS:
            continue
        atomic = " atomic" if site["flags"] & SiteFlag.ATOMIC else ""
        stride = f" stride={site['stride']}" if site["flags"] & SiteFlag.INDEXED else ""
        out.append(f"{AccessKind(site['kind']).name.lower()}{atomic} {site['size']}{stride}")
    return out


_SETUP = {
    "x86-64": "leaq v(%rip), %rax; movq %rax, %rdi; movq %rax, %rsi; ",
    "aarch64": "adrp x0, v; add x0, x0, :lo12:v; ",
}


@pytest.mark.parametrize(("arch", "table"), [("x86-64", _X86_ACCESSES), ("aarch64", _A64_ACCESSES)])
def test_each_instruction_touches_what_the_manual_says(build: Build, tmp_path: Path, arch: str, table: str) -> None:
    cases = rows(table)
    elf, result = assemble(build, tmp_path, arch, [_SETUP[arch] + text for text, _ in cases])
    wrong = []
    for number, (text, expected) in enumerate(cases):
        got = describe(elf, result, number)
        if sorted(got) != sorted(part.strip() for part in expected.split(",") if part):
            wrong.append(f"{text}: expected {expected or 'nothing'}, got {got}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("table", "expected"), [(_X86_CHANGES, []), (_X86_KEEPS, ["load 4"])])
def test_a_register_that_an_instruction_changes_is_forgotten(
    build: Build, tmp_path: Path, table: str, expected: list[str]
) -> None:
    cases = [text for text, _ in rows(table)]
    elf, result = assemble(
        build, tmp_path, "x86-64", [f"leaq v(%rip), %rax; {text}; movl (%rax), %edx" for text in cases]
    )
    wrong = [text for number, text in enumerate(cases) if describe(elf, result, number) != expected]
    assert not wrong, "\n".join(wrong)


def test_segment_operands_are_counted_and_not_reported(build: Build, tmp_path: Path) -> None:
    _, result = assemble(build, tmp_path, "x86-64", ["movl %fs:v(%rip), %eax; incl %gs:v(%rip)"])
    assert len(result.sites) == 0
    assert result.counts["segment_operands"] == 2


# Instructions that are equal but for where they stand: each is decoded once.
_X86_DISTANCES = """
movl v+{}(%rip), %ecx
movq %rcx, v+{}(%rip)
movzbl v+{}(%rip), %ecx
movb $1, v+{}(%rip)
movw $1, v+{}(%rip)
movl $1, v+{}(%rip)
cmpq $1000, v+{}(%rip)
testb $1, v+{}(%rip)
testl $1000, v+{}(%rip)
imull $1000, v+{}(%rip), %ecx
lock incl v+{}(%rip)
movups v+{}(%rip), %xmm0
pshufd $1, v+{}(%rip), %xmm0
palignr $1, v+{}(%rip), %xmm0
vmovdqu v+{}(%rip), %ymm0
vpshufb v+{}(%rip), %xmm0, %xmm1
vpalignr $1, v+{}(%rip), %xmm0, %xmm1
vmovdqu64 v+{}(%rip), %zmm0
addl v+{}(%rip), %ecx
pushq v+{}(%rip)
"""


def test_equal_instructions_are_told_apart_by_where_they_stand(build: Build, tmp_path: Path) -> None:
    cases = [text for text, _ in rows(_X86_DISTANCES)]
    elf, result = assemble(
        build, tmp_path, "x86-64", ["; ".join(text.format(at) for at in (0, 16, 64, 16)) for text in cases]
    )
    wrong = []
    for number, text in enumerate(cases):
        row = int(np.flatnonzero(elf.plan.functions["address"] == elf.functions[f"f{number}"])[0])
        sites = result.sites[(result.sites["function"] == row) & (result.sites["kind"] != AccessKind.ADDRESS)]
        targets = sites["target"].astype(np.int64)
        if (targets - targets[:1]).tolist() != [0, 16, 64, 16]:
            wrong.append(f"{text}: {targets.tolist()}")
    assert not wrong, "\n".join(wrong)


def test_immediates_and_distances_of_long_instructions_count(build: Build, tmp_path: Path) -> None:
    body = "leaq v(%rip), %rax; movl $1, 4(%rax); movl $1, 200(%rax); movl $0, 4(%rax); movl $2, 200(%rax)"
    elf, result = assemble(build, tmp_path, "x86-64", [body, "call f0; jmp f1", "call f1; addr32 call f0; jmp f0"])
    sites = result.sites[result.sites["kind"] == AccessKind.STORE]
    first = int(sites["target"][0])
    clears = [bool(flags & SiteFlag.CLEARS) for flags in sites["flags"].tolist()]
    assert [int(target) - first for target in sites["target"]] == [0, 196, 0, 196]
    assert clears == [False, False, True, False]
    names = {address: name for name, address in elf.functions.items()}
    assert [names[int(callee)] for callee in result.calls["callee"]] == ["f0", "f1", "f0", "f0"]
