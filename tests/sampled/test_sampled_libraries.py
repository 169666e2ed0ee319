"""Lines of another file's storage are named by its variables: of a library, or of the program that loads one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from linemate.sampled.libraries import Libraries
from sharing.judge.sampled.names import Names
from sharing.knowledge import default_knowledge
from sharing.model.attribution import Module, Region
from sharing.model.image import AccessKind
from sharing.model.operands import MappedFile, MappedFiles
from sharing.sampled.lineuse.blame import Item
from sharing.sampled.lineuse.use import LineUse, Provenance, Touch
from tests.sampled.conftest import needs


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("gcc", "nm")
    folder = tmp_path_factory.mktemp("library")
    (folder / "l.c").write_text("struct meter { long in, out; };\n_Alignas(64) struct meter meter;\n")
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", "l.c", "-o", "libl.so"], check=True, cwd=folder)
    return folder / "libl.so"


def named(library: Path, offset: int, *, missing: str = "") -> str:
    """What the byte of ``meter`` at an offset is called while another file is judged."""
    listing = subprocess.run(["nm", str(library)], check=True, capture_output=True, text=True).stdout
    address = next(int(one.split()[0], 16) for one in listing.splitlines() if one.endswith(" meter"))
    file = MappedFile(Module(str(library), "", missing=missing))
    mapped = MappedFiles((file,), np.zeros(0, np.int32), np.zeros(0, np.uint64), np.zeros(0, np.bool_))
    touch = Touch(0, offset, offset + 8, AccessKind.STORE, "in", Provenance.SAMPLE)
    use = LineUse(0x7F0000000000, 64, Region.STATIC, (touch,), (), link=address, module=str(library))
    names = Names(others=Libraries([mapped], default_knowledge()))
    return names.actor(Item(offset, offset + 8, (touch,)), use).name


def test_a_variable_of_a_library_has_its_name_and_member(library: Path) -> None:
    assert (named(library, 0), named(library, 8)) == ("meter.in", "meter.out")


def test_a_library_that_is_another_by_now_names_nothing(library: Path) -> None:
    assert named(library, 8, missing="has build-id 1, the profile 2").startswith("libl.so+0x")


def test_bytes_behind_all_variables_have_their_place(library: Path) -> None:
    assert named(library, 56).startswith("libl.so+0x")
