"""Which files of a profile are at hand, and which profiles are refused; every sample keeps its account."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elfscan.image import read_images
from linemate.modules import open_modules
from pmu.samplesbuilder import Builder, MappingDetails, new_samples
from sharing.knowledge import default_knowledge
from sharing.model.addressspaces import KERNEL_PID
from sharing.model.attribution import Basis, Reason, Region
from sharing.model.errors import LinemateError
from sharing.model.image import Image, ImageKind
from sharing.model.samples import PROT_EXEC, Counts, Event, Field, Mode, Recording, Samples
from sharing.sampled.attribution.attribute import attribute

CODE = "long hot; static long cold; long *p = &cold;\nlong f(void) { long s = 0; while (!*p) s += hot++; return s; }\n"
BIAS = 0x7F00_0000_0000


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Image:
    where = tmp_path_factory.mktemp("library")
    (where / "l.c").write_text(CODE)
    out = where / "liblines.so"
    line = ["gcc", "-O1", "-shared", "-fPIC", "-Wl,--build-id=sha1", "-o", str(out), str(where / "l.c")]
    subprocess.run(line, check=True)
    return next(iter(read_images(str(out))))


def profile(path: str, build_id: str, rows: Any, fields: Field = Field.IP) -> Samples:
    """Samples of one process that has mapped one file at BIAS."""
    builder = Builder()
    builder.map(0, 7, BIAS, 1 << 16, 0, path, MappingDetails(protection=PROT_EXEC | 1, build_id=build_id))
    rows["pid"], rows["tid"], rows["mode"] = 7, 7, Mode.USER
    builder.store.append(rows)
    return builder.finish((Event("cycles", fields),), Recording("test", "x86_64"), Counts())


def rows_at(ips: list[int], addresses: list[int] | None = None) -> Any:
    rows = new_samples(len(ips))
    rows["ip"] = ips
    rows["addr"] = addresses or 0
    return rows


def test_of_a_kernel_module_it_is_said_what_a_profile_can_tell(library: Image) -> None:
    module = dataclasses.replace(library, kind=ImageKind.MODULE)
    with pytest.raises(LinemateError, match=r"no profile says where a module's data was loaded; audit vmlinux"):
        open_modules(profile(library.path, "", rows_at([BIAS])), module, default_knowledge())


def test_the_target_is_known_by_its_build_id_wherever_it_was(library: Image) -> None:
    samples = profile("/elsewhere/renamed.so", library.build_id or "", rows_at([BIAS]))
    assert open_modules(samples, library, default_knowledge()).of_mapping.tolist() == [0]


def test_another_build_is_refused_with_both_ids(library: Image) -> None:
    samples = profile(library.path, "ab" * 20, rows_at([BIAS]))
    with pytest.raises(LinemateError, match=re.escape(library.build_id or "")) as error:
        open_modules(samples, library, default_knowledge())
    assert "ab" * 20 in str(error.value)
    assert "another build" in str(error.value)


def test_a_profile_of_another_kernel_is_refused_with_both_ids(library: Image) -> None:
    kernel = dataclasses.replace(library, kind=ImageKind.KERNEL)
    for build_id, refused in (("ab" * 20, True), (library.build_id or "", False), ("", False)):
        builder = Builder()
        details = MappingDetails(protection=PROT_EXEC | 1, build_id=build_id)
        builder.map(0, KERNEL_PID, BIAS, 1 << 20, BIAS, "[kernel.kallsyms]_text", details)
        builder.store.append(rows_at([BIAS]))
        samples = builder.finish((Event("cycles", Field.IP),), Recording("test", "x86_64"), Counts())
        if refused:
            told = f"another kernel: it has build-id {build_id}, this file {library.build_id}"
            with pytest.raises(LinemateError, match=told):
                open_modules(samples, kernel, default_knowledge())
        else:
            assert open_modules(samples, kernel, default_knowledge()).kernel


def test_a_profile_of_another_program_is_refused_by_name(library: Image) -> None:
    samples = profile("/usr/bin/other", "ab" * 20, rows_at([BIAS]))
    with pytest.raises(LinemateError, match="/usr/bin/other"):
        open_modules(samples, library, default_knowledge())


def test_programs_and_libraries_that_were_sampled_are_named_and_no_more(library: Image) -> None:
    """The launcher that was mapped before, and files of data, help nobody."""
    builder = Builder()
    for number, (path, protection) in enumerate(
        [
            ("/usr/bin/python3.11", PROT_EXEC | 1),
            ("/etc/ld.so.cache", 1),
            *((f"/usr/lib/lib{i}.so", PROT_EXEC | 1) for i in range(7)),
        ]
    ):
        builder.map(0, 7, BIAS + (number << 20), 1 << 16, 0, path, MappingDetails(protection=protection))
    # One sample in the data, none in the first, and more in each later library.
    rows = rows_at([BIAS + (1 << 20), *(BIAS + ((i + 2) << 20) for i in range(7) for _ in range(i + 1))])
    rows["pid"], rows["tid"], rows["mode"] = 7, 7, Mode.USER
    builder.store.append(rows)
    samples = builder.finish((Event("cycles", Field.IP),), Recording("test", "x86_64"), Counts())
    libraries = ", ".join(f"/usr/lib/lib{i}.so" for i in (6, 5, 4, 3, 2))
    with pytest.raises(LinemateError, match=f"it has {re.escape(libraries)}$"):
        open_modules(samples, library, default_knowledge())


def test_a_file_that_is_gone_or_changed_says_so(library: Image) -> None:
    builder = Builder()
    builder.map(
        0, 7, BIAS, 1 << 16, 0, library.path, MappingDetails(protection=PROT_EXEC, build_id=library.build_id or "")
    )
    builder.map(0, 7, BIAS + (1 << 20), 4096, 0, "/no/such/file.so", MappingDetails(protection=PROT_EXEC))
    builder.map(0, 7, BIAS + (2 << 20), 4096, 0, "[vdso]", MappingDetails(protection=PROT_EXEC))
    samples = builder.finish((Event("cycles"),), Recording("test"), Counts())
    files = open_modules(samples, library, default_knowledge()).files
    assert [f.module.path for f in files] == [library.path, "/no/such/file.so", "[vdso]"]
    assert [bool(f.module.missing) for f in files] == [False, True, True]


def test_static_operands_need_no_registers(library: Image) -> None:
    """A profile of addresses of code alone still says which static variable an instruction names."""
    names = {library.names[int(f["name"])]: int(f["address"]) for f in library.functions if f["name"] >= 0}
    start = names["f"]
    samples = profile(library.path, library.build_id or "", rows_at([BIAS + start + at for at in range(64)]))
    placed = attribute(samples, library, open_modules(samples, library, default_knowledge()), default_knowledge())
    assert (placed.rows["basis"][placed.rows["region"] == Region.STATIC] == Basis.DERIVED).all()
    assert Reason.NO_REGISTERS in placed.rows["reason"]
    assert Reason.UNDECODED in placed.rows["reason"]


def test_data_addresses_come_first_and_name_the_variable(library: Image) -> None:
    hot = next(int(v["address"]) for v in library.variables if library.names[int(v["name"])] == "hot")
    samples = profile(library.path, library.build_id or "", rows_at([BIAS], [BIAS + hot]), Field.IP | Field.ADDR)
    placed = attribute(samples, library, open_modules(samples, library, default_knowledge()), default_knowledge())
    assert placed.rows["link"].tolist() == [hot]
    assert placed.rows["basis"].tolist() == [Basis.ADDRESS]
    assert placed.rows["region"].tolist() == [Region.STATIC]


@settings(max_examples=40, deadline=None)
@given(data=st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 5)), max_size=40))
def test_whatever_a_profile_says_every_sample_is_accounted_for(
    library: Image, data: list[tuple[int, int, int]]
) -> None:
    near = [(BIAS + (ip & 0x3FFF) if ip & 1 else ip, 0 if a & 1 else a, mode) for ip, a, mode in data]
    rows = rows_at([ip for ip, _, _ in near], [a for _, a, _ in near] or None)
    samples = profile(library.path, library.build_id or "", rows, Field.IP | Field.ADDR)
    samples.samples["mode"] = [mode for _, _, mode in near]
    placed = attribute(samples, library, open_modules(samples, library, default_knowledge()), default_knowledge())
    assert len(placed.rows) == len(near)
    assert ((placed.rows["reason"] == Reason.NONE) == (placed.rows["basis"] != Basis.NONE)).all()
    assert sum(placed.counts().values()) == len(near)
    assert (placed.rows["space"][placed.rows["basis"] >= Basis.DERIVED] >= 0).all()


def test_functions_alone_are_spread_over_what_they_touch(library: Image, tmp_path: Path) -> None:
    builder = Builder()
    rows = new_samples(2)
    rows["symbol"] = [builder.symbols.row(("f", "liblines.so")), builder.symbols.row(("g", "liblines.so"))]
    builder.store.append(rows)
    samples = builder.finish((Event("LLC_MISSES", Field.SYMBOL),), Recording("oprofile"), Counts())
    placed = attribute(samples, library, open_modules(samples, library, default_knowledge()), default_knowledge())
    assert placed.rows["basis"].tolist() == [Basis.FUNCTION, Basis.NONE]
    assert np.isclose(placed.spread["share"].sum(), 1)
    assert {placed.functions[f] for f in placed.spread["function"]} == {"f"}
