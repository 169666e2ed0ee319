"""A program of many units and a global added to one: real compilers and linkers, and every moved byte accounted for."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sharing.model.comparison import CauseKind, Comparison, Share
from tests.explain.conftest import Explain

UNITS = 60
EXTRA = 208  # bytes
WHERE = 17  # the unit that gets one more global
COMPILERS = ("gcc", "clang-19")
FLAGS = ("", "-fdata-sections")


def unit(number: int) -> str:
    """Globals of many sizes and alignments, static and exported, with and without values, and code that uses them."""
    lines = [
        "#include <pthread.h>",
        f"struct part_{number} {{ long head; char text[{number % 7 * 8 + 1}]; }};",
        f"static long hits_{number};",
        f"char name_{number}[{number % 11 * 12 + 3}];",
        f"struct part_{number} part_{number};",
        f"int limit_{number} = {number + 1};",
        f"static _Alignas({16 << number % 3}) char area_{number}[{32 + number % 5 * 16}];",
        f'static const char *const labels_{number}[] = {{"a{number}", "b", "c{number * 7}"}};',
    ]
    if number % 9 == 0:
        lines.append(f"pthread_mutex_t lock_{number} = PTHREAD_MUTEX_INITIALIZER;")
        lines.append(f"void step_{number}(void) {{ pthread_mutex_lock(&lock_{number}); part_{number}.head++; "
                     f"pthread_mutex_unlock(&lock_{number}); }}")  # fmt: skip
    if number == WHERE:
        lines += ["#ifdef EXTRA", f"char added_option[{EXTRA}];", "#endif"]
    lines.append(
        f"long work_{number}(long i) {{ hits_{number} += i; area_{number}[i & 15] = (char)i; "
        f"name_{number}[0] = *labels_{number}[i % 3]; return hits_{number} + limit_{number}; }}"
    )
    return "\n".join(lines) + "\n"


def main() -> str:
    """One thread besides main; both call all units."""
    declared = "".join(f"long work_{n}(long);\n" for n in range(UNITS))
    declared += "".join(f"void step_{n}(void);\n" for n in range(0, UNITS, 9))
    calls = "".join(f"  i += work_{n}(i);\n" for n in range(UNITS))
    calls += "".join(f"  step_{n}();\n" for n in range(0, UNITS, 9))
    return (
        "#include <pthread.h>\n"
        + declared
        + f"static void *run(void *p) {{ long i = 0; while (i >= 0) {{\n{calls}  }} return p; }}\n"
        + "int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); run(0); return 0; }\n"
    )


class Built:
    """The program with and without the added global, by compiler and flags."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.done: dict[tuple[str, str], tuple[Path, Path]] = {}
        for number in range(UNITS):
            (folder / f"unit_{number:02}.c").write_text(unit(number))
        (folder / "unit_main.c").write_text(main())

    def pair(self, compiler: str, flags: str) -> tuple[Path, Path]:
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        key = compiler, flags
        if key not in self.done:
            self.done[key] = self.build(compiler, flags)
        return self.done[key]

    def build(self, compiler: str, flags: str) -> tuple[Path, Path]:
        out = self.folder / f"{compiler}{flags}"
        out.mkdir()
        common = [compiler, "-O1", "-g1", "-pthread", *flags.split()]
        sources = sorted(path.name for path in self.folder.glob("unit_*.c"))
        # A few units a process: starting a compiler is most of the work.
        groups = [sources[at::4] for at in range(4)]

        def compile_group(group: list[str]) -> None:
            subprocess.run([*common, "-c", *(f"../{name}" for name in group)], cwd=out, check=True)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(compile_group, groups))
        objects = [name.replace(".c", ".o") for name in sources]
        subprocess.run([*common, *objects, "-o", "base"], cwd=out, check=True)
        changed = f"unit_{WHERE:02}"
        subprocess.run([*common, "-DEXTRA", "-c", f"../{changed}.c", "-o", f"{changed}-extra.o"], cwd=out, check=True)
        objects[objects.index(f"{changed}.o")] = f"{changed}-extra.o"
        subprocess.run([*common, *objects, "-o", "added"], cwd=out, check=True)
        return out / "base", out / "added"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("linkers"))


def accounted(comparison: Comparison) -> bool:
    return all(sum(part.bytes for part in run.contributions) == run.jump for run in comparison.runs if run.in_order)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_added_global_is_the_cause_of_every_shift(
    built: Built, explained: Explain, compiler: str, flags: str
) -> None:
    found = explained(*built.pair(compiler, flags))
    assert (found.variables.old, found.variables.new - found.variables.matched) == (found.variables.matched, 1)
    assert [(c.kind.value, c.name, c.new_size) for c in found.changes] == [("added", "added_option", EXTRA)]
    assert found.coverage.counts["variables_moved"] > UNITS
    assert accounted(found)
    parts = [part for run in found.runs for part in run.contributions]
    assert {(p.share, p.name) for p in parts} <= {(Share.ADDED, "added_option"), (Share.ALIGNMENT, "")}
    assert sum(p.bytes for p in parts if p.share is Share.ADDED) == EXTRA


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_it_is_named_first_whether_or_not_a_pair_met(
    built: Built, explained: Explain, compiler: str, flags: str
) -> None:
    first = explained(*built.pair(compiler, flags)).causes[0]
    assert first.summary.startswith("`added_option` (added, +208 bytes")
    assert " moved " in first.summary
    assert " by 0x" in first.summary
    if first.kind is CauseKind.NONE:
        assert "no hot pair met" in first.summary
    else:
        assert first.kind is CauseKind.LAYOUT


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_section_for_each_object_is_no_other_program(built: Built, explained: Explain, compiler: str) -> None:
    """The same source with and without -fdata-sections: everything is matched, and the sums still hold."""
    found = explained(built.pair(compiler, "")[0], built.pair(compiler, "-fdata-sections")[0])
    assert found.variables.matched == found.variables.old == found.variables.new
    assert accounted(found)


def test_two_compilers_order_a_unit_differently_and_all_is_accounted_for(built: Built, explained: Explain) -> None:
    found = explained(built.pair("gcc", "")[0], built.pair("clang-19", "")[0])
    assert found.causes[0].kind is CauseKind.TOOLCHAIN
    assert accounted(found)
    writable = [run for run in found.runs if run.section in (".data", ".bss")]
    assert writable
    for run in writable:
        assert all(part.share is not Share.UNCOVERED for part in run.contributions), run
