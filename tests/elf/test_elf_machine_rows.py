"""The table of architectures against the kernel's headers, and what it answers for what it does not have."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from elfscan.tools import tool_path
from sharing.model.arch import (
    MACHINES,
    find_architecture,
    machine_named,
    machine_of_file,
    machine_of_uname,
    target_architecture,
)

KERNEL = [
    ("x86_64", ["gcc"], "X86"),
    ("i686", ["gcc", "-m32", "-I/usr/include/x86_64-linux-gnu"], "X86"),
    ("aarch64", ["aarch64-linux-gnu-gcc"], "ARM64"),
    ("riscv64", ["riscv64-linux-gnu-gcc"], "RISCV"),
]


def preprocessed(compiler: list[str], text: str, *flags: str) -> str:
    command = [*compiler, *flags, "-E", "-x", "c", "-"]
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip(f"{compiler[0]} is not installed")


@pytest.mark.parametrize(("uname", "compiler", "prefix"), KERNEL)
def test_registers_have_the_kernels_numbers(uname: str, compiler: list[str], prefix: str) -> None:
    text = preprocessed(compiler, "#include <asm/perf_regs.h>\n")
    names = [n for n in re.findall(rf"PERF_REG_{prefix}_(\w+)(?=\s*[,=])", text) if not re.match(r"XMM|\w*MAX|VG", n)]
    machine = machine_of_uname(uname)
    assert machine is not None
    assert machine.perf is not None
    assert list(machine.perf.names) == [name.lower() for name in names][: len(machine.perf.names)]
    assert len(machine.perf.names) == len(names) or uname == "i686", "the header numbers the 64-bit registers as well"
    assert {*machine.perf.operands, *machine.perf.arguments} <= {*machine.perf.names}
    assert {machine.perf.ip, machine.perf.stack} <= {*machine.perf.names}


@pytest.mark.parametrize(("uname", "compiler", "prefix"), KERNEL)
def test_system_calls_have_the_kernels_numbers(uname: str, compiler: list[str], prefix: str) -> None:
    source = "#include <asm/unistd.h>\nfutex __NR_futex perf __NR_perf_event_open end\n"
    text = " ".join(preprocessed(compiler, source, "-P").split())
    machine = machine_of_uname(uname)
    assert machine is not None
    assert machine.calls is not None
    assert machine.perf is not None
    assert f"futex {machine.calls.futex} perf {machine.calls.perf_event_open} end" in text
    assert {machine.calls.number, *machine.calls.arguments} <= {*machine.perf.names}


def test_what_is_decoded_has_all_that_decoding_needs() -> None:
    for row in MACHINES:
        if row.decoder:
            assert None not in (row.dynamic, row.objects, row.plt, row.perf, row.calls), row.name
            assert row.bits is not None, "one decoder reads one class"
            assert row.byteorder is not None, "and one byte order"
    numbers = [row.decoder for row in MACHINES if row.decoder]
    assert len(set(numbers)) == len(numbers)


def test_the_native_decoders_are_those_of_the_table(native: None) -> None:
    command = [str(tool_path("linemate-access")), "--architectures"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    expected = []
    for row in MACHINES:
        if row.decoder and row.perf is not None:
            registers = [row.perf.number(name) for name in (row.perf.stack, *row.perf.arguments)]
            expected.append(" ".join(map(str, (row.decoder, row.name, *registers))))
    assert listed == expected


def test_names_are_of_one_row_each() -> None:
    for names in ([n for row in MACHINES for n in row.unames], [t.name for row in MACHINES for t in row.targets]):
        assert len(set(names)) == len(names)


def test_what_the_table_does_not_have_is_unknown_and_no_other_machine() -> None:
    unknown = machine_of_file(0x1234, 64, "big")
    assert unknown.name == "machine-4660"
    assert not unknown.decoder
    parts = (unknown.dynamic, unknown.objects, unknown.plt, unknown.perf, unknown.calls)
    assert parts == (None,) * len(parts)
    assert machine_of_uname("x86") is machine_of_uname("") is None
    assert machine_named("machine-4660") is None
    assert target_architecture("x86-linux-gnu") is None


def test_one_architecture_under_its_names() -> None:
    by_file = machine_of_file(183, 64, "little")
    assert machine_named("aarch64") is machine_of_uname("aarch64") is by_file
    assert target_architecture("arm64-apple-macos") == find_architecture(183, 64, "little")
    big = machine_of_file(183, 64, "big")
    assert big is not by_file
    assert not big.decoder, "only the little-endian order is decoded"


def test_each_row_is_in_a_module_of_its_architecture() -> None:
    folder = Path(__file__).resolve().parents[2] / "sharing/model/arch"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "row", "plt", "relocation"}
    registry = (folder / "__init__.py").read_text()
    assert set(re.findall(r"^    \*(\w+)\.ROWS,$", registry, re.M)) == modules
