"""Bad input to the scanner: a clear error or an empty result, never a crash, a hang or memory without bound."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elfscan.code.accessplan import SLOT_DTYPE, AccessPlan, ScanResult, encode_plan, read_tables, start_scan
from elfscan.tools import Bounds, ToolJob, tool_path
from sharing.model import FUNCTION_DTYPE, AccessKind, FunctionFlag, LinemateError, Malformed
from tests.nativetools import computed_by_helpers_s, not_with_sanitizers

_BASE = 0x10000
_DATA = (0x4000000, 0x10000)


def functions(*extents: tuple[int, int]) -> np.ndarray:
    table = np.zeros(len(extents), dtype=FUNCTION_DTYPE)
    for row, (address, size) in enumerate(extents):
        table[row] = (address, size, -1, -1, 0, 0)
    return table


def plan_for(tmp_path: Path, code: bytes, *extents: tuple[int, int], arch: str = "x86-64") -> AccessPlan:
    path = tmp_path / "code"
    path.write_bytes(code)
    return AccessPlan(
        arch,
        str(path),
        [(_BASE, 0, len(code))],
        [_DATA],
        [(0x20000000, 0, len(code))],
        functions(*(extents or ((_BASE, len(code)),))),
        np.empty(0, dtype=SLOT_DTYPE),
        absolute=True,
    )


def scan(plan: AccessPlan, **options: int) -> ScanResult:
    return start_scan(plan, **options).result()


@pytest.mark.parametrize("arch", ["x86-64", "aarch64", "riscv64"])
@pytest.mark.parametrize("seed", range(6))
def test_random_bytes_are_scanned_and_counted(tmp_path: Path, arch: str, seed: int) -> None:
    code = random.Random(seed).randbytes(200_000)
    result = scan(plan_for(tmp_path, code, arch=arch))
    assert result.counts["code_bytes"] >= len(code)
    assert result.counts["undecoded_bytes"] > 0


@pytest.mark.parametrize("arch", ["x86-64", "aarch64", "riscv64"])
def test_every_truncation_of_a_function_is_scanned(tmp_path: Path, arch: str) -> None:
    code = random.Random(9).randbytes(64)
    for size in range(65):
        plan = plan_for(tmp_path, code[:size], (_BASE, 64), arch=arch)
        assert scan(plan).counts["code_bytes"] <= 64 + 4


def test_overlapping_functions_are_decoded_once(tmp_path: Path) -> None:
    code = b"\x90" * 100_000
    extents = [(_BASE + at, len(code) - at) for at in range(0, len(code), 10)]
    result = scan(plan_for(tmp_path, code, *extents))
    assert result.counts["code_bytes"] == len(code)
    assert result.counts["overlapping_functions"] == len(extents) - 1


def test_functions_outside_the_code_are_counted_and_skipped(tmp_path: Path) -> None:
    code = b"\xc3" * 16
    extents = [(_BASE, 16), (0xDEAD0000, 100), ((1 << 64) - 8, 100), (_BASE + 8, (1 << 63))]
    result = scan(plan_for(tmp_path, code, *extents))
    assert result.counts["code_bytes"] == 16
    assert result.counts["unreadable_functions"] == 2


def test_code_beyond_the_file_is_refused(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, b"\xc3" * 16)
    for row in ((_BASE, 0, 17), (_BASE, 1 << 62, 1), (_BASE, 8, (1 << 64) - 8)):
        with pytest.raises(LinemateError, match="reaches beyond the file"):
            scan(replace(plan, code=[row]))


def test_ranges_that_wrap_are_refused(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, b"\xc3" * 16)
    with pytest.raises(LinemateError, match="wraps"):
        scan(replace(plan, code=[((1 << 64) - 4, 0, 16)]))
    with pytest.raises(LinemateError, match="wraps"):
        scan(replace(plan, data=[((1 << 64) - 4, 16)]))


def run_raw(path: str, plan: bytes) -> bytes:
    job = ToolJob.start([str(tool_path("linemate-access")), path], stdin=plan, bounds=Bounds(timeout_s=10))
    return job.result()


def test_a_truncated_plan_is_refused_at_every_length(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, b"\xc3" * 16)
    whole = encode_plan(plan)
    for size in range(0, len(whole), 7):
        with pytest.raises(LinemateError, match="plan"):
            run_raw(plan.path, whole[:size])


def test_giant_counts_in_a_plan_are_refused(tmp_path: Path) -> None:
    plan = plan_for(tmp_path, b"\xc3" * 16)
    whole = encode_plan(plan)
    for field in range(5):
        broken = bytearray(whole)
        struct.pack_into("<Q", broken, 16 + 8 * field, (1 << 64) - 1)
        with pytest.raises(LinemateError, match="do not match its header"):
            run_raw(plan.path, bytes(broken))


@pytest.mark.parametrize("what", ["missing", "directory"])
def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path: Path, what: str) -> None:
    plan = plan_for(tmp_path, b"\xc3")
    path = str(tmp_path) if what == "directory" else str(tmp_path / "missing")
    with pytest.raises(LinemateError) as caught:
        scan(replace(plan, path=path))
    assert path in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_architecture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LinemateError, match="sparc64"):
        scan(replace(plan_for(tmp_path, b"\xc3"), arch="sparc64"))


def test_an_empty_file_and_an_empty_plan_give_empty_tables(tmp_path: Path) -> None:
    plan = replace(plan_for(tmp_path, b""), constants=[], functions=functions())
    result = scan(plan)
    assert [len(table) for table in (result.sites, result.calls, result.args, result.params)] == [0, 0, 0, 0]


def branches(count: int) -> bytes:
    """A function of ``count`` conditional branches, each to a place far away: a dense, tangled graph."""
    out = bytearray()
    generator = random.Random(3)
    size = count * 6
    for number in range(count):
        out += b"\x0f\x84" + struct.pack("<i", generator.randrange(0, size, 6) - (number + 1) * 6)
    return bytes(out)


@not_with_sanitizers("how time grows is seen without them")
def test_time_grows_linearly_with_a_tangled_function(tmp_path: Path) -> None:
    def seconds(count: int) -> float:
        plan = plan_for(tmp_path, branches(count) + b"\xc3")
        before = computed_by_helpers_s()
        scan(plan, threads=1)
        return computed_by_helpers_s() - before

    small, large = seconds(10_000), seconds(80_000)
    assert large < 8 * max(small, 0.05) * 4
    assert large < 10


def test_a_function_with_data_in_the_middle_goes_on_behind_it(tmp_path: Path) -> None:
    # jmp +8; eight bytes that do not decode; mov dword [0x4000010], 1; ret
    code = b"\xeb\x08" + b"\x06" * 8 + b"\xc7\x04\x25\x10\x00\x00\x04\x01\x00\x00\x00" + b"\xc3"
    result = scan(plan_for(tmp_path, code))
    assert result.counts["undecoded_bytes"] == 8
    assert [(int(site["ip"]), int(site["target"])) for site in result.sites] == [(_BASE + 10, 0x4000010)]


def test_stubs_are_not_decoded_but_can_be_called(tmp_path: Path) -> None:
    code = b"\xe8\x0b\x00\x00\x00\xc3" + b"\x90" * 10 + b"\xc7\x04\x25\x10\x00\x00\x04\x01\x00\x00\x00"
    plan = plan_for(tmp_path, code, (_BASE, 6), (_BASE + 16, 11))
    plan.functions["flags"][1] = int(FunctionFlag.STUB)
    result = scan(plan)
    assert len(result.sites) == 0
    assert result.calls["callee"].tolist() == [_BASE + 16]


def test_the_result_does_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    code = random.Random(1).randbytes(200_000)
    extents = [(_BASE + at, 500) for at in range(0, len(code), 500)]
    plan = plan_for(tmp_path, code, *extents)
    one, many = scan(plan, threads=1), scan(plan, threads=7)
    for name in ("sites", "calls", "args", "params", "address_taken"):
        assert getattr(one, name).tobytes() == getattr(many, name).tobytes()
    assert one.counts == many.counts


def test_broken_tables_are_malformed(tmp_path: Path) -> None:
    code = b"\xc7\x04\x25\x10\x00\x00\x04\x01\x00\x00\x00" * 2 + b"\xc3"
    plan = plan_for(tmp_path, code)
    whole = run_raw(plan.path, encode_plan(plan))
    sites = read_tables(whole, plan).sites
    assert sites["kind"].tolist() == [AccessKind.STORE] * 2
    first = 80  # the header's bytes
    fields = sites.dtype.fields
    assert fields is not None
    disordered = bytearray(whole)
    struct.pack_into("<Q", disordered, first, 1 << 60)
    wrong_kind = bytearray(whole)
    wrong_kind[first + fields["kind"][1]] = 77
    wrong_row = bytearray(whole)
    struct.pack_into("<i", wrong_row, first + fields["function"][1], 5)
    giant = bytearray(whole)
    struct.pack_into("<Q", giant, 8, 1 << 62)
    broken = [b"", b"X" * len(whole), whole[:-1], whole + b"\0", disordered, wrong_kind, wrong_row, giant]
    for raw in broken:
        with pytest.raises(Malformed):
            read_tables(bytes(raw), plan)
