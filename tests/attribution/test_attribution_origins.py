"""Where the address of an access comes from: registers, the words that were loaded on the way, steps and sums."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sharing.model.operands import Chosen
from tests.attribution.conftest import Snippet

Assemble = Callable[..., Snippet]
AX, CX, DX, SI, DI, BP, SP = 0, 2, 3, 4, 5, 6, 7
EXACT, INDEXED = False, True


def test_an_address_is_followed_through_copies_and_loads(assemble: Assemble) -> None:
    code = assemble("mov 16(%rdi),%rax\nlea 8(%rax),%rcx\nhere: incq 4(%rcx)\nret", "here")
    assert code.origins() == [(-1, CX, 4, EXACT), (-1, AX, 12, EXACT), (1, DI, 16, EXACT)]


def test_a_word_of_the_file_is_named_by_its_address(assemble: Assemble) -> None:
    code = assemble("mov v(%rip),%rax\nhere: incq 8(%rax)\nret", "here")
    assert code.origins() == [(-1, AX, 8, EXACT), (0, -1, code.symbols["v"], EXACT)]


def test_what_was_set_before_a_loop_holds_in_it(assemble: Assemble) -> None:
    code = assemble("mov (%rdi),%rax\nagain: nop\nhere: incq (%rax)\ndec %rsi\njne again\nret", "here")
    assert code.origins() == [(-1, AX, 0, EXACT), (0, DI, 0, EXACT)]


def test_a_pointer_that_a_loop_moves_on_is_at_some_element(assemble: Assemble) -> None:
    loop = "mov (%rdi),%rax\nhere: incq 8(%rax)\nadd $16,%rax\ndec %rsi\njne here\nret"
    assert assemble(loop, "here").origins() == [(-1, AX, 8, INDEXED), (0, DI, 0, EXACT)]
    inside = "again: mov (%rdi),%rax\nadd $16,%rax\nhere: incq 8(%rax)\ndec %rsi\njne again\nret"
    assert assemble(inside, "here").origins() == [(-1, AX, 8, EXACT), (-1, AX, 24, EXACT), (1, DI, 0, EXACT)]


def test_an_index_leaves_the_element_open(assemble: Assemble) -> None:
    code = assemble("mov (%rdi),%rax\nhere: incq 8(%rax,%rsi,8)\nret", "here")
    assert code.origins() == [(-1, AX, 8, INDEXED), (0, DI, 0, EXACT)]


def test_of_a_sum_either_part_may_be_the_pointer(assemble: Assemble) -> None:
    code = assemble("shl $6,%rsi\nadd %rdi,%rsi\nhere: incq 8(%rsi)\nret", "here")
    assert (-1, DI, 8, INDEXED) in code.origins()


def test_a_register_that_two_ways_set_is_followed_to_both(assemble: Assemble) -> None:
    text = "test %rsi,%rsi\nje other\nmov (%rdi),%rax\njmp here\nother: mov (%rdx),%rax\nhere: incq (%rax)\nret"
    assert assemble(text, "here").origins() == [(-1, AX, 0, EXACT), (0, DX, 0, EXACT), (0, DI, 0, EXACT)]


def test_a_register_that_many_ways_set_is_not_followed(assemble: Assemble) -> None:
    ways = "".join(f"cmp ${n},%rsi\nje way{n}\n" for n in range(5)) + "ret\n"
    ways += "".join(f"way{n}: mov {8 * n}(%rdi),%rax\njmp here\n" for n in range(5))
    assert assemble(f"{ways}here: incq (%rax)\nret", "here").origins() == [(-1, AX, 0, EXACT)]


@pytest.mark.parametrize(("stores", "followed"), [(1, True), (2, False)])
def test_a_variable_in_the_frame_that_is_set_once_is_followed(assemble: Assemble, stores: int, followed: bool) -> None:
    kept = "mov %rdi,-8(%rbp)\n" * stores
    code = assemble(f"push %rbp\nmov %rsp,%rbp\n{kept}mov -8(%rbp),%rax\nhere: incq 8(%rax)\npop %rbp\nret", "here")
    assert (0, BP, -8, EXACT) in code.origins()
    assert ((-1, DI, 8, EXACT) in code.origins()) is followed


def test_other_architectures_have_their_pairs(assemble: Assemble) -> None:
    text = "ldp x2, x3, [x0, #16]\nhere: str xzr, [x3, #8]\nret"
    assert assemble(text, "here", architecture="aarch64").origins() == [(-1, 3, 8, EXACT), (0, 0, 24, EXACT)]
    text = "ld a5, 16(a0)\nhere: sd zero, 8(a5)\nret"
    assert assemble(text, "here", architecture="riscv64").origins() == [(-1, 15, 8, EXACT), (0, 10, 16, EXACT)]


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("xor %eax,%eax\nhere: incq (%rdi,%rax,8)\ninc %rax\ncmp %rsi,%rax\njne here\nret", Chosen.WALKS),
        (
            "again: lea (%rax,%rdx,4),%rcx\nhere: incq (%rdi,%rcx,8)\ninc %rax\ncmp %rsi,%rax\njne again\nret",
            Chosen.WALKS,
        ),
        ("here: incq (%rdi,%rax,8)\nadd %rdx,%rax\ncmp %rsi,%rax\njne here\nret", Chosen.WALKS),
        ("again: mov %rax,%rcx\nand $7,%ecx\nhere: incq (%rdi,%rcx,8)\ninc %rax\njne again\nret", Chosen.SOMEHOW),
        ("imul $1664525,%eax,%eax\nadd $1013904223,%eax\nhere: incq (%rdi,%rax,8)\nret", Chosen.SOMEHOW),
        ("here: incq 8(%rdi)\nret", Chosen.NOT),
    ],
    ids=["counter", "row and counter", "in turns", "ring", "generator", "one place"],
)
def test_a_loop_that_goes_from_element_to_element_is_told_from_a_choice(
    assemble: Assemble, text: str, chosen: Chosen
) -> None:
    assert assemble(text, "here").chosen() == (chosen, [])


def test_the_word_is_known_that_the_number_of_an_element_is_loaded_from(assemble: Assemble) -> None:
    text = "movslq 12(%rsi),%rax\nadd $1,%rax\nshl $2,%rax\nhere: incq (%rdi,%rax,8)\nret"
    assert assemble(text, "here").chosen() == (Chosen.SOMEHOW, [12])
    masked = "mov 12(%rsi),%eax\nand $7,%eax\nhere: incq (%rdi,%rax,8)\nret"
    assert assemble(masked, "here").chosen() == (Chosen.SOMEHOW, [])
