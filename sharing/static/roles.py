"""What an object is to its program: a counter, a list, a switch that is hardly ever written.

Owns the reading of types and accesses as roles.  Locks are known by their types alone (``sharing.static.shapes``).
"""

from __future__ import annotations

from sharing.knowledge import Knowledge
from sharing.model.profile import Access, FrequentUse, Role
from sharing.model.types import Member
from sharing.static import numbers


def role_of(
    leaf: Member | None, accesses: tuple[Access, ...], knowledge: Knowledge, often: FrequentUse | None = None
) -> Role:
    """What the accesses make of an object that is no lock; ``leaf`` is its type where that is known.

    However much more a program reads it, what a thread surely writes each time around its loop is not read-mostly.
    """
    names = (*leaf.via, leaf.type_name) if leaf else ()
    if any(knowledge.list_types.find(n) >= 0 for n in names):
        return Role.LIST_HEAD
    writes = sum(a.weight for a in accesses if a.writes)
    reads = sum(a.weight for a in accesses if a.reads)
    written = any(a.writes for a in accesses)
    seldom = not (often and often.sure_writes)
    if seldom and written and writes < numbers.WARM_WEIGHT <= reads and reads > numbers.SELDOM_WRITTEN * writes:
        return Role.READ_MOSTLY  # atomic or not: a switch, a table made on first use
    stored = written and not any(a.reads for a in accesses if a.writes)
    if seldom and stored and reads > numbers.READ_MOSTLY * writes and leaf and leaf.type_name.endswith("*"):
        return Role.READ_MOSTLY  # it is stored for readers to find; of a flag most reads may be those of who waits
    if any(a.atomic and a.writes and a.mask for a in accesses):
        return Role.ATOMIC
    if not written and reads:
        return Role.CONSTANT  # atomic or not: a limit that is set where it is defined
    if leaf is not None and (leaf.is_atomic or any(knowledge.atomic_types.find(n) >= 0 for n in names)):
        return Role.ATOMIC
    if not written:
        return Role.CONSTANT
    if seldom and reads > numbers.READ_MOSTLY * writes:
        return Role.READ_MOSTLY
    changed = sum(a.weight for a in accesses if a.writes and a.reads)
    return Role.COUNTER if changed > numbers.COUNTER_FROM * writes else Role.WRITTEN
