"""Samples at instructions that access no memory, and the loads that these wait for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from sharing.model.operands import Holds, OperandFlag, Role
from sharing.sampled.attribution.awaited import awaited
from sharing.sampled.attribution.placing import Parts
from tests.attribution.conftest import Snippet

Assemble = Callable[..., Snippet]
AX, CX, DI, SI = 0, 2, 5, 4

# A value that is mixed with what is loaded, each time around.
MIX = """again: mov (%rdi,%rcx,4),%edx
add $1,%rcx
xor %rdx,%rax
here: imul %rsi,%rax
behind: cmp $6,%rcx
jne again
ret"""


def loads(code: Snippet, label: str) -> list[Any]:
    one = code.point(label)
    own = code.operands[one["first"] : one["first"] + one["count"]]
    return [o for o in own if o["role"] == Role.AWAITED]


@pytest.mark.parametrize("label", ["here", "behind"])
def test_what_is_computed_from_a_load_waits_for_it_or_for_what_the_loop_computed_before(
    assemble: Assemble, label: str
) -> None:
    code = assemble(MIX, label)
    (one,) = loads(code, label)
    assert (one["base"], one["index"], one["scale"], one["displacement"]) == (DI, CX, 4, -4)
    assert (one["holds"], code.point(label)["others"]) == (Holds.YES, 1)


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("mov 8(%rdi),%rax\nadd $1,%rax\nhere: ret", 0),
        ("mov 8(%rdi),%rax\nlea 4(%rax,%rsi),%rdx\nhere: ret", 0),  # an argument is there from the beginning
        ("mov 8(%rdi),%rax\ntest %rax,%rax\njne over\nhere: nop\nover: ret", 0),  # the branch needs what is tested
        ("push %rdi\ncall g@plt\npop %rdi\nmov 8(%rdi),%rdx\nadd %rax,%rdx\nhere: ret", 1),  # or for the callee
        ("test %rsi,%rsi\nje over\nmov $1,%ecx\nover: mov 8(%rdi),%rdx\nadd %rcx,%rdx\nhere: ret", 1),  # either way
        # Loaded at the end of a round, needed in the next.
        ("again: imul %rax,%rcx\nhere: add $1,%rsi\nmov 8(%rdi),%rax\ndec %edx\njne again\nret", 1),
        ("jmp test\nbody: mov 8(%rdi),%rcx\ntest: add $1,%rcx\nhere: cmp %rcx,%rsi\njne body\nret", 0),
    ],
)
def test_registers_are_followed_back(assemble: Assemble, text: str, others: int) -> None:
    code = assemble(text, "here")
    assert [(o["base"], o["displacement"], o["holds"]) for o in loads(code, "here")] == [(DI, 8, Holds.YES)]
    assert code.point("here")["others"] == others


@pytest.mark.parametrize(
    "text",
    [
        "mov (%rdi),%rax\nhere: add $1,%rax\nret",  # the load itself came before
        "mov (%rdi),%rax\nadd $1,%rcx\nhere: ret",  # needs another register
        "mov (%rdi),%rax\nmov $1,%eax\nadd $1,%rax\nhere: ret",  # set anew
        "mov (%rdi),%rax\nxor %eax,%eax\nadd $1,%rax\nhere: ret",
        "mov (%rdi),%rax\ncall g@plt\nadd $1,%rax\nhere: ret",
        "again: imul %rsi,%rax\nadd %rcx,%rax\nhere: dec %edx\njne again\nret",  # no load at all
        "again: mov (%rdi,%rdx,8),%rcx\nmov %rcx,(%rsi)\nadd $1,%rdx\nhere: cmp $9,%rdx\njne again\nret",  # the counter
        "mov (%rdi),%rax\nadd $1,%rax\nhere: mov (%rsi),%rcx\nret",  # an access of its own
        "mov (%rdi),%rax\n" + "add 8(%rdi),%rax\n" * 4 + "neg %rax\nhere: ret",  # too many
        "pop %rax\nadd $1,%rax\nhere: ret",  # the thread's own stack
    ],
)
def test_what_does_not_wait_for_a_load_is_not_its(assemble: Assemble, text: str) -> None:
    assert loads(assemble(text, "here"), "here") == []


def test_an_address_that_was_overwritten_since_is_not_known(assemble: Assemble) -> None:
    (one,) = loads(assemble("mov (%rax),%rax\nadd $1,%rax\nhere: ret", "here"), "here")
    assert one["holds"] == Holds.OVERWRITTEN


def test_a_loop_that_only_waits_is_known_behind_its_load(assemble: Assemble) -> None:
    code = assemble("again: mov (%rdi),%eax\npause\ntest %eax,%eax\nhere: je again\nret", "here")
    assert [bool(o["flags"] & OperandFlag.SPIN_WAITS) for o in loads(code, "here")] == [True]


def test_aarch64(assemble: Assemble) -> None:
    text = "ldr x3,[x1,#8]\nadd x4,x3,#1\nhere: ret"
    assert [(o["base"], o["displacement"]) for o in loads(assemble(text, "here", architecture="aarch64"), "here")] == [
        (1, 8)
    ]


def placed(code: Snippet, samples: Sequence[tuple[str, int]]) -> list[tuple[int, int]]:
    """(sample, address) of samples at (label, thread), whose registers are all 64 times their number."""

    class Registers:
        any = True

        def read(
            self, rows: npt.NDArray[Any], bits: npt.NDArray[Any], *, at: npt.NDArray[Any]
        ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
            return np.where(bits < 0, 0, 64 * bits.astype(np.int64)).astype(np.uint64), np.ones(len(bits), np.bool_)

    points = np.array([code.asked.index(label) for label, _ in samples])
    parts = SimpleNamespace(
        samples=SimpleNamespace(samples=np.zeros(len(samples), [("event", "<i4"), ("flags", "u1")]), events=()),
        keys=SimpleNamespace(of_samples=lambda rows: (points, np.zeros(len(rows), np.uint64))),
        processes=SimpleNamespace(thread_rows=lambda rows: np.array([t for _, t in samples])[: len(rows)]),
        registers=Registers(),
        code=SimpleNamespace(
            points=code.points,
            operands=code.operands,
            site=np.zeros(len(code.operands), np.uint64),
            rows=lambda key: key,
        ),
    )
    shares = list(awaited(cast(Parts, parts), np.arange(len(samples))))
    return [
        (int(sample), int(place))
        for found, _, addresses in shares
        for sample, place in zip(found, addresses, strict=True)
    ]


def test_candidates_get_the_samples_of_a_thread_in_turns(assemble: Assemble) -> None:
    """Two candidates: half of the samples stay at no access, and the first does always."""
    code = assemble("call g@plt\nmov 8(%rdi),%rdx\nadd %rax,%rdx\nhere: ret", "here")
    there = 64 * DI + 8
    assert placed(code, [("here", 0)]) == []
    assert placed(code, [("here", 0), ("here", 1), ("here", 0), ("here", 0), ("here", 0)]) == [(2, there), (4, there)]


def test_two_loads_share_the_samples(assemble: Assemble) -> None:
    code = assemble("mov 8(%rdi),%rdx\nmov 16(%rsi),%rax\nadd %rax,%rdx\nhere: ret", "here")
    assert placed(code, [("here", 0)] * 4) == [
        (0, 64 * DI + 8),
        (1, 64 * SI + 16),
        (2, 64 * DI + 8),
        (3, 64 * SI + 16),
    ]
