"""Two programs are not compared: where hardly anything is in both, that is the whole answer."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from linemate.commands.explain import exit_code
from sharing.explain import numbers
from sharing.explain.causes.base import program_of
from sharing.explain.compare import ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model.comparison import CauseKind, Comparison
from sharing.model.image import FUNCTION_DTYPE, Image
from tests.explain.layouts import Var, laid

SHARED = [f"both_{number}" for number in range(20)]


def program(prefix: str, shared: int, imports: set[str]) -> Image:
    """Twenty functions and twenty variables, of which ``shared`` have the names that other programs' have."""
    names = [*SHARED[:shared], *(f"{prefix}_{number}" for number in range(20 - shared))]
    image = laid({".bss": [Var(name) for name in names]}, path=prefix)
    functions = np.zeros(20, FUNCTION_DTYPE)
    functions["address"], functions["size"] = 0x1000 + 0x10 * np.arange(20), 0x10
    functions["name"], functions["section"] = len(image.names) + np.arange(20), -1
    return dataclasses.replace(
        image,
        names=[*image.names, *(f"run_{name}" for name in names)],
        functions=functions,
        imports=frozenset(imports),
    )


def compared(shared: int, imports: set[str]) -> Comparison:
    one = program("old", shared, {"malloc", "free", "printf@GLIBC_2.2.5", "select"})
    return explain(one, program("new", shared, imports), default_knowledge(), ExplainOptions())


OTHERS = {"malloc", "epoll_wait", "pthread_create", "accept4", "sendmsg"}


def test_two_programs_are_said_to_be_two_and_nothing_else_is_said() -> None:
    found = compared(1, OTHERS)
    assert [cause.kind for cause in found.causes] == [CauseKind.NONE]
    assert found.causes[0].summary == (
        "these are no builds of one program: 1 of 20 functions, 1 of 20 variables and 1 of 8 imports are in both; "
        "nothing is compared"
    )
    assert (found.findings, found.changes, found.runs, found.ruled_out) == ((), (), (), ())


@pytest.mark.parametrize(
    ("shared", "imports"),
    [
        pytest.param(4, OTHERS, id="with functions and variables in both"),
        pytest.param(1, {"malloc", "free", "__printf_chk@GLIBC_2.3.4"}, id="with the same imports"),
        pytest.param(1, set(), id="without imports"),
    ],
)
def test_what_may_be_one_program_is_compared(shared: int, imports: set[str]) -> None:
    found = compared(shared, imports)
    assert "no builds of one program" not in found.causes[0].summary


@pytest.mark.parametrize(("name", "value"), [("OTHER_PROGRAM", 0.04), ("OTHER_IMPORTS", 0.1)])
def test_each_limit_decides(monkeypatch: pytest.MonkeyPatch, name: str, value: float) -> None:
    monkeypatch.setattr(numbers, name, value)
    assert "no builds of one program" not in compared(1, OTHERS).causes[0].summary


def test_a_gate_does_not_pass_with_another_program() -> None:
    assert exit_code(compared(1, OTHERS), None) == 3
    assert exit_code(compared(20, {"malloc", "free", "printf@GLIBC_2.2.5", "select"}), None) == 0


@pytest.mark.parametrize(
    ("path", "ran"),
    [("new", "./new"), ("bin/new", "bin/new"), ("/my builds/new", "'/my builds/new'"), ("lib.so", "PROGRAM (one")],
)
def test_a_program_in_the_working_folder_is_run_from_there(path: str, ran: str) -> None:
    """A shell looks for a bare name in $PATH alone, and parts words at blanks."""
    assert program_of(dataclasses.replace(program("old", 3, set()), path=path)).startswith(ran)
