"""The objects that threads are started with: which function they run, told by the table that an object begins with."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sharing.model import FunctionFlag, Image
from sharing.model.image import WORD_DTYPE
from sharing.static.startobjects import _method
from tests.builders.image import Builder

TABLE, SLOT = 0x40000, 2
STEP = 24 << 64  # an element of an array: of the next round so many bytes further


@pytest.fixture
def image() -> Image:
    """One table, whose third word is ``run``."""
    b = Builder()
    b.function("main")
    b.function("run", FunctionFlag.ADDRESS_TAKEN)
    made = b.image()
    words = np.zeros(1, WORD_DTYPE)
    words["slot"], words["value"] = TABLE + SLOT * 8, made.functions["address"][1]
    return dataclasses.replace(made, code_words=words)


@pytest.mark.parametrize(
    ("begins", "row"),
    [
        ({TABLE}, 1),
        ({TABLE + 8}, -1),
        ({TABLE + STEP}, -1),
        ({TABLE + STEP, TABLE}, 1),
        ({2**64 - 8}, -1),  # whatever an object begins with in a file of somebody else
        (set(), -1),
    ],
)
def test_a_method_is_found_by_its_word_in_the_table(image: Image, begins: set[int], row: int) -> None:
    methods = {int(image.functions["address"][1]): SLOT}
    assert _method(image, begins, methods) == row
