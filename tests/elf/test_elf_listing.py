"""Listings of nm and maps of linkers as images: every symbol at its address, sizes where they are known."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elfscan.listing import read_listing
from sharing.model import Image, LinemateError, Malformed, SectionKind, Unrecognized, VariableFlag

# The listing of seed 002's fast build, as far as the report gives it, among neighbours.
FAST = """\
0000000001061d40 00000000000000d0 b _ZL25Sys_table_cache_instances
0000000001074120 0000000000000030 B LOCK_open
0000000001074150 0000000000000008 B unused_tables
0000000001074158 B marked_place
0000000001000000 0000000000000123 T tc_release_table
                 U pthread_mutex_lock
"""

STATICS_AND_GLOBALS = ("shown", "counters", "hidden", "quiet")
PROGRAM = """\
static volatile int hidden[3] = {1, 2, 3};
int shown = 4;
long counters[8];
static volatile long quiet[5];
int main(void) { return hidden[shown & 1] + (int)counters[0] + (int)quiet[2]; }
"""


def write(tmp_path: Path, text: str, name: str = "listing") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def variables(image: Image) -> dict[str, tuple[int, int]]:
    """name → (address, size); alias names as well."""
    out = {}
    for row, v in enumerate(image.variables):
        for name in (image.names[v["name"]] if v["name"] >= 0 else "", *image.aliases.get(row, ())):
            out[name] = (int(v["address"]), int(v["size"]))
    return out


def test_a_listing_gives_addresses_sizes_and_kinds(tmp_path: Path) -> None:
    image = read_listing(write(tmp_path, FAST))
    assert variables(image) == {
        "_ZL25Sys_table_cache_instances": (0x1061D40, 208),
        "LOCK_open": (0x1074120, 48),
        "unused_tables": (0x1074150, 8),
    }
    assert [s.kind for s in image.sections if s.name == ".bss"] == [SectionKind.WRITABLE]
    assert [image.names[f["name"]] for f in image.functions] == ["tc_release_table"]
    local = image.variables["flags"] & VariableFlag.LOCAL != 0
    assert local.tolist() == [True, False, False]


def test_without_sizes_objects_reach_up_to_the_next_and_say_so(tmp_path: Path) -> None:
    text = "\n".join(" ".join(line.split()[:1] + line.split()[-2:]) for line in FAST.splitlines()[:3]) + "\n"
    image = read_listing(write(tmp_path, text + "0000000001074158 B _end\n"))
    assert variables(image)["LOCK_open"] == (0x1074120, 48)
    assert (image.variables["flags"] & VariableFlag.SIZE_INFERRED != 0).all()
    assert "_end" not in variables(image)


def test_demangled_names_aliases_and_places_are_kept(tmp_path: Path) -> None:
    text = (
        "0000000000004000 0000000000000008 D Sys_var::all(int, char const*)\t/src/sys.cc:12\n"
        "0000000000004000 0000000000000008 V another_name\n"
        "ffffffff82000040 0000000000000004 d tick_counter\t[module]\n"
    )
    image = read_listing(write(tmp_path, text.replace("\t[module]", " [module]")))
    assert variables(image)["another_name"] == (0x4000, 8)
    assert variables(image)["tick_counter"] == (0xFFFF_FFFF_8200_0040, 4)
    first = image.variables[0]
    assert (image.files[first["file"]], int(first["line"])) == ("/src/sys.cc", 12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small program linked by GNU ld and, where it is there, by lld, each with its map and its listing."""
    where = tmp_path_factory.mktemp("maps")
    if shutil.which("gcc") is None or shutil.which("nm") is None:
        pytest.skip("no gcc, no nm")
    (where / "program.c").write_text(PROGRAM)
    for name, compiler in (("ld", "gcc"), ("lld", "clang-19")):
        if shutil.which(compiler) is None:
            continue
        for kind, flag in (("", "-fno-data-sections"), ("-split", "-fdata-sections")):
            out = where / f"{name}{kind}"
            linker = [] if name == "ld" else ["-fuse-ld=lld"]
            command = [compiler, "-O1", flag, *linker, f"-Wl,-Map={out}.map", "-o", str(out), "program.c"]
            if subprocess.run(command, cwd=where, capture_output=True, check=False).returncode:
                continue
            listing = subprocess.run(["nm", "-nS", str(out)], capture_output=True, text=True, check=True).stdout
            Path(f"{out}.nm").write_text(listing)
    return where


@pytest.mark.parametrize("linker", ["ld", "ld-split", "lld", "lld-split"])
def test_a_map_agrees_with_nm(folder: Path, linker: str) -> None:
    if not (folder / f"{linker}.nm").exists():
        pytest.skip(f"no compiler here links with {linker}")
    of_map = variables(read_listing(str(folder / f"{linker}.map")))
    of_nm = variables(read_listing(str(folder / f"{linker}.nm")))
    if linker == "ld":
        # Its map does not name statics: what is shown reaches up to the next name, or to the end of the object file.
        assert {n: of_map[n][0] for n in ("shown", "counters")} == {n: of_nm[n][0] for n in ("shown", "counters")}
        assert all(of_map[n][1] >= of_nm[n][1] for n in ("shown", "counters"))
        return
    assert {n: of_map[n] for n in STATICS_AND_GLOBALS} == {n: of_nm[n] for n in STATICS_AND_GLOBALS}


def test_a_map_says_which_object_brought_a_variable(folder: Path) -> None:
    image = read_listing(str(folder / "ld.map"))
    row = next(i for i, v in enumerate(image.variables) if v["name"] >= 0 and image.names[v["name"]] == "shown")
    assert image.units[image.variables["unit"][row]].name.endswith(".o")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", LinemateError),
        ("hello world\n", Unrecognized),
        ("\x7fELF\0\0\0", Unrecognized),
        (FAST + "this is none of nm's lines at all\n", Malformed),
        ("0000000000000010 A absolute\n", Malformed),
        ("Linker script and memory map\n\nnothing\n", Malformed),
        ("             VMA              LMA     Size Align Out     In      Symbol\n garbage\n", Malformed),
    ],
)
def test_other_text_is_refused_in_one_line(tmp_path: Path, text: str, error: type[LinemateError]) -> None:
    with pytest.raises(error) as caught:
        read_listing(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_map_of_very_many_sections_is_read_in_a_moment(tmp_path: Path) -> None:
    """-ffunction-sections and a linker script that keeps them apart: an input and an output each."""
    lines = ["Linker script and memory map", ""]
    for i in range(20_000):
        lines += [f".bss.v{i}  0x{0x1000 + 16 * i:016x} 0x10", f" .bss.v{i}  0x{0x1000 + 16 * i:016x} 0x10 a.o"]
    image = read_listing(write(tmp_path, "\n".join(lines) + "\n"))
    assert len(image.variables) == 20_000


@pytest.mark.parametrize(
    "text",
    [
        "00000000000000aa 8000000000000000 b x\n",
        "fffffffffffffff0 0000000000000010 b x\n",
        "Linker script and memory map\n\n.bss  0xfffffffffffffff0 0x10\n",
        "Linker script and memory map\n\n.bss  0x10 0x10\n .bss  0xfffffffffffffff0 0x20 a.o\n",
        "             VMA              LMA     Size Align Out     In      Symbol\n ffffffffffffffff 0 1 1 .bss\n",
    ],
)
def test_what_reaches_beyond_64_bits_is_refused_at_its_offset(tmp_path: Path, text: str) -> None:
    with pytest.raises(Malformed, match="reach beyond 64 bits") as caught:
        read_listing(write(tmp_path, text))
    line = [line for line in text.split("\n") if line][-1]
    assert caught.value.offset == text.index(line)


def test_the_last_address_is_read(tmp_path: Path) -> None:
    image = read_listing(write(tmp_path, "ffffffffffffffff b last\nffffffffffffff00 b before\n"))
    assert variables(image) == {"before": (0xFFFF_FFFF_FFFF_FF00, 0xFF), "last": ((1 << 64) - 1, 0)}


@given(st.text("0123456789abcdefBbDdTtUu _.\n\t$", max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_an_image_or_one_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_text(text)
    try:
        image = read_listing(str(path))
    except LinemateError:
        return
    address = image.variables["address"]
    assert (address[1:] >= address[:-1]).all()
    assert len(image.names) >= len(image.variables)
