"""What the busy functions of a build reach through pointers: by its code, and its debug information if it has any.

Owns which functions are read, and the join of instructions with types.  What differs between two builds is
``sharing.explain.behind``'s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elfscan.code.query import read_operands, read_origins
from elfscan.debug.demangle import demangle
from elfscan.debug.locals import read_locals
from sharing.basics.naming import readable_names
from sharing.explain import numbers
from sharing.explain.activity import Activity
from sharing.explain.behind import Behind, Reach, Touch, behind
from sharing.explain.causes.base import Builds, is_file
from sharing.explain.code import Code, CodeChange, compare_code, read_code
from sharing.explain.records import Record, record_named
from sharing.model.arch import machine_named
from sharing.model.comparison import FileTraits
from sharing.model.errors import LinemateError
from sharing.model.image import AccessKind, FunctionFlag, Image
from sharing.model.locals import Locals
from sharing.model.operands import NO_REGISTER, OperandFlag, Role, Table
from sharing.model.types import Member
from sharing.sampled.reached import reached
from sharing.static import numbers as static_numbers
from sharing.static.callees import function_name

MAX_INSTRUCTIONS = 4096  # of one file that are asked for, of its busiest functions

Rows = npt.NDArray[np.int64]


def read_behind(builds: Builds) -> Behind:
    """What both builds reach through pointers, compared, where their code differs: offsets stand in instructions."""
    sides = ((builds.old, builds.old_traits), (builds.new, builds.new_traits))
    if not all(activity.known and activity.threaded and is_file(activity.image) for activity, _ in sides):
        return Behind()
    rows = [_run_by_threads(activity) for activity, _ in sides]
    if not _differ(builds, *rows):
        return Behind()
    try:
        old, new = (_reach(*side, chosen) for side, chosen in zip(sides, rows, strict=True))
    except (LinemateError, OSError) as error:
        return Behind(unshown=f"what is behind pointers could not be read: {error}")
    return behind(builds, old, new)


def _run_by_threads(activity: Activity) -> Rows:
    """The functions that threads run often, the busiest first; without entries of threads those that anybody runs."""
    assert activity.profiler is not None
    assert activity.context is not None
    graph, table = activity.profiler.graph, activity.image.functions
    threads = activity.context.thread_mask or activity.context.anybody
    own = ((table["flags"] & FunctionFlag.STUB) == 0) & (table["size"] > 0) & ~graph.cold[: len(table)]
    reached_by = np.array([bool(int(mask) & threads) for mask in graph.mask[: len(table)].tolist()], bool)
    rows = np.flatnonzero(own & reached_by)
    return rows[np.argsort(-graph.frequency[rows], kind="stable")][: numbers.BUSY_FUNCTIONS]


def _differ(builds: Builds, old: Rows, new: Rows) -> bool:
    """Whether any of these functions changed, came or went."""
    pairs = [of[rows] for of, rows in ((builds.functions.of_old, old), (builds.functions.of_new, new))]
    if any((some < 0).any() for some in pairs):
        return True
    both = builds.functions.pairs[np.union1d(*pairs)]
    old_codes, new_codes = (
        read_code(activity.image, traits, both[side].tolist())[0]
        for activity, traits, side in ((builds.old, builds.old_traits, "old"), (builds.new, builds.new_traits, "new"))
    )
    return any(
        compare_code(one, other) in (CodeChange.CHANGED, CodeChange.UNKNOWN)
        for one, other in zip(old_codes, new_codes, strict=True)
    )


def _reach(activity: Activity, traits: FileTraits, rows: Rows) -> Reach:
    """What the functions at ``rows`` reach.  Raises LinemateError where code or debug information cannot be read."""
    read = read_code(activity.image, traits, rows.tolist())[0]
    codes = {row: code for row, code in zip(rows.tolist(), read, strict=True)
             if code is not None and code.instructions is not None}  # fmt: skip
    asked = _instructions(activity, codes)
    return _joined(activity, codes, asked) if len(asked) else Reach()


def _instructions(activity: Activity, codes: dict[int, Code]) -> npt.NDArray[np.uint64]:
    """The instructions of these functions that run often: all of what is called often, else those in loops."""
    assert activity.profiler is not None
    out: list[npt.NDArray[np.int64]] = []
    for row, code in codes.items():
        assert code.instructions is not None
        offset = code.instructions["offset"].astype(np.int64)
        if activity.profiler.graph.frequency[row] < static_numbers.WARM_WEIGHT:
            offset = offset[_looped(code)]
        if sum(map(len, out)) + len(offset) > MAX_INSTRUCTIONS:
            break
        out.append(offset + code.address)
    return np.unique(np.concatenate(out).astype(np.uint64)) if out else np.zeros(0, np.uint64)


def _looped(code: Code) -> npt.NDArray[np.bool_]:
    """Which instructions a jump behind them leads back over."""
    rows = code.instructions
    assert rows is not None
    inside = np.zeros(len(rows), bool)
    offset, target = rows["offset"], rows["target"]
    back = np.flatnonzero((rows["jumps"] == 1) & (target <= offset) & (rows["target_is"] == 1))
    for at in back.tolist():
        inside[int(np.searchsorted(offset, target[at])) : at + 1] = True
    return inside


def _joined(activity: Activity, codes: dict[int, Code], asked: npt.NDArray[np.uint64]) -> Reach:
    image = activity.image
    table = image.functions[sorted(codes)]
    starts, sizes = table["address"], table["size"]
    ends = starts + sizes
    held = sorted(codes.values(), key=lambda code: code.address)

    def bytes_at(start: int, end: int) -> bytes:
        at = int(np.searchsorted(starts, np.uint64(start), "right")) - 1
        return held[at].data[start - held[at].address : end - held[at].address] if at >= 0 else b""

    _, operands = read_operands(image.arch, asked, starts, ends, bytes_at)
    origins = read_origins(image.arch, asked, starts, ends, bytes_at)
    known = read_locals(image.path, np.unique(origins["ip"])) if image.debug_source else Locals()
    found = reached(origins, known)
    machine = machine_named(image.arch.name)
    stack = machine.perf.number(machine.perf.stack) if machine is not None and machine.perf is not None else NO_REGISTER
    behind_pointer = _through_registers(origins, stack)
    accesses = _accesses(operands)
    names = _names(image, codes)
    order = np.array(sorted(codes), np.int64)
    static = np.isin(asked, image.sites["ip"]) | np.isin(asked, np.array(sorted(activity.of_statics), np.uint64))
    touches: list[Touch] = []
    records: dict[str, Record] = {}
    for number, (writes, size, atomic) in accesses.items():
        row = int(order[int(np.searchsorted(starts, asked[number], "right")) - 1])
        mask = _mask(activity, row)
        one = found.get(number)
        if (one is not None and one.local) or static[number]:
            continue  # of the frame, or static, also where callers hand on its address: that has an address of its own
        if one is None:
            if number in behind_pointer:
                touches.append(Touch(row, names[row], mask, "", "", behind_pointer[number], size, writes, atomic))
            continue
        name, member = known.types.name(one.type), known.types.leaf(one.type, one.offset)
        if name not in records:
            record = record_named([known.types], name)
            if record is None:
                continue
            records[name] = record
        touches.append(Touch(row, names[row], mask, name, _path(member), one.offset, size, writes, atomic))
    return Reach(tuple(touches), records)


def _path(member: Member | None) -> str:
    return member.path if member is not None else ""


def _mask(activity: Activity, row: int) -> int:
    assert activity.profiler is not None
    return int(activity.profiler.graph.mask[row])


def _names(image: Image, codes: dict[int, Code]) -> dict[int, str]:
    plain = {row: function_name(image, row) for row in codes}
    shown = readable_names(list(plain.values()), demangle)
    return {row: shown[name] for row, name in plain.items()}


def _accesses(operands: Table) -> dict[int, tuple[bool, int, bool]]:
    """(whether it writes, bytes, whether atomically) of what each instruction itself does, by its number."""
    fields = (operands[f].tolist() for f in ("point", "role", "kind", "size", "flags"))
    out: dict[int, tuple[bool, int, bool]] = {}
    for point, role, kind, size, flags in zip(*fields, strict=True):
        if role == Role.AT and kind in (AccessKind.LOAD, AccessKind.STORE, AccessKind.RMW):
            writes, most, atomic = out.get(point, (False, 1, False))
            out[point] = (
                writes or kind != AccessKind.LOAD,
                max(most, size),
                atomic or bool(flags & OperandFlag.ATOMIC),
            )
    return out


def _through_registers(origins: Table, stack: int) -> dict[int, int]:
    """The offset from a pointer that each instruction uses, by its number; of the frame of its function none."""
    parents = set(origins["parent"].tolist())
    out: dict[int, int] = {}
    fields = (origins[f].tolist() for f in ("asked", "parent", "base", "displacement"))
    for at, (asked, parent, base, offset) in enumerate(zip(*fields, strict=True)):
        if parent < 0 and offset >= 0 and base != stack and (base != NO_REGISTER or at in parents):
            out.setdefault(asked, offset)
    return out
