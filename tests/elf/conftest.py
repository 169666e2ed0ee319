"""What the ELF tests share: reading without the native helpers, and compiling small programs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.image import read_images
from elfscan.tools import tool_path
from sharing.model import Image, LinemateError

Build = Callable[..., Path]
Read = Callable[[Path], Image]


@pytest.fixture
def read() -> Read:
    """The one image of a file: symbols and layout, no debug information, no instructions."""

    def one(path: Path) -> Image:
        (image,) = read_images(str(path), types=False, access=False)
        return image

    return one


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Compile or link C/C++ text with a compiler command; skips where the compiler is missing."""

    def run(text: str, *command: str, name: str = "program", suffix: str = ".c") -> Path:
        if shutil.which(command[0]) is None:
            pytest.skip(f"no {command[0]}")
        source = tmp_path / f"{name}{suffix}"
        source.write_text(text)
        output = tmp_path / name
        subprocess.run([*command, "-o", str(output), str(source)], check=True, capture_output=True, text=True)
        return output

    return run


@pytest.fixture(scope="session")
def native() -> None:
    """Skips where the native helpers are not built."""
    try:
        tool_path("linemate-dwarf")
        tool_path("linemate-access")
    except LinemateError as error:
        pytest.skip(str(error))


def name_of(image: Image, row: int) -> str:
    """The name of a variable row."""
    return image.names[int(image.variables["name"][row])]


def variables(image: Image) -> dict[str, int]:
    """Rows of the variables by name and by alias."""
    rows = {name_of(image, row): row for row in range(len(image.variables))}
    for row, names in image.aliases.items():
        rows |= dict.fromkeys(names, row)
    return rows


def functions(image: Image) -> dict[str, int]:
    """Rows of the named functions."""
    return {image.names[n]: row for row, n in enumerate(image.functions["name"].tolist()) if n >= 0}
