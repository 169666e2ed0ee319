"""Other places for a member in its record, so far from another member that no line ever holds both.

Owns the natural layout of members in another order: what costs nothing in a type of many objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sharing.basics.geometry import round_up
from sharing.judge.remedies.paths import Step
from sharing.model.types import TypeMember, TypeTable

Placed = tuple[int, int, int]  # start, end, new start: offsets in the variable
MAX_MEMBERS = 256
MAX_PLACES = 12  # each is judged on the whole object: a record of hundreds of members has hundreds


def elsewhere(
    types: TypeTable, steps: Sequence[Step], other: Step, line_size: int
) -> Iterator[tuple[str, tuple[Placed, ...]]]:
    """(member to stand behind, where all members are then), the end of the record first.

    Not in records with bit-fields, bases or alignment of their own: their layout is more than an order.
    """
    step = steps[-1]
    low, high = step.held
    core = step.holder
    if core < 0:
        return
    record = types[core]
    members = sorted(record.members, key=lambda m: m.offset_bits)
    if len(members) > MAX_MEMBERS or record.align > _natural(types, members) or high - low <= line_size:
        return
    if any(m.bit_size or m.is_base or not m.name or types.size(m.type) <= 0 for m in members):
        return
    at = next((i for i, m in enumerate(members) if low + m.offset_bits // 8 == step.start), -1)
    if at < 0 or _offsets(types, members) != [m.offset_bits // 8 for m in members]:
        return  # packed, or aligned by a declaration
    around = next((s.stride for s in reversed(steps) if s.of_array), 0)
    moved, found = members.pop(at), 0
    for behind in range(len(members) - 1, -1, -1):
        if behind == at - 1:
            continue  # where it is
        order = [*members[: behind + 1], moved, *members[behind + 1 :]]
        offsets = _offsets(types, order)
        end = round_up(offsets[-1] + types.size(order[-1].type), _natural(types, order))
        places = tuple(
            (low + m.offset_bits // 8, low + m.offset_bits // 8 + types.size(m.type), low + new)
            for m, new in zip(order, offsets, strict=True)
        )
        if end <= high - low and _far(places, step, other, line_size, around):
            yield members[behind].name, places
            found += 1
            if found == MAX_PLACES:
                return


def _far(places: Sequence[Placed], step: Step, other: Step, line_size: int, stride: int) -> bool:
    """Can no line hold bytes of both, wherever the object starts, nor of one and the next element's other?"""
    new = {start: (to, to + end - start) for start, end, to in places}
    if step.start not in new or other.start not in new:
        return False
    a, b = sorted((new[step.start], new[other.start]))
    far = b[0] - a[1] + 1 >= line_size
    return far and (not stride or a[0] + stride - b[1] + 1 >= line_size)


def _offsets(types: TypeTable, members: Sequence[TypeMember]) -> list[int]:
    out, at = [], 0
    for member in members:
        at = round_up(at, types.alignment(member.type))
        out.append(at)
        at += types.size(member.type)
    return out


def _natural(types: TypeTable, members: Sequence[TypeMember]) -> int:
    return max((types.alignment(m.type) for m in members), default=1)
