"""Files that have no machine code yet, or only files within: said as that, and never taken for a clean result."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from elfscan.image import read_images
from linemate.cli import main
from sharing.model import Unrecognized

SOURCE = "_Atomic long hits, misses;\nvoid count(void) { hits++; misses++; }\n"


def compiled(folder: Path, compiler: str, *flags: str) -> str:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (folder / "a.c").write_text(SOURCE)
    subprocess.run([compiler, "-O2", "-c", *flags, "-o", "a.o", "a.c"], cwd=folder, check=True)
    return str(folder / "a.o")


@pytest.mark.parametrize(
    ("flags", "incomplete"), [(("-flto",), True), (("-flto", "-ffat-lto-objects"), False), ((), False)]
)
def test_an_object_whose_code_is_made_at_the_link_is_incomplete(
    flags: tuple[str, ...], incomplete: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = compiled(tmp_path, "gcc", *flags)
    (image,) = read_images(made)
    assert image.incomplete == incomplete
    assert any("compiled with -flto" in note for note in image.notes) == incomplete
    assert main(["audit", made]) == (3 if incomplete else 0)
    capsys.readouterr()


def test_an_object_of_data_alone_is_complete(tmp_path: Path) -> None:
    (tmp_path / "d.c").write_text("long table[4] = {1};\n")
    subprocess.run(["gcc", "-c", "-o", "d.o", "d.c"], cwd=tmp_path, check=True)
    (image,) = read_images(str(tmp_path / "d.o"))
    assert not image.incomplete


def test_bitcode_is_named(tmp_path: Path) -> None:
    made = compiled(tmp_path, "clang-19", "-flto")
    with pytest.raises(Unrecognized, match=r"not an ELF file: LLVM bitcode, .*audit what is linked of it$"):
        list(read_images(made))


def test_a_package_is_named(tmp_path: Path) -> None:
    if shutil.which("ar") is None:
        pytest.skip("no ar")
    for name, text in (("debian-binary", "2.0\n"), ("control.tar", "x"), ("data.tar", "x")):
        (tmp_path / name).write_text(text)
    subprocess.run(["ar", "rc", "a.deb", "debian-binary", "control.tar", "data.tar"], cwd=tmp_path, check=True)
    with pytest.raises(Unrecognized, match=r"a Debian package: unpack it"):
        list(read_images(str(tmp_path / "a.deb")))
