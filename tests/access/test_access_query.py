"""Queries about given functions: what is answered, and hostile queries and code: one line of error, never a crash."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from elfscan.code.query import (
    MAX_FUNCTION_BYTES,
    check_operands,
    direct_targets,
    read_answer,
    read_assembly,
    read_instructions,
    read_operands,
    read_origins,
)
from elfscan.tools import Bounds, ToolJob, tool_path
from sharing.model.arch import find_architecture
from sharing.model.attribution import Reason
from sharing.model.errors import LinemateError
from sharing.model.image import Architecture
from sharing.model.instructions import Holding
from sharing.model.operands import OPERAND_DTYPE, POINT_DTYPE, PointFlag
from tests.nativetools import computed_by_helpers_s, not_with_sanitizers

X86, AARCH64, RISCV = (find_architecture(machine, 64, "little") for machine in (62, 183, 243))
BASE = 0x10000
IMAGE = (0x10000, 0x40000)
RANDOM_BYTES = 40_000


def reader(code: bytes) -> Callable[[int, int], bytes]:
    return lambda start, end: code[start - BASE : end - BASE]


def operands_at(arch: Architecture, code: bytes, ips: Sequence[int], *extents: tuple[int, int]) -> tuple:
    extents = extents or ((BASE, BASE + len(code)),)
    starts, ends = (np.array([e[side] for e in extents], np.uint64) for side in (0, 1))
    return read_operands(arch, np.array(ips, np.uint64), starts, ends, reader(code))


def code(text: str) -> bytes:
    return bytes.fromhex(text)


@pytest.mark.parametrize("arch", [X86, AARCH64], ids=lambda arch: arch.name)
@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_are_answered_for_every_address(arch: Architecture, seed: int) -> None:
    data = random.Random(seed).randbytes(RANDOM_BYTES)
    extents = [(BASE + at, BASE + min(at + 500, len(data))) for at in range(0, len(data), 500)]
    ips = range(BASE, BASE + len(data))
    points, operands = operands_at(arch, data, ips, *extents)
    check_operands(points, operands, np.array(ips, np.uint64))
    assert (points["flags"] & PointFlag.DECODED).any()
    starts, ends = (np.array(side, np.uint64) for side in zip(*extents, strict=True))
    told = read_assembly(arch, np.array(ips, np.uint64), starts, ends, reader(data))
    assert all(ip in [at for at, _ in around] for ip, around in told.items())
    assert (np.diff(direct_targets(arch, extents, reader(data)).astype(object)) > 0).all()
    parts = read_instructions(arch, [(start, reader(data)(start, end)) for start, end in extents], IMAGE)
    assert parts is not None
    for part, (start, end) in zip(parts, extents, strict=True):
        assert part["offset"].tolist() == np.append(0, np.cumsum(part["length"])[:-1]).tolist()
        assert int(part["length"].sum()) == end - start


@pytest.mark.parametrize("arch", [X86, AARCH64], ids=lambda arch: arch.name)
def test_every_truncation_of_a_function_is_answered(arch: Architecture) -> None:
    data = random.Random(9).randbytes(24)
    for size in range(1, 25):
        points, _ = operands_at(arch, data[:size], range(BASE, BASE + 24), (BASE, BASE + 24))
        assert (points["reason"][size:] == Reason.UNDECODED).all()


def test_what_comes_behind_bytes_that_do_not_decode_is_not_taken_for_code() -> None:
    points, _ = operands_at(X86, code("488b07 06 488b07 c3"), [BASE, BASE + 3, BASE + 4])
    assert points["reason"].tolist() == [Reason.NONE, Reason.UNDECODED, Reason.UNDECODED]


def test_of_functions_that_overlap_the_inner_one_counts() -> None:
    data = code("488b07 488b4608 c3")
    points, operands = operands_at(X86, data, [BASE + 7], (BASE, BASE + 8), (BASE + 3, BASE + 8))
    assert points["function"].tolist() == [1]
    assert len(operands) == 1  # the load of the outer one alone is not of the same run


def test_an_architecture_without_a_decoder_answers_nothing() -> None:
    for arch in (find_architecture(183, 64, "big"), find_architecture(21, 64, "little")):
        points, operands = operands_at(arch, b"\x90" * 8, [BASE])
        assert points["reason"].tolist() == [Reason.UNDECODED]
        assert len(operands) == 0
        assert read_instructions(arch, [(BASE, b"\x90" * 8)], IMAGE) is None
        assert len(direct_targets(arch, [(BASE, BASE + 8)], reader(b"\xe8" * 8))) == 0


def test_the_text_of_an_instruction_comes_with_those_around_it() -> None:
    """push; mov $8,%eax; lock inc v(%rip); call; six nops; ret: four on each side, as far as the function goes"""
    data = code("55 b808000000 f0ff05f00f0000 e8 ee0f0000 909090909090 c3")
    starts, ends = np.array([BASE], np.uint64), np.array([BASE + len(data)], np.uint64)
    told = read_assembly(X86, np.array([BASE + 6, BASE + 7, BASE + 24], np.uint64), starts, ends, reader(data))
    assert told[BASE + 6] == [
        (BASE, "pushq %rbp"),
        (BASE + 1, "movl $8, %eax"),
        (BASE + 6, "lock incl 0xff0(%rip)"),
        (BASE + 13, "callq 0x11000"),
        *((BASE + 18 + at, "nop") for at in range(3)),
    ]
    assert BASE + 7 not in told  # the middle of one
    assert [text for _, text in told[BASE + 24]] == ["nop"] * 4 + ["retq"]
    assert read_assembly(X86, np.array([BASE + 90], np.uint64), starts, ends, reader(data)) == {}


@pytest.mark.parametrize(
    ("arch", "word", "text"),
    [(AARCH64, "200440f9", "ldr x0, [x1, #8]"), (RISCV, "83b58800", "ld a1, 8(a7)")],
    ids=["aarch64", "riscv64"],
)
def test_text_is_the_assembly_of_the_architecture(arch: Architecture, word: str, text: str) -> None:
    starts, ends = np.array([BASE], np.uint64), np.array([BASE + 4], np.uint64)
    assert read_assembly(arch, starts, starts, ends, reader(code(word))) == {BASE: [(BASE, text)]}


def test_jumps_within_a_function_are_no_targets() -> None:
    data = code("e8 fb0f0000 eb f9 7503 e9 f2ffffff ff2500000000 c3")
    assert direct_targets(X86, [(BASE, BASE + len(data))], reader(data)).tolist() == [BASE + 0x1000]
    near = direct_targets(X86, [(BASE, BASE + 5)], reader(data)).tolist()
    assert near == [BASE + 0x1000]


def test_how_far_behind_a_pointer_an_instruction_reaches_stands_beside_its_bytes() -> None:
    """mov 0x128(%rdi),%rax; movl $7,8(%rbx,%rcx,4); call *0x28(%rax); of the stack, before a pointer and at one."""
    data = code("488b8728010000 c7448b0807000000 ff5028 488b442408 488b45f8 488b07")
    (rows,) = read_instructions(X86, [(BASE, data)], IMAGE) or [None]
    assert rows is not None
    assert rows["other_is"].tolist() == [Holding.BEHIND] * 3 + [0] * 3
    assert rows["other"].tolist() == [0x128, 8, 0x28, 0, 0, 0]
    shown = [bytes(row["bytes"])[: int(row["length"])].hex() for row in rows]
    assert shown == ["488b8700000000", "c7448b0007000000", "ff5000", "488b442408", "488b45f8", "488b07"]


def test_fields_that_a_linker_sets_are_zero_in_instructions() -> None:
    """mov v(%rip),%rax; add $8,%rax; call; loop back; jmp *table(,%rax,8)"""
    data = code("488b0500010000 4883c008 e8 f00f0000 ebee ff24c500200100")
    (rows,) = read_instructions(X86, [(BASE, data)], IMAGE) or [None]
    assert rows is not None
    assert rows["other_is"].tolist() == [Holding.ADDRESS, 0, 0, 0, Holding.ADDRESS]
    assert rows["target_is"].tolist() == [0, 0, Holding.ADDRESS, Holding.INSIDE, 0]
    assert rows["jumps"].tolist() == [0, 0, 0, 1, 0]
    assert int(rows["target"][3]) == 0
    told = [bytes(row["bytes"][: row["length"]]).hex() for row in rows]
    assert told == ["488b0500000000", "4883c008", "e800000000", "eb00", "ff24c500000000"]


def test_what_is_relative_to_the_thread_or_behind_a_prefix_is_zero_as_a_whole() -> None:
    """mov %fs:-8,%rax; xorpd v(%rip),%xmm1 (66 is part of the instruction); mov %fs:8(%rcx),%rax stays"""
    data = code("648b0425f8ffffff 660f570d50feffff 64488b4108")
    (rows,) = read_instructions(X86, [(BASE, data)], IMAGE) or [None]
    assert rows is not None
    told = [bytes(row["bytes"][: row["length"]]).hex() for row in rows]
    assert told == ["648b042500000000", "660f570d00000000", "64488b4108"]


@pytest.mark.parametrize(
    ("image", "compared", "called"),
    [
        ((0x1000, 0x40000), "4881f900000100", Holding.ADDRESS),  # loaded anywhere: 0x10000 is a number
        ((0x8000, 0x40000), "4881f900000000", Holding.ABSOLUTE),  # at fixed addresses: an address
    ],
)
def test_numbers_are_addresses_in_files_at_fixed_addresses_only(
    image: tuple[int, int], compared: str, called: Holding
) -> None:
    """cmp $0x10000,%rcx; call 0x800, which is where a file that begins at zero has its first code"""
    data = code("4881f900000100 e8 f407ffff")
    (rows,) = read_instructions(X86, [(BASE, data)], image) or [None]
    assert rows is not None
    assert bytes(rows[0]["bytes"][:7]).hex() == compared
    assert int(rows[1]["target_is"]) == called


def test_fields_that_a_linker_sets_are_zero_in_instructions_of_aarch64() -> None:
    words = [0xB0000080, 0x91048000, 0xF9400C21, 0x94000400, 0x54FFFF80, 0x8B020020, 0xA9BF7BFD, 0xD2800100]
    data = b"".join(struct.pack("<I", word) for word in words)
    (rows,) = read_instructions(AARCH64, [(BASE, data)], IMAGE) or [None]
    assert rows is not None
    kept = rows["bytes"][:, :4].copy().view("<u4").ravel().tolist()
    # adrp, add and ldr lose their parts of an address, bl and b.eq the distance; the others stay.
    assert kept == [0x90000000, 0x91000000, 0xF9400021, 0x94000000, 0x54000000, *words[5:]]
    assert rows["target_is"].tolist() == [0, 0, 0, Holding.ADDRESS, Holding.INSIDE, 0, 0, 0]
    assert rows["jumps"].tolist() == [0, 0, 0, 0, 1, 0, 0, 0]
    assert int(rows["target"][4]) == 0


HEADER = struct.Struct("<8sIIQQibbHQQ")
FUNCTION, ASKED = struct.Struct("<QQ"), struct.Struct("<QiI")


def query(**changes: int | bytes) -> bytes:
    fields: dict[str, int | bytes] = {
        "magic": b"LMQUERY1", "arch": 1, "kind": 1, "begin": 0, "end": 0, "futex": 202, "number": 0, "operation": 4,
        "reserved": 0, "functions": 1, "addresses": 1,
    }  # fmt: skip
    body = {"address": BASE, "size": 4, "ip": BASE, "function": 0, "code": b"\x48\x8b\x07\xc3"} | changes
    header = HEADER.pack(*(changes.get(name, value) for name, value in fields.items()))
    function = FUNCTION.pack(body["address"], body["size"])
    return header + function + ASKED.pack(body["ip"], body["function"], 0) + bytes(body["code"])


def ask(raw: bytes) -> bytes:
    line = [str(tool_path("linemate-access")), "--query"]
    with ToolJob.start(line, stdin=raw, bounds=Bounds(timeout_s=30.0)) as job:
        return job.result()


def test_a_query_as_such_is_answered() -> None:
    points, operands = read_answer(ask(query()), 1)
    assert (len(points), len(operands)) == (1, 1)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "the query has no header"),
        (query()[:40], "the query has no header"),
        (query(magic=b"LMQUERY2"), "the query has no header"),
        (query(arch=0), "the query names an unknown architecture"),
        (query(arch=99), "the query names an unknown architecture"),
        (query(kind=0), "the query asks for something unknown"),
        (query(kind=99), "the query asks for something unknown"),
        (query(functions=1 << 60), "the query's tables do not match its header"),
        (query(addresses=1 << 61), "the query's tables do not match its header"),
        (query(size=MAX_FUNCTION_BYTES + 1), f"the query has a function of {MAX_FUNCTION_BYTES + 1} bytes"),
        (query(size=5), "the query lacks code of a function"),
        (query(address=(1 << 64) - 2), "the query has a function that wraps the address space"),
        (query(code=b"\x90" * 5), "the query has a tail"),
        (query(function=1), "the query names a function that it does not have"),
        (query(function=-2), "the query names a function that it does not have"),
    ],
)
def test_a_broken_query_is_one_line(raw: bytes, why: str) -> None:
    with pytest.raises(LinemateError) as error:
        ask(raw)
    assert str(error.value) == why


def test_addresses_that_go_back_to_a_function_are_refused() -> None:
    raw = HEADER.pack(b"LMQUERY1", 1, 1, 0, 0, 202, 0, 4, 0, 2, 3)
    raw += FUNCTION.pack(BASE, 1) * 2 + b"".join(ASKED.pack(BASE, row, 0) for row in (0, 1, 0)) + b"\x90\x90"
    with pytest.raises(LinemateError, match="not in order"):
        ask(raw)


def test_jumps_and_loops_without_end_stay_quick() -> None:
    """Each instruction a jump to the first, each a load in a loop, and each a test of what was loaded."""
    size = 12_000
    back = b"".join(b"\x0f\x84" + struct.pack("<i", -(at + 6)) for at in range(0, size - 5, 6))
    for data in (back, b"\x8b\x07" * (size // 2), b"\x8b\x07\x85\xc0\x74\xfa" * (size // 6), b"\xeb\xfe" * (size // 2)):
        before = computed_by_helpers_s()
        points, _ = operands_at(X86, data, range(BASE, BASE + len(data)))
        assert len(points) == len(data)
        assert computed_by_helpers_s() - before < 10


def origins(data: bytes, at: int) -> list[tuple[int, int, int, int]]:
    """(offset of the instruction, register, displacement, parent) of where an address comes from."""
    starts, ends = np.array([BASE], np.uint64), np.array([BASE + len(data)], np.uint64)
    rows = read_origins(X86, np.array([BASE + at], np.uint64), starts, ends, reader(data))
    found = rows[["ip", "base", "displacement", "parent"]].tolist()
    return [(ip - BASE, base, displacement, parent) for ip, base, displacement, parent in found]


def test_where_ways_meet_each_of_them_tells() -> None:
    """What was looked up on one way, and on the other one more step away, as where it is made if it is not there."""
    data = code("488b0785f67404488b400848ff4010c3")
    ax, di = 0, 5
    assert set(origins(data, 11)) == {(11, ax, 16, -1), (0, di, 0, 0), (7, ax, 8, 0), (0, di, 0, 1)}


def test_two_registers_that_a_loop_exchanges_come_to_an_end() -> None:
    data = code("4889c14889c885f675f648ff4010c3")
    assert len(origins(data, 10)) < 8


def test_where_too_many_ways_meet_none_of_them_tells() -> None:
    load = "488b47%02x"  # each from a word of its own
    way = "83fe%02x7506" + load + "eb%02x"  # if the argument is this one, that word, and to the end
    data = code("".join(way % (at, 8 * at, 11 * (5 - at)) for at in range(6)) + "48ff4010c3")
    assert origins(data, len(data) - 5) == [(len(data) - 5, 0, 16, -1)]


@not_with_sanitizers("how time grows is seen without them")
@pytest.mark.parametrize("what", ["loads of one word of the frame", "accesses behind many jumps to one place"])
def test_where_addresses_come_from_takes_no_square_of_the_function(what: str) -> None:
    def seconds(count: int) -> float:
        if what.startswith("loads"):
            head, unit, asked_at = code("554889e548897df8"), code("488b45f848ff4008"), 4
        else:
            head = b"".join(b"\x0f\x84" + struct.pack("<i", 6 * (count - at - 1)) for at in range(count))
            unit, asked_at = code("48ff07"), 0
        data = head + unit * count
        ips = np.arange(BASE + len(head) + asked_at, BASE + len(data), len(unit), np.uint64)
        before = computed_by_helpers_s()
        rows = read_origins(
            X86, ips, np.array([BASE], np.uint64), np.array([BASE + len(data)], np.uint64), reader(data)
        )
        assert len(set(rows["asked"].tolist())) == count
        return computed_by_helpers_s() - before

    small, large = seconds(2_000), seconds(16_000)
    assert large < 8 * max(small, 0.05) * 4  # 64 times as much where it grows with the square


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("points", "first", 9), ("points", "count", 9), ("points", "count", -1), ("points", "before", 5),
        ("points", "at", -2), ("points", "reason", 99), ("points", "ip", 7),
        ("operands", "base", 77), ("operands", "base", -2), ("operands", "kind", 0), ("operands", "kind", 9),
        ("operands", "role", 0), ("operands", "holds", 3), ("operands", "point", 2), ("operands", "segment", 3),
    ],
)  # fmt: skip
def test_an_answer_that_does_not_fit_together_is_refused(table: str, column: str, value: int) -> None:
    points, operands = np.zeros(2, POINT_DTYPE), np.zeros(2, OPERAND_DTYPE)
    ips = np.array([BASE, BASE + 1], np.uint64)
    points["ip"], points["first"], points["count"], points["before"], points["at"] = ips, [0, 1], 1, [0, 1], -1
    operands["kind"], operands["role"], operands["point"] = 1, 3, [0, 1]
    check_operands(points, operands, ips)
    {"points": points, "operands": operands}[table][column][0] = value
    with pytest.raises(LinemateError, match="the operands of its answer are broken"):
        check_operands(points, operands, ips)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda raw: raw[:20], "its answer has no header"),
        (lambda raw: b"LMANSWR2" + raw[8:], "its answer has an unknown format"),
        (lambda raw: raw[:-1], "its answer is truncated"),
        (lambda raw: raw + b"\0", "its answer has a tail"),
    ],
)
def test_a_broken_answer_is_one_line(change: Callable[[bytes], bytes], why: str) -> None:
    with pytest.raises(LinemateError, match=why):
        read_answer(change(ask(query())), 1)
