"""Pointers that code without optimization loads over themselves: known from other samples in the same frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from sharing.model.attribution import Reason
from sharing.model.image import AccessKind
from sharing.model.operands import OPERAND_DTYPE, ORIGIN_DTYPE, POINT_DTYPE, Holds, WordSet
from sharing.model.samples import SAMPLE_DTYPE
from sharing.sampled import numbers
from sharing.sampled.attribution.carried import carried
from sharing.sampled.attribution.placing import Parts
from sharing.sampled.attribution.sampledcode import Skid
from tests.attribution.conftest import Snippet

Assemble = Callable[..., Snippet]
AX, BP = 0, 6
FRAME, OBJECT = 0x7FFF0000, 0x5000

# What gcc makes of `p->out++` at -O0: the first access has its base overwritten, the second has not.
LOOP = """push %rbp
mov %rsp,%rbp
{set}
again: mov -8(%rbp),%rax
{between}
mov 8(%rax),%rax
lost: lea 1(%rax),%rdx
mov -8(%rbp),%rax
told: mov %rdx,8(%rax)
{each}
dec %rcx
jne again
pop %rbp
ret"""
SET = "mov %rdi,-8(%rbp)"

Sample = tuple[str, int, Mapping[int, int]]  # where, on which thread, registers, and words of its stack by address


def found(code: Snippet, samples: Sequence[Sample]) -> list[tuple[int, int]]:
    """(sample, address) of those that others tell."""

    class Registers:
        any = True

        def read(
            self, rows: npt.NDArray[Any], bits: npt.NDArray[Any], *, at: npt.NDArray[Any]
        ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
            values = [samples[int(row)][2].get(int(bit), -1) for row, bit in zip(at, bits, strict=True)]
            known = np.array([value >= 0 or bit < 0 for value, bit in zip(values, bits, strict=True)], np.bool_)
            return np.array([max(value, 0) for value in values], np.uint64), known

        def read_stack(
            self, rows: npt.NDArray[Any], address: npt.NDArray[np.uint64], at: npt.NDArray[Any]
        ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
            return self.read(rows, address.astype(np.int64), at=at)

    points = [code.asked.index(label) for label, _, _ in samples]
    charged = np.where(code.points["before"] >= 0, code.points["before"], code.points["at"])
    table = SimpleNamespace(
        points=code.points,
        operands=code.operands,
        charged=np.tile(charged, (len(Skid), 1)),
        site=np.zeros(len(code.operands), np.uint64),
        file=np.zeros(len(code.points), np.int32),
        rows=lambda key: key,
    )
    parts = SimpleNamespace(
        samples=SimpleNamespace(samples=np.zeros(len(samples), SAMPLE_DTYPE), events=()),
        keys=SimpleNamespace(of_samples=lambda rows: (np.array(points), np.zeros(len(rows), np.uint64))),
        processes=SimpleNamespace(thread_rows=lambda rows: np.array([thread for _, thread, _ in samples])),
        files=SimpleNamespace(files=[SimpleNamespace(read_origins=code.origins_at)]),
        registers=Registers(),
        code=table,
    )
    holds = code.operands["holds"][charged[points]]
    reason = np.where(holds == Holds.OVERWRITTEN, int(Reason.OVERWRITTEN), int(Reason.NONE))
    sample, address = carried(cast(Parts, parts), reason)
    return list(zip(sample.tolist(), address.tolist(), strict=True))


def two_accesses(*, kept: WordSet = WordSet.ONCE) -> Snippet:
    """What is read of two accesses through one pointer: the first has its register overwritten."""
    points, operands = np.zeros(2, POINT_DTYPE), np.zeros(2, OPERAND_DTYPE)
    points["ip"], points["before"], points["first"], points["count"] = (1, 2), (0, 1), (0, 1), 1
    operands["ip"], operands["displacement"], operands["base"], operands["index"] = (1, 2), 8, (-1, AX), -1
    operands["holds"], operands["point"], operands["kind"] = (Holds.OVERWRITTEN, Holds.YES), (0, 1), AccessKind.LOAD

    def origins_at(ips: npt.NDArray[np.uint64]) -> npt.NDArray[Any]:
        pairs = [((ip, 8, i, -1, AX, 0, 0, 0, 0), (0, -8, i, 2 * i, BP, 0, kept, 0, 0)) for i, ip in enumerate(ips)]
        return np.array([row for pair in pairs for row in pair], ORIGIN_DTYPE)

    return Snippet({}, points, operands, ("lost", "told"), origins_at)


def told(thread: int = 1, pointer: int = OBJECT, frame: int = FRAME) -> Sample:
    return "told", thread, {AX: pointer, BP: frame}


def lost(thread: int = 1, frame: int = FRAME) -> Sample:
    return "lost", thread, {AX: 7, BP: frame}


@pytest.fixture
def loop(assemble: Assemble) -> Callable[..., Snippet]:
    def run(*more: str, set_by: str = SET, each: str = "nop", between: str = "nop") -> Snippet:
        return assemble(LOOP.format(set=set_by, each=each, between=between), "lost", "told", *more)

    return run


def test_what_others_in_the_frame_held_says_where_the_access_was(loop: Callable[..., Snippet]) -> None:
    assert found(loop(), [told(), lost(), told(), told()]) == [(1, OBJECT + 8)]


@pytest.mark.parametrize(
    "others",
    [
        [told(), told()],
        [told(2), told(2), told(2)],
        [told(frame=FRAME - 64)] * 3,
        [told(), told(), told(), told(pointer=OBJECT + 64)],
    ],
    ids=["too few", "another thread", "another frame", "another pointer in between"],
)
def test_what_does_not_tell_for_sure_does_not_tell(loop: Callable[..., Snippet], others: list[Sample]) -> None:
    assert found(loop(), [lost(), *others]) == []


def test_a_pointer_that_moves_on_is_not_carried(loop: Callable[..., Snippet]) -> None:
    samples = [lost(), told(), told(), told()]
    assert found(loop(each="mov %rdx,-8(%rbp)"), samples) == [], "set again in the loop"
    assert found(loop(set_by="nop", each=SET), samples) == [], "set once, each time around"


def test_a_pointer_that_a_loop_sets_is_carried_where_many_samples_agree(loop: Callable[..., Snippet]) -> None:
    again = loop(set_by="nop", each=SET)
    assert found(again, [lost(), *[told()] * 16]) == [(0, OBJECT + 8)]
    assert found(again, [lost(), *[told()] * 16, told(pointer=OBJECT + 64)]) == []


def test_where_ways_meet_nobody_knows_which_access_came_before(loop: Callable[..., Snippet]) -> None:
    meeting = loop("meet", each="jne meet\nmov -8(%rbp),%rax\nmov %rdx,8(%rax)\nmeet: nop")
    by_the_branch: Sample = "meet", 1, {AX: 7, BP: FRAME}
    assert found(meeting, [lost(), by_the_branch, told(), told(), told()]) == [(0, OBJECT + 8)]


def with_stack(*, place: int = FRAME - 8) -> Sample:
    return "lost", 1, {AX: 7, BP: FRAME, place: OBJECT}


@pytest.mark.parametrize("each", ["nop", "mov %rdx,-8(%rbp)"], ids=["set once", "set again in the loop"])
def test_a_copy_of_the_stack_has_the_pointer_itself(loop: Callable[..., Snippet], each: str) -> None:
    assert found(loop(each=each), [with_stack()]) == [(0, OBJECT + 8)]
    assert found(loop(each=each), [with_stack(place=FRAME - 16)]) == [], "the copy does not reach there"


@pytest.mark.parametrize(
    "between",
    ["mov %rdx,-8(%rbp)", "movb $0,-5(%rbp)", "call f", "lea 8(%rbp),%rbp", "jmp over\nover: nop"],
    ids=["stored to", "a byte of it", "a call", "another frame", "other ways lead there"],
)
def test_what_the_access_may_have_changed_since_is_not_taken(loop: Callable[..., Snippet], between: str) -> None:
    assert found(loop(between=between), [with_stack()]) == []
    assert found(loop(between="mov %rdx,-16(%rbp)"), [with_stack()]) == [(0, OBJECT + 8)], "its neighbour"


# `mine->in += n; mine->out++` at -O0: each access loads the pointer anew from where it is for good.
ELSEWHERE = """again: mov {place},%rax
mov 8(%rax),%rax
lost: lea 1(%rax),%rdx
mov {place},%rax
told: mov %rdx,8(%rax)
dec %rcx
jne again
ret"""


@pytest.mark.parametrize("place", ["%fs:0xfffffffffffffff8", "0x100(%rip)"], ids=["thread-local", "static"])
def test_a_pointer_that_is_in_no_frame_is_carried_too(assemble: Assemble, place: str) -> None:
    text = ELSEWHERE.format(place=place)
    if "rip" in place:  # both name one word
        text = text.replace("0x100(%rip)", "word(%rip)") + "\n.balign 8\nword: .quad 0"
    code = assemble(text, "lost", "told")
    others = [told()] * numbers.MIN_REPEATED
    assert found(code, [lost(), *others]) == [(0, OBJECT + 8)]
    assert found(code, [lost(frame=FRAME - 64), *others]) == [(0, OBJECT + 8)], "wherever its frame is"
    assert found(code, [lost(), *others[1:]]) == [], "other code may set it"
    assert found(code, [lost(2), *others]) == [], "another thread's"
    assert found(code, [lost(), *others, told(pointer=OBJECT + 64)]) == [], "it was set"


def test_the_other_segment_is_no_storage_of_the_thread(assemble: Assemble) -> None:
    code = assemble(ELSEWHERE.format(place="%gs:8"), "lost", "told")
    assert found(code, [lost(), *[told()] * numbers.MIN_REPEATED]) == []
