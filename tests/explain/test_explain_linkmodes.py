"""Which linker wrote a file and how it was asked to: one program, linked by every linker that is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.traits import read_traits
from sharing.model.comparison import CauseKind, Comparison, FileTraits
from tests.explain.conftest import Explain

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
__thread int mine;
int shared = 3, others;
static const char *const words[] = {"one", "two"};
int used(int n) { mine += n; return (mine * 9999) ^ shared; }
double halved(double x) { return -x / 2; }
int main(int argc, char **argv) {
  printf("%s %f\\n", words[argc & 1], halved(used(argc)));
  return argc > 3 ? atoi(argv[1]) : others;
}
"""
Link = Callable[..., Path]
LINKERS = {"bfd": "GNU ld", "gold": "GNU gold", "lld-19": "LLD", "mold": "mold"}


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Link:
    """``link("-Wl,-z,norelro", by="gold")``: the program, compiled once."""
    folder = tmp_path_factory.mktemp("linked")
    (folder / "a.c").write_text(SOURCE)
    compiled = ["gcc", "-O2", "-g", "-fPIE", "-c", "a.c"]
    subprocess.run(compiled, cwd=folder, check=True)

    def made(*flags: str, by: str = "bfd") -> Path:
        if shutil.which(f"ld.{by}") is None:
            pytest.skip(f"ld.{by} is not installed")
        tools, out = folder / by, folder / f"program-{by}-{len(list(folder.iterdir()))}"
        tools.mkdir(exist_ok=True)
        if not (tools / "ld").exists():
            (tools / "ld").symlink_to(str(shutil.which(f"ld.{by}")))
        subprocess.run(["gcc", f"-B{tools}", *flags, "a.o", "-o", str(out)], cwd=folder, check=True)
        return out

    return made


def traits(path: Path) -> FileTraits:
    return read_traits(str(path))


@pytest.mark.parametrize("by", LINKERS)
def test_each_linker_is_known_by_what_it_leaves(link: Link, by: str) -> None:
    assert traits(link(by=by)).linker.startswith(LINKERS[by])


@pytest.mark.parametrize("by", LINKERS)
def test_a_linker_without_its_name_is_known_by_the_order_of_sections(link: Link, by: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    remove = ["-R", ".comment", "-R", ".note.gnu.gold-version"]
    subprocess.run(["objcopy", "--strip-all", *remove, str(link(by=by)), str(bare)], check=True)
    assert traits(bare).linker == LINKERS[by]


@pytest.mark.parametrize(
    ("flags", "mode", "said"),
    [
        ((), "position", "PIE"),
        (("-no-pie",), "position", "fixed addresses (no PIE)"),
        ((), "linking", "dynamic"),
        (("-no-pie", "-static"), "linking", "static"),
        (("-Wl,-z,norelro",), "relro", "none"),
        (("-Wl,-z,lazy",), "relro", "partial"),
        (("-Wl,-z,now",), "relro", "full"),
        (("-Wl,-z,now",), "binding of functions", "now"),
        (("-Wl,--hash-style=sysv",), "hash style", "sysv"),
        (("-Wl,--hash-style=both",), "hash style", "sysv and gnu"),
        (("-Wl,--build-id=md5",), "build-id", "16 bytes (md5)"),
        (("-Wl,--build-id=none",), "build-id", "none"),
        (("-Wl,-z,execstack",), "stack", "executable"),
        (("-Wl,-z,noseparate-code",), "segments (separate-code)", "RX RW"),
        (("-Wl,-z,separate-code",), "segments (separate-code)", "R RX R RW"),
        (("-Wl,-z,pack-relative-relocs",), "relative relocations", "packed (RELR)"),
    ],
)
def test_modes_of_the_link_are_read(link: Link, flags: tuple[str, ...], mode: str, said: str) -> None:
    assert traits(link(*flags)).modes[mode] == said


def test_a_shared_library_is_no_program(tmp_path: Path) -> None:
    out = tmp_path / "lib.so"
    subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "c", "-o", str(out), "/dev/null"], check=True)
    assert traits(out).modes["position"] == "shared library"


def test_an_object_file_was_not_linked(link: Link) -> None:
    found = traits(link().parent / "a.o")
    assert (found.linker, found.modes) == ("", {})


def toolchain(found: Comparison) -> str:
    (cause,) = (c for c in found.causes if c.kind is CauseKind.TOOLCHAIN)
    return cause.summary


@pytest.mark.parametrize("by", [name for name in LINKERS if name != "bfd"])
def test_another_linker_is_the_root_and_changes_no_code(link: Link, explained: Explain, by: str) -> None:
    """Thread-local slots, literals, stubs and constants are at other places: the functions are the same."""
    found = explained(link(), link(by=by))
    assert found.causes[0].kind is CauseKind.TOOLCHAIN
    assert f"linker: GNU ld, now {LINKERS[by]}" in toolchain(found)
    assert [c for c in found.causes if c.kind is CauseKind.CODE and c.strength >= 0.2] == []


def test_code_below_the_first_page_is_reached_by_addresses(link: Link, explained: Explain) -> None:
    """Without a segment of its own, code begins right behind the headers."""
    found = explained(link(), link("-Wl,-z,noseparate-code"))
    assert toolchain(found) == "segments (separate-code): R RX R RW, now RX RW"
    assert [c for c in found.causes if c.kind is CauseKind.CODE and c.strength >= 0.2] == []


def test_a_program_at_fixed_addresses_is_another_program(link: Link, explained: Explain) -> None:
    """Start-up code comes from other files of the compiler: that is no function of the program that changed."""
    found = explained(link(), link("-no-pie"))
    assert toolchain(found) == "position: PIE, now fixed addresses (no PIE)"
    assert [c for c in found.causes if c.kind is CauseKind.CODE and c.strength >= 0.2] == []


def test_what_changes_nothing_that_is_loaded_is_no_cause(link: Link, explained: Explain, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["objcopy", "--add-section", f".comment.more={link()}", str(link()), str(other)], check=True)
    found = explained(link(), other)
    assert [c.kind for c in found.causes] == [CauseKind.NONE]


@pytest.mark.parametrize(("by", "told"), [("alignment", True), ("name", False)])
def test_a_program_of_one_unit_is_sorted_where_start_up_data_lie_behind_its_own(
    link: Link, explained: Explain, by: str, told: bool
) -> None:
    """The byte that crtbegin.o keeps asks for no alignment: sorted by that, it goes from first to last."""
    found = explained(link(), link(f"-Wl,--sort-section={by}", "-Wl,--defsym=other=1"))
    assert any("or sections are sorted" in cause.summary for cause in found.causes) is told


@pytest.mark.parametrize(("names", "told"), [(("b", "a"), True), (("a", "b"), False)])
def test_units_that_are_linked_in_another_order_are_told(
    tmp_path: Path, explained: Explain, names: tuple[str, str], told: bool
) -> None:
    """The functions and data are the same, at other places: the toolchain is not ruled out."""
    for name in "ab":
        body = f"long of_{name}[3]; char *text_of_{name}(void) {{ of_{name}[1]++; return (char *)of_{name}; }}"
        main = "int main(void) { return 0; }" if name == "a" else ""
        (tmp_path / f"{name}.c").write_text(f"{body}\n{main}\n")
        subprocess.run(["gcc", "-g", "-O1", "-c", f"{name}.c"], cwd=tmp_path, check=True)
    made = []
    for number, order in enumerate((("a", "b"), names)):
        made.append(tmp_path / f"program-{number}")
        objects = [f"{name}.o" for name in order]
        subprocess.run(
            ["gcc", *objects, f"-Wl,--defsym=number={number}", "-o", made[-1].name], cwd=tmp_path, check=True
        )
    found = explained(*made)
    said = [c.summary for c in found.causes if c.kind is CauseKind.TOOLCHAIN]
    assert said == (["order of the units in .bss: linked in another order, or sections are sorted"] if told else [])
