"""Looking up a variable: only the names that were asked for are gathered, with the result of gathering all."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.image import read_images
from linemate.byname import candidates, rows_by_name, split_member
from sharing.model import Image
from sharing.model.image import VariableFlag
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder

NAMES = ("plain", "plain.0", "dotted.name", "shared (mutex)", "waited (condition variable)", "Box::call(int)", "plain2")
RECOVERED = ("shared (mutex)", "waited (condition variable)")


@pytest.fixture
def image(tmp_path: Path) -> Image:
    elf = ElfBuilder(type=b.ET_REL)
    data = elf.section(".data", bytes(640), flags=b.ALLOC | b.WRITE, align=64)
    for number, name in enumerate(NAMES):
        elf.symbol(name, data, 16 * number, 8)
    elf.symbol("zz_alias", data, 0, 8)
    (tmp_path / "names.o").write_bytes(elf.bytes())
    (image,) = read_images(str(tmp_path / "names.o"), types=False, access=False)
    for variable in image.variables:
        if image.names[variable["name"]] in RECOVERED:
            variable["flags"] |= VariableFlag.RECOVERED
    return image


@pytest.mark.parametrize(
    "symbol",
    ["plain", "plain.member", "plain.0", "plain[2].x", "plain+0x4", "dotted.name.x", "shared", "shared (mutex)",
     "waited", "Box::call(int)", "zz_alias", "zz_alias.x", "missing", "plain2", "a.b.c.d.e[1].plain"],
)  # fmt: skip
def test_few_names_find_what_all_names_find(image: Image, symbol: str) -> None:
    few = rows_by_name(image, candidates([symbol]))
    assert split_member(few, symbol) == split_member(rows_by_name(image), symbol)
    assert len(few) <= 3


def test_all_names_are_those_of_the_file(image: Image) -> None:
    assert set(rows_by_name(image)) == {*NAMES, "shared", "waited", "zz_alias"}
