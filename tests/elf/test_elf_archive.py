"""Archives: every ELF member is an image of its own, whatever the way names are kept."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.model import Image, LinemateError, Malformed, Unrecognized
from tests.builders import elf as b
from tests.builders.elf import ElfBuilder
from tests.elf.conftest import variables

LONG = "a_member_with_a_name_longer_than_sixteen_bytes.o"


def object_file(name: str) -> bytes:
    elf = ElfBuilder(type=b.ET_REL)
    data = elf.section(".data", bytes(8), flags=b.ALLOC | b.WRITE, align=8)
    elf.symbol(name, data, 0, 8)
    return elf.bytes()


def member(name: bytes, body: bytes) -> bytes:
    return b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644", len(body)) + body + b"\n" * (len(body) % 2)


def read_all(path: Path) -> list[Image]:
    return list(read_images(str(path), types=False, access=False))


@pytest.fixture
def archive(tmp_path: Path) -> Callable[..., Path]:
    """Make an archive of two objects and a text with ``ar`` and the given flags."""
    if shutil.which("ar") is None:
        pytest.skip("no ar")

    def make(flags: str) -> Path:
        (tmp_path / "one.o").write_bytes(object_file("first"))
        (tmp_path / LONG).write_bytes(object_file("second"))
        (tmp_path / "readme").write_text("not an object\n")
        command = ["ar", flags, "lib.a", "one.o", LONG] + ([] if "T" in flags else ["readme"])
        subprocess.run(command, cwd=tmp_path, check=True)
        return tmp_path / "lib.a"

    return make


def test_members_become_images(archive: Callable[..., Path]) -> None:
    images = read_all(archive("rcs"))
    assert [(i.member, list(variables(i))) for i in images] == [("one.o", ["first"]), (LONG, ["second"])]
    assert images[0].notes == ("1 of 3 archive members are not ELF files: readme",)
    assert images[1].notes == ()


def test_thin_archives_name_files_beside_them(archive: Callable[..., Path], tmp_path: Path) -> None:
    path = archive("rcsT")
    assert [(i.member, list(variables(i))) for i in read_all(path)] == [("one.o", ["first"]), (LONG, ["second"])]
    (tmp_path / LONG).unlink()
    with pytest.raises(LinemateError, match="No such file"):
        read_all(path)


def test_bsd_names_stand_in_front_of_the_member(tmp_path: Path) -> None:
    name = LONG.encode() + b"\0" * 4
    (tmp_path / "bsd.a").write_bytes(
        b"!<arch>\n" + member(b"__.SYMDEF", b"\0" * 8) + member(b"#1/%d" % len(name), name + object_file("x"))
    )
    (image,) = read_all(tmp_path / "bsd.a")
    assert image.member == LONG
    assert list(variables(image)) == ["x"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (member(b"a/", b"x" * 10)[:-5], "ends outside"),
        (b"x" * 60, "not an archive member header"),
        (member(b"a/", b"").replace(b"0         `", b"-5        `"), "not a number"),
        (member(b"/99", b"\x7fELF"), "long names"),
        (member(b"#1/5000", b"\x7fELF"), "longer than the member"),
    ],
)
def test_broken_archives(tmp_path: Path, body: bytes, reason: str) -> None:
    (tmp_path / "bad.a").write_bytes(b"!<arch>\n" + body)
    with pytest.raises(Malformed, match=reason):
        read_all(tmp_path / "bad.a")


@pytest.mark.parametrize(
    ("body", "reason"), [(member(b"readme/", b"hello"), "none of the archive's 1 members"), (b"", "has no members")]
)
def test_an_archive_without_elf_members(tmp_path: Path, body: bytes, reason: str) -> None:
    """glibc's libpthread.a has no members: it is whole, and nothing for us."""
    (tmp_path / "text.a").write_bytes(b"!<arch>\n" + body)
    with pytest.raises(Unrecognized, match=reason):
        read_all(tmp_path / "text.a")


def test_types_of_members_are_read(tmp_path: Path, native: None) -> None:
    """Debug information of a member is read although the helper reads whole files only."""
    if shutil.which("gcc") is None or shutil.which("ar") is None:
        pytest.skip("no gcc or ar")
    (tmp_path / "t.c").write_text("struct s { int a; long b; } thing; int common_one;\n")
    subprocess.run(["gcc", "-g", "-fcommon", "-c", "t.c"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rc", "t.a", "t.o"], cwd=tmp_path, check=True)
    (image,) = read_images(str(tmp_path / "t.a"), access=False)
    kinds = {name: image.types.name(int(image.variables["type"][row])) for name, row in variables(image).items()}
    assert kinds == {"thing": "s", "common_one": "int"}
