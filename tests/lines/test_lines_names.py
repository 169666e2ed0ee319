"""Looking up a variable: only the names that were asked for are gathered, with the result of gathering all."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.image import read_images
from linemate.byname import by_ending, candidates, rows_by_name, split_member
from linemate.linequery import LinesOptions, lines
from sharing.model import Image
from sharing.model.errors import LinemateError
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


NAMES_OF_GO = {"main.total": [1], "main.inner.total": [2], "crs::Stats::hits": [3], "subtotal": [4], "alias.hits2": [3]}


@pytest.mark.parametrize(
    ("symbol", "found"),
    [
        ("hits", ["crs::Stats::hits"]),
        ("Stats::hits", ["crs::Stats::hits"]),
        ("hits[2].x", ["crs::Stats::hits[2].x"]),
        ("total", ["main.total", "main.inner.total"]),
        ("inner.total", ["main.inner.total"]),
        ("otal", []),
        ("its", []),
        ("main", []),
    ],
)
def test_a_name_is_found_by_its_ending_behind_a_dot_or_two_colons(symbol: str, found: list[str]) -> None:
    assert by_ending(NAMES_OF_GO, symbol) == found


def test_two_names_of_one_variable_are_one() -> None:
    assert by_ending({"a::x": [1], "b.a::x": [1], "c.x": [2]}, "a::x") == ["b.a::x"]
    assert by_ending({"b::a.x": [1], "a.x": [1]}, "x") == ["a.x"]


@pytest.mark.parametrize(("others", "taken"), [((), True), (("c.inner::hits",), False)])
def test_lines_take_the_one_name_that_ends_in_what_was_asked(
    tmp_path: Path, others: tuple[str, ...], taken: bool
) -> None:
    elf = ElfBuilder(type=b.ET_REL)
    data = elf.section(".data", bytes(640), flags=b.ALLOC | b.WRITE, align=64)
    for number, name in enumerate(("main.hits", "main.other", *others)):
        elf.symbol(name, data, 64 * number, 8)
    (path := tmp_path / "names.o").write_bytes(elf.bytes())
    options = LinesOptions(str(path), ("hits",))
    if not taken:
        with pytest.raises(LinemateError, match=r"several names end in 'hits', name one whole: main.hits, c.inner"):
            lines(options)
        return
    (layout,) = lines(options).layouts
    assert layout.notes[0] == "hits is taken for main.hits, the one name that ends in it"
    assert layout.excerpts[0].object is not None
    assert layout.excerpts[0].object.name == "main.hits"
