"""Which memory operand came before a sampled instruction, and whether its registers still say where it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sharing.model.arch import machine_named
from sharing.model.attribution import Reason
from sharing.model.image import AccessKind
from sharing.model.operands import Holds, OperandFlag, PointFlag
from tests.attribution.conftest import Snippet

Assemble = Callable[..., Snippet]
AX, CX, DX, DI, SI, SP = 0, 2, 3, 5, 4, 7


def accesses(code: Snippet) -> list[Any]:
    return [o for o in code.operands if not o["flags"] & OperandFlag.IMPLICIT]


def test_the_instruction_before_is_charged(assemble: Assemble) -> None:
    code = assemble("mov 8(%rdi),%rax\nhere: test %rax,%rax\nret", "here")
    before = code.before("here")
    assert (before["base"], before["displacement"], before["size"]) == (DI, 8, 8)
    assert before["kind"] == AccessKind.LOAD
    assert code.at("here") is None


def test_without_memory_before_it_the_sampled_one_is_next(assemble: Assemble) -> None:
    code = assemble("inc %rax\nhere: lock xadd %ecx,(%rdi,%rsi,4)\nret", "here")
    assert code.before("here") is None
    at = code.at("here")
    assert (at["base"], at["index"], at["scale"], at["kind"]) == (DI, SI, 4, AccessKind.RMW)
    assert at["flags"] & OperandFlag.ATOMIC


def test_addresses_in_the_file_are_resolved(assemble: Assemble) -> None:
    code = assemble("addl $1,v+4(%rip)\nhere: ret", "here")
    before = code.before("here")
    assert before["displacement"] == code.symbols["v"] + 4
    assert before["flags"] & OperandFlag.LINK
    assert before["base"] == -1


@pytest.mark.parametrize(
    ("text", "register", "displacement"),
    [
        ("mov (%rdi),%rax\nadd $16,%rdi\nhere: ret", DI, -16),
        ("mov (%rdi),%rax\ninc %rdi\ndec %rdi\nhere: ret", DI, 0),
        ("mov (%rdi),%rax\nlea 24(%rdi),%rdi\nhere: ret", DI, -24),
        ("mov 8(%rsp),%rax\npush %rbx\nhere: ret", SP, 16),
        ("mov 8(%rsp),%rax\npop %rbx\nhere: ret", SP, 0),
        ("mov %rdi,%rcx\nmov (%rdi),%rax\nxor %edi,%edi\nhere: ret", CX, 0),
        ("lea 8(%rdi),%rax\nmov (%rax),%rax\nhere: ret", DI, 8),
    ],
)
def test_constant_steps_and_copies_are_undone(assemble: Assemble, text: str, register: int, displacement: int) -> None:
    code = assemble(text, "here")
    own = accesses(code)
    assert [(o["base"], o["displacement"], o["holds"]) for o in own] == [(register, displacement, Holds.YES)]


@pytest.mark.parametrize(
    "text",
    [
        "mov (%rax),%rax\nhere: ret",
        "mov (%rdi),%rax\nmov (%rsi),%rdi\nhere: ret",
        "mov (%rdi),%rcx\nxor %edi,%edi\nhere: ret",
        "mov (%rcx),%rsi\ncall g@plt\nhere: ret",
        "mov (%rdx),%rsi\ncqo\nhere: ret",
        "mov (%rax),%rsi\nlock cmpxchg %rcx,v(%rip)\nhere: ret",
    ],
)
def test_a_register_that_was_overwritten_is_not_used(assemble: Assemble, text: str) -> None:
    code = assemble(text, "here")
    assert code.operands[0]["holds"] == Holds.OVERWRITTEN


@pytest.mark.parametrize(
    ("text", "register", "displacement"),
    [
        ("movslq %ecx,%rdx\nadd $1,%ecx\nmov (%rdi,%rdx,4),%edx\nhere: ret", CX, -4),
        ("mov %ecx,%edx\nmov (%rdi,%rdx,4),%edx\nlea 2(%rcx),%ecx\nhere: ret", CX, -8),
        ("movslq %eax,%rdx\nmov %rdx,%rcx\nmov (%rdi,%rdx,4),%edx\nhere: ret", CX, 0),  # extended as well
    ],
)
def test_an_int_that_was_extended_for_an_index_still_says_it(
    assemble: Assemble, text: str, register: int, displacement: int
) -> None:
    (at,) = accesses(assemble(text, "here"))
    assert (at["base"], at["index"], at["displacement"], at["holds"]) == (DI, register, displacement, Holds.YES)


@pytest.mark.parametrize(
    "text",
    [
        "movzbl %cl,%edx\nmov (%rdi,%rdx,4),%edx\nhere: ret",  # the rest of the register is anything
        "movslq %ecx,%rdx\nmov (%rdi,%rdx,4),%edx\nadd %eax,%ecx\nhere: ret",
        "lea v(%rip),%rax\nmov %eax,%edx\nmov (%rdi,%rdx,4),%edx\nhere: ret",  # half of an address
    ],
)
def test_a_part_of_a_register_says_no_index(assemble: Assemble, text: str) -> None:
    (at,) = accesses(assemble(text, "here"))
    assert at["holds"] != Holds.YES


def test_aarch64_says_an_index_by_the_int_that_it_was_extended_from(assemble: Assemble) -> None:
    text = "sxtw x3,w2\nadd w2,w2,#1\nldr w3,[x1,x3,lsl #2]\nhere: ret"
    at = assemble(text, "here", architecture="aarch64").before("here")
    assert (at["base"], at["index"], at["displacement"], at["holds"]) == (1, 2, -4, Holds.YES)


def test_a_loop_comes_from_its_branch_rather_than_from_above(assemble: Assemble) -> None:
    code = assemble("mov (%rsi),%rcx\nhere: inc %rax\ncmpq $0,(%rdi)\njne here\nret", "here")
    assert code.before("here")["base"] == DI
    plain = assemble("mov (%rsi),%rcx\nhere: inc %rax\ndec %rcx\njne here\nret", "here")
    assert plain.before("here") is None
    assert plain.point("here")["reason"] == Reason.NONE


RETRY = "mov (%rdi),%rax\nhere: lea 1(%rax),%rcx\nlock cmpxchg %rcx,(%rdi)\n"


@pytest.mark.parametrize(
    ("text", "before"),
    [
        (RETRY + "jne here\nret", DI),
        (RETRY + "jne again\nret\nagain: mov %rax,%rdx\njmp here", DI),
        ("mov (%rdi),%rax\nhere: lea 1(%rax),%rcx\nlock xchg %rcx,(%rdi)\ntest %rcx,%rcx\njne here\nret", None),
        ("mov (%rdi),%rax\nhere: lea 1(%rax),%rcx\ncmpxchg %rcx,(%rdi)\njne here\nret", None),
        (RETRY + "jmp here", None),
    ],
)
def test_a_retry_is_entered_more_often_than_repeated(assemble: Assemble, text: str, before: int | None) -> None:
    """A compare-exchange fails where another thread was quicker; what loops for another reason is repeated."""
    found = assemble(text, "here").before("here")
    assert (found["base"] if found is not None else None) == before


def test_what_a_retry_begins_with_is_seen_from_its_end(assemble: Assemble) -> None:
    code = assemble("mov (%rsi),%rax\nagain: mov (%rdx),%rcx\nlock cmpxchg %rcx,(%rdi)\nhere: jne again\nret", "here")
    assert [one["base"] for one in code.witnesses("here")] == [SI, DX]


def test_ways_that_touch_different_memory_leave_it_open(assemble: Assemble) -> None:
    code = assemble("test %rax,%rax\nje here\nmov (%rdi),%rcx\nhere: inc %rax\nret", "here")
    assert code.point("here")["reason"] == Reason.AMBIGUOUS
    alone = assemble("test %rax,%rax\nje over\nmov (%rdi),%rcx\nhere: inc %rax\nover: ret", "here")
    assert alone.point("here")["reason"] == Reason.NONE
    assert alone.before("here")["base"] == DI


def test_a_loop_that_is_entered_at_its_test_comes_from_its_body(assemble: Assemble) -> None:
    """Compilers jump to the test first: that way is taken once, the one from the body each time around."""
    code = assemble("jmp here\nbody: lock addq $1,(%rsi)\nhere: dec %rax\ntest %rax,%rax\njne body\nret", "here")
    assert code.point("here")["reason"] == Reason.NONE
    assert code.before("here")["base"] == SI


def test_ways_inside_of_one_loop_still_leave_it_open(assemble: Assemble) -> None:
    code = assemble("top: test %rax,%rax\nje here\nmov (%rdi),%rcx\nhere: dec %rax\njne top\nret", "here")
    assert code.point("here")["reason"] == Reason.AMBIGUOUS


def test_calls_returns_and_the_stack_are_charged_with_nothing(assemble: Assemble) -> None:
    code = assemble("start: mov (%rdi),%rax\npush %rbx\npushed: inc %rax\ncall g@plt\nhere: ret", "f", "pushed", "here")
    assert code.at("f")["base"] == DI
    assert code.before("f") is None
    assert code.before("pushed") is None
    assert code.before("here") is None


def test_accesses_of_the_same_run_are_witnesses(assemble: Assemble) -> None:
    text = "mov (%rdi),%rax\nhere: inc %rcx\nmovq $1,8(%rsi)\nje over\nmovq $2,16(%rsi)\nover: ret"
    code = assemble(text, "here")
    assert [(w["base"], w["displacement"], w["kind"]) for w in code.witnesses("here")] == [(SI, 8, AccessKind.STORE)]


def test_futex_calls_are_known_by_their_number(assemble: Assemble) -> None:
    text = "mov $0x81,%esi\nmov $0xca,%eax\nsyscall\nhere: mov $0x27,%eax\nsyscall\nother: ret"
    code = assemble(text, "here", "other")
    assert code.point("here")["flags"] & PointFlag.FUTEX_CALL
    assert code.point("here")["flags"] & PointFlag.WAKES
    assert not code.point("other")["flags"] & PointFlag.FUTEX_CALL


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("mov x1,#0x80\nmov x8,#98\nsvc #0", PointFlag.FUTEX_CALL),  # FUTEX_WAIT, private
        ("mov x1,#0x81\nmov x8,#98\nsvc #0", PointFlag.FUTEX_CALL | PointFlag.WAKES),
        ("movz x1,#1,lsl #16\nmov x8,#98\nsvc #0", PointFlag.FUTEX_CALL),  # no operation that there is
        ("mov x1,#0x81\nmov x8,#99\nsvc #0", 0),
        ("mov x8,#98\nsvc #0\nsvc #0", 0),  # the result of the first call is not known to keep its number's register
    ],
)
def test_futex_calls_of_aarch64(assemble: Assemble, text: str, flags: int) -> None:
    code = assemble(f"{text}\nhere: ret", "here", architecture="aarch64")
    assert code.point("here")["flags"] == PointFlag.DECODED | flags


# What an instruction is to the sample behind it: kind and size, None where memory is not touched.
KINDS = {
    "vmovdqu %ymm0,(%rdi)": (AccessKind.STORE, 32),
    "vmovdqu (%rdi),%ymm0": (AccessKind.LOAD, 32),
    "vmovsd %xmm0,(%rdi)": (AccessKind.STORE, 8),
    "movups %xmm0,(%rdi)": (AccessKind.STORE, 16),
    "movups (%rdi),%xmm0": (AccessKind.LOAD, 16),
    "sete (%rdi)": (AccessKind.STORE, 1),
    "cmpq $0,(%rdi)": (AccessKind.LOAD, 8),
    "notl (%rdi)": (AccessKind.RMW, 4),
    "btsq %rax,(%rdi)": (AccessKind.RMW, 8),
    "xchg %eax,(%rdi)": (AccessKind.RMW, 4),
    "fnstenv (%rdi)": (AccessKind.STORE, 28),
    "divl (%rdi)": (AccessKind.LOAD, 4),
    "call *(%rdi)": None,  # the callee's return came before
    "prefetchw (%rdi)": None,
    "lea (%rdi),%rax": None,
}


def test_kinds_and_sizes(assemble: Assemble) -> None:
    text = "".join(f"{one}\nhere{i}: nop\nret\n" for i, one in enumerate(KINDS))
    code = assemble(text, *(f"here{i}" for i in range(len(KINDS))))
    found = [code.before(f"here{i}") for i in range(len(KINDS))]
    told = [None if one is None else (AccessKind(one["kind"]), int(one["size"])) for one in found]
    assert dict(zip(KINDS, told, strict=True)) == KINDS


def test_of_a_copy_by_string_instruction_the_load_is_charged(assemble: Assemble) -> None:
    code = assemble("movsq\nhere: ret", "here")
    assert (code.before("here")["base"], code.before("here")["displacement"]) == (SI, -8)
    assert [(w["base"], w["displacement"]) for w in code.witnesses("here")] == [(DI, -8)]
    repeated = assemble("rep movsq\nhere: ret", "here").before("here")
    assert (repeated["kind"], repeated["holds"]) == (AccessKind.LOAD, Holds.OVERWRITTEN)


@pytest.mark.parametrize("name", ["x86-64", "aarch64"])
def test_registers_have_the_numbers_of_perf(assemble: Assemble, name: str) -> None:
    machine = machine_named(name)
    assert machine is not None
    assert machine.perf is not None
    plain = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"}
    names = [name for name in machine.perf.operands if name not in ("ip", "flags", "pc")]
    load = {"x86-64": "movq 16(%{}),%xmm0", "aarch64": "ldr d0,[{},#16]"}[name]
    spelled = [f"r{r}" if name == "x86-64" and r in plain else r.replace("lr", "x30") for r in names]
    text = "".join(f"{load.format(one)}\nhere{i}: nop\nret\n" for i, one in enumerate(spelled))
    code = assemble(text, *(f"here{i}" for i in range(len(names))), architecture=name)
    found = {one: int(code.before(f"here{i}")["base"]) for i, one in enumerate(names)}
    assert found == {one: machine.perf.number(one) for one in names}


def test_an_address_inside_an_instruction_is_not_decoded(assemble: Assemble) -> None:
    code = assemble("mov (%rdi),%rax\n.set here, f+1\nret", "here")
    assert code.point("here")["reason"] == Reason.UNDECODED


@pytest.mark.parametrize(
    ("text", "base", "displacement", "size", "kind"),
    [
        ("ldr x0,[x1,#8]!\nhere: ret", 1, 0, 8, AccessKind.LOAD),
        ("ldr w0,[x1],#8\nhere: ret", 1, -8, 4, AccessKind.LOAD),
        ("stp x2,x3,[sp,#16]\nhere: ret", 31, 16, 16, AccessKind.STORE),
        ("ldaxr w0,[x1]\nhere: ret", 1, 0, 4, AccessKind.LOAD),
        ("stlxr w0,w2,[x1]\nhere: ret", 1, 0, 4, AccessKind.RMW),
        ("ldrsb w0,[x1,#3]\nhere: ret", 1, 3, 1, AccessKind.LOAD),
        ("swp x0,x2,[x1]\nhere: ret", 1, 0, 8, AccessKind.RMW),
        ("ld1 {v0.4s,v1.4s},[x1]\nhere: ret", 1, 0, 32, AccessKind.LOAD),
        ("st1 {v0.h}[2],[x1]\nhere: ret", 1, 0, 2, AccessKind.STORE),
    ],
)
def test_aarch64(assemble: Assemble, text: str, base: int, displacement: int, size: int, kind: AccessKind) -> None:
    before = assemble(f".arch armv8-a+lse\n{text}", "here", architecture="aarch64").before("here")
    assert (before["base"], before["displacement"], before["size"]) == (base, displacement, size)
    assert (before["kind"], before["holds"]) == (kind, Holds.YES)


def test_aarch64_pages_are_resolved(assemble: Assemble) -> None:
    text = "adrp x0,v\nadd x0,x0,:lo12:v\nldr x1,[x0]\nhere: ret"
    code = assemble(text, "here", architecture="aarch64")
    assert code.before("here")["holds"] == Holds.YES
    lost = assemble("ldr x0,[x0]\nhere: ret", "here", architecture="aarch64")
    assert lost.before("here")["holds"] == Holds.OVERWRITTEN


# One instruction each, after which ``rdi``, ``x1`` or the like no longer has what the load before used.
OVERWRITING = {
    "x86-64": (
        "mov %rax,%rdi", "movzbl %al,%edi", "lea (%rax,%rcx),%rdi", "add %rax,%rdi", "imul %rax,%rdi",
        "cmove %rax,%rdi", "sete %dil", "pop %rdi", "xchg %rax,%rdi", "xchg %rdi,v(%rip)", "xadd %rdi,v(%rip)",
        "xadd %edi,v(%rip)", "bswap %rdi", "bsf %rax,%rdi", "popcnt %rax,%rdi", "movq %xmm0,%rdi",
        "cvttsd2si %xmm0,%rdi", "shl %cl,%rdi", "mulx %rax,%rdi,%rcx", "mulx %rax,%rcx,%rdi", "andn %rax,%rcx,%rdi",
        "rdrand %rdi", "stosb", "rep movsb", "pmovmskb %xmm0,%edi", "pextrq $1,%xmm0,%rdi", "crc32q %rax,%rdi",
        "lsl %eax,%edi", "mov %fs:0,%rdi",
    ),
    "aarch64": (
        "ldr x1,[x2]", "ldp x3,x1,[x2]", "ldp x1,x3,[x2]", "mov x1,x2", "add x1,x1,x2", "csel x1,x2,x3,eq",
        "cset x1,eq", "mrs x1,tpidr_el0", "fmov x1,d0", "umov w1,v0.s[0]", "ld1 {v0.16b},[x1],x2", "ldxr x1,[x2]",
        "stxr w1,x2,[x3]", "movk x1,#7", "bfi x1,x2,#3,#5", "sxtw x1,w2", "madd x1,x2,x3,x4", "clz x1,x2", "adr x1,.",
        "ldrsw x1,[x2]",
    ),
}  # fmt: skip


def loads_before(assemble: Assemble, architecture: str, texts: tuple[str, ...]) -> dict[str, tuple[int, int, int]]:
    """(holds, base, displacement) of a load before each instruction, as a sample behind that sees it."""
    load = {"x86-64": "mov 4(%rdi),%r15", "aarch64": "ldr x20,[x1,#4]"}[architecture]
    cases = "".join(f"first{i}: {load}\n{text}\nhere{i}: nop\nret\n" for i, text in enumerate(texts))
    header = {"x86-64": "", "aarch64": ".arch armv8.5-a+lse\n"}[architecture]
    code = assemble(header + cases, *(f"here{i}" for i in range(len(texts))), architecture=architecture)
    out = {}
    for i, text in enumerate(texts):
        point = code.point(f"here{i}")
        own = code.operands[point["first"] : point["first"] + point["count"]]
        (one,) = own[own["ip"] == code.symbols[f"first{i}"]]
        out[text] = int(one["holds"]), int(one["base"]), int(one["displacement"])
    return out


@pytest.mark.parametrize("architecture", OVERWRITING)
def test_whatever_writes_a_register_ends_what_it_says(assemble: Assemble, architecture: str) -> None:
    """A register that is missed would give wrong addresses."""
    register = {"x86-64": DI, "aarch64": 1}[architecture]
    found = loads_before(assemble, architecture, OVERWRITING[architecture])
    assert [text for text, one in found.items() if one == (Holds.YES, register, 4)] == []


# The near misses: these read the register, or another one is written.
KEEPING = {
    "x86-64": (
        "test %rdi,%rdi", "cmp %rdi,%rax", "cmp $1,%edi", "bt %rdi,%rax", "push %rdi", "mov %rdi,v(%rip)",
        "lea 8(%rdi,%rax),%rax", "add %rdi,%rax", "imul %rdi,%rax", "mul %rdi", "cqo", "nop (%rdi)",
        "prefetcht0 (%rdi)", "lodsb", "cmove %rdi,%rax", "movq %rdi,%xmm0", "bsf %rdi,%rax", "lock xadd %eax,(%rdi)",
        "vmovdqu %ymm0,(%rdi)", "vptest %xmm0,%xmm1", "kmovq %rdi,%k1", "divq (%rdi)", "cvtsi2sd %rdi,%xmm0",
    ),
    "aarch64": (
        "cmp x1,x2", "tst x1,x2", "cmn x1,#1", "ccmp x1,x2,#0,eq", "str x1,[x2]", "stp x1,x3,[x2]", "add x2,x1,x3",
        "ldr x2,[x1,x3]", "prfm pldl1keep,[x1]", "stxr w2,x1,[x3]", "msr tpidr_el0,x1", "fmov d0,x1", "dc cvau,x1",
        "nop", "dmb ish",
    ),
}  # fmt: skip


@pytest.mark.parametrize("architecture", KEEPING)
def test_what_only_reads_a_register_leaves_it(assemble: Assemble, architecture: str) -> None:
    register = {"x86-64": DI, "aarch64": 1}[architecture]
    found = loads_before(assemble, architecture, KEEPING[architecture])
    assert {text: one for text, one in found.items() if one != (Holds.YES, register, 4)} == {}


@pytest.mark.parametrize(
    "text",
    [
        "mov v(%rip),%ecx\nhere: cmp %ebp,%ecx\njne loop\nret",
        "mov (%rdi),%eax\nhere: test %eax,%eax\nje loop\nret",
        "cmpl $0,v(%rip)\nhere: je loop\nret",
        "pause\nmov v(%rip),%eax\nhere: cmp %esi,%eax\njne loop\nret",
        "mov v(%rip),%rax\nhere: mov %rax,v+4(%rip)\ncmp %rax,%rdx\nje loop\nret",  # keeps what it read
        "mov (%rdi),%eax\nhere: cmp %esi,%eax\nje 2f\ninc %ecx\ncmp $99,%ecx\njl loop\ncall g@plt\n2: ret",
        "mov $1,%cl\nxchg %cl,v(%rip)\nhere: test %cl,%cl\njne loop\nret",
    ],
)
def test_a_load_that_comes_round_until_its_value_changes_waits(assemble: Assemble, text: str) -> None:
    assert assemble(f"loop: {text}", "here").before("here")["flags"] & OperandFlag.SPIN_WAITS


@pytest.mark.parametrize(
    "text",
    [
        "mov (%rdi),%eax\nhere: test %eax,%eax\nje 2f\n2: ret",  # no loop
        "mov (%rdi),%eax\nhere: add $8,%rdi\ntest %eax,%eax\nje loop\nret",  # moves on
        "mov v(%rip),%eax\nhere: add %eax,%ebx\ndec %ecx\njne loop\nret",  # the value decides nothing
        "mov v(%rip),%eax\nhere: test %eax,%eax\nje 2f\naddq $1,v+4(%rip)\njmp loop\n2: ret",  # works on meanwhile
        "mov v(%rip),%eax\nhere: mov %eax,(%rsi)\nadd $4,%rsi\ntest %eax,%eax\nje loop\nret",  # copies
        "mov v(%rip),%eax\nhere: test %eax,%eax\njne 2f\ncall g@plt\njmp loop\n2: ret",  # does something else
        "mov %edx,%eax\nlock cmpxchg %ecx,v(%rip)\nhere: jne loop\nret",  # an update that is tried again
    ],
)
def test_a_load_in_a_loop_that_works_does_not(assemble: Assemble, text: str) -> None:
    assert not assemble(f"loop: {text}", "here").before("here")["flags"] & OperandFlag.SPIN_WAITS


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("lock incl v(%rip)\nhere: ret", False),
        ("addl $1,v(%rip)\nhere: inc %eax\njne loop\nret", False),
        ("lock xadd %eax,v(%rip)\nhere: ret", True),
        ("lock decl v(%rip)\nhere: je loop\nret", True),  # the last reference
        ("lock decl v(%rip)\nhere: sete %al\nret", True),
    ],
)
def test_an_update_says_whether_its_result_is_used(assemble: Assemble, text: str, used: bool) -> None:
    assert bool(assemble(f"loop: {text}", "here").before("here")["flags"] & OperandFlag.USES) is used
