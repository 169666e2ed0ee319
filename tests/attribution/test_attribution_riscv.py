"""Operands at and around sampled instructions of RISC-V, in perf's registers (pc 0, ra 1, sp 2, … as x1 to x31)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sharing.model.image import AccessKind
from sharing.model.operands import Holds, OperandFlag, PointFlag, Segment
from tests.attribution.conftest import Snippet

Assemble = Callable[..., Snippet]
SP, A0, A1, A5 = 2, 10, 11, 15
LOAD, STORE, RMW = AccessKind.LOAD, AccessKind.STORE, AccessKind.RMW


@pytest.mark.parametrize(
    ("text", "base", "displacement", "size", "kind"),
    [
        ("ld a1,8(a0)", A0, 8, 8, LOAD),
        ("lbu a1,-3(a0)", A0, -3, 1, LOAD),
        ("c.sw a1,4(a0)", A0, 4, 4, STORE),
        ("sd a1,16(sp)", SP, 16, 8, STORE),
        ("fsd fa0,8(a0)", A0, 8, 8, STORE),
        ("amoadd.w a1,a2,(a0)", A0, 0, 4, RMW),
        ("sc.d a1,a2,(a0)", A0, 0, 8, RMW),
        ("ld a1,8(a0)\naddi a0,a0,16", A0, -8, 8, LOAD),
        ("ld a1,8(a0)\nmv a5,a0\nli a0,0", A5, 8, 8, LOAD),
        ("addi a0,a1,24\nlw a0,4(a0)", A1, 28, 4, LOAD),
    ],
)
def test_the_place_of_an_access_in_the_registers_at_the_sample(
    assemble: Assemble, text: str, base: int, displacement: int, size: int, kind: AccessKind
) -> None:
    code = assemble(f"{text}\nhere: ret", "here", architecture="riscv64")
    found = [row for row in code.operands if row["holds"] == Holds.YES]
    assert [(r["base"], r["displacement"], r["size"], r["kind"]) for r in found] == [(base, displacement, size, kind)]


def test_a_pair_that_makes_an_address_is_resolved(assemble: Assemble) -> None:
    code = assemble("lla a0,v\nlw a1,4(a0)\nhere: ret", "here", architecture="riscv64")
    before = code.before("here")
    assert before["flags"] & OperandFlag.LINK or before["base"] == A0
    alone = assemble("lla a0,v\nld a0,(a0)\nhere: ret", "here", architecture="riscv64").before("here")
    assert alone["flags"] & OperandFlag.LINK
    assert (alone["base"], alone["displacement"]) == (-1, code.symbols["v"])


@pytest.mark.parametrize("text", ["ld a0,(a0)", "ld a1,(a0)\nand a0,a0,a2", "ld a1,(a0)\ncall g@plt"])
def test_a_register_that_was_overwritten_is_not_used(assemble: Assemble, text: str) -> None:
    code = assemble(f"{text}\nhere: ret", "here", architecture="riscv64")
    assert code.operands[0]["holds"] == Holds.OVERWRITTEN


def test_thread_local_storage_is_the_threads_own(assemble: Assemble) -> None:
    code = assemble("lw a1,8(tp)\nhere: ret", "here", architecture="riscv64")
    assert (code.before("here")["segment"], code.before("here")["displacement"]) == (Segment.FS, 8)


def test_a_loop_that_only_waits_is_known(assemble: Assemble) -> None:
    waits = assemble("wait: lw a1,(a0)\nhere: beqz a1,wait\nret", "here", architecture="riscv64")
    assert waits.before("here")["flags"] & OperandFlag.SPIN_WAITS
    works = assemble("wait: lw a1,(a0)\nhere: lw a3,(a2)\nbeqz a1,wait\nret", "here", architecture="riscv64")
    assert works.before("here")["base"] == A0
    assert not works.before("here")["flags"] & OperandFlag.SPIN_WAITS


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("li a1,0x80\nli a7,98\necall", PointFlag.FUTEX_CALL),
        ("li a1,0x81\nli a7,98\necall", PointFlag.FUTEX_CALL | PointFlag.WAKES),
        ("li a1,0x81\nli a7,99\necall", 0),
        ("li a7,98\nmv a7,a2\necall", 0),
    ],
)
def test_futex_calls(assemble: Assemble, text: str, flags: int) -> None:
    code = assemble(f"{text}\nhere: ret", "here", architecture="riscv64")
    assert code.point("here")["flags"] == PointFlag.DECODED | flags
