"""The symbol table of a separate debug file names what the stripped program does not, with and without DWARF in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.model import Image
from sharing.model.errors import Malformed

SOURCE = """
static volatile long hidden_total[8];
volatile long *address = hidden_total;
__attribute__((noinline)) static void hidden_work(int n) { hidden_total[n] += n; }
int main(int argc, char **argv) { hidden_work(argc & 7); return (int)hidden_total[1]; }
"""


@pytest.fixture(scope="module")
def split(
    run: Callable[..., str], build: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """The program whole and stripped; debug files with lines alone, with symbols alone, with neither, of another."""
    folder = tmp_path_factory.mktemp("symbols")
    whole = build("gcc", "c", SOURCE, "-Wl,--build-id", "-g1")
    other = build("gcc", "c", SOURCE.replace("hidden", "other"), "-Wl,--build-id", "-g1")
    run("objcopy", "--only-keep-debug", whole, folder / "lines")
    run("objcopy", "--only-keep-debug", other, folder / "other")
    run("strip", "-g", "-o", folder / "symbols", whole)
    run("strip", "-o", folder / "stripped", whole)
    return {"whole": whole} | {name: folder / name for name in ("lines", "other", "symbols", "stripped")}


def image_of(split: dict[str, Path], debug: str | None) -> Image:
    (image,) = read_images(str(split["stripped"]), debug_file=str(split[debug]) if debug else None)
    return image


def names(image: Image) -> dict[str, tuple[int, int, int]]:
    rows = image.variables
    return {
        image.names[int(row["name"])]: (int(row["address"]), int(row["size"]), int(row["section"]))
        for row in rows
        if int(row["name"]) >= 0
    }


@pytest.mark.parametrize("debug", ["lines", "symbols"])
def test_variables_and_functions_are_those_of_the_file_before_it_was_stripped(
    split: dict[str, Path], debug: str
) -> None:
    (whole,) = read_images(str(split["whole"]))
    image = image_of(split, debug)
    assert names(image)["hidden_total"] == names(whole)["hidden_total"]
    assert names(image) == names(whole)
    functions = {image.names[int(row["name"])] for row in image.functions if int(row["name"]) >= 0}
    assert {"hidden_work", "main"} <= functions
    alone = "has no debug information: its symbols alone are used"
    assert any(alone in note for note in image.notes) == (debug == "symbols")
    assert bool(image.debug_source) == (debug == "lines")


def test_without_one_the_names_are_not_known(split: dict[str, Path]) -> None:
    assert "hidden_total" not in names(image_of(split, None))


@pytest.mark.parametrize(
    ("debug", "why"),
    [("other", "belongs to another binary"), ("stripped", "has neither debug information nor symbols")],
)
def test_a_file_that_names_nothing_of_it_is_refused(split: dict[str, Path], debug: str, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        image_of(split, debug)


def test_a_damaged_table_costs_its_names_alone(split: dict[str, Path], tmp_path: Path) -> None:
    data = bytearray(split["symbols"].read_bytes())
    headers = int.from_bytes(data[0x28:0x30], "little")
    for at in range(headers, len(data) - 63, 64):
        if int.from_bytes(data[at + 4 : at + 8], "little") == 2:  # SHT_SYMTAB
            data[at + 0x38 : at + 0x40] = (23).to_bytes(8, "little")  # its entries' size
    (tmp_path / "damaged").write_bytes(data)
    image = image_of(split | {"damaged": tmp_path / "damaged"}, "damaged")
    assert "hidden_total" not in names(image)
    assert any("symbols of the debug file" in note for note in image.notes)
