"""The judged accesses of an image as lists, one a field.

Owns nothing but the form: whoever takes accesses one by one reads lists several times as quickly as rows of tables.
"""

from __future__ import annotations

import msgspec

from sharing.basics.ways import mirrors
from sharing.model.image import AccessKind, Image, SiteFlag
from sharing.model.profile import Spot
from sharing.model.ways import Point
from sharing.static.correlate import Accesses

LOAD, STORE, RMW = int(AccessKind.LOAD), int(AccessKind.STORE), int(AccessKind.RMW)
INDEXED, ATOMIC, VIA_CALL = int(SiteFlag.INDEXED), int(SiteFlag.ATOMIC), int(SiteFlag.VIA_CALL)
WALKS, OWN, BITMAP = int(SiteFlag.WALKS), int(SiteFlag.OWN), int(SiteFlag.BITMAP)
GIVEN = int(SiteFlag.GIVEN)


class AccessColumns(msgspec.Struct, frozen=True):
    """By row of ``Accesses``: its columns, and those of its table of sites."""

    target: list[int]
    kind: list[int]
    function: list[int]
    flags: list[int]
    depth: list[int]
    stride: list[int]
    size: list[int]
    weight: list[float]
    lock: list[int]
    cold: list[bool]
    mask: list[int]
    ip: list[int]
    order: list[int]
    spots: list[Spot]  # where they are in their functions, with their weight
    rest: list[float] | None

    @staticmethod
    def of(accesses: Accesses, image: Image) -> AccessColumns:
        sites = accesses.sites
        ip, order, weight = sites["ip"].tolist(), sites["order"].tolist(), accesses.weight.tolist()
        return AccessColumns(
            target=sites["target"].tolist(),
            kind=sites["kind"].tolist(),
            function=sites["function"].tolist(),
            flags=sites["flags"].tolist(),
            depth=sites["loop_depth"].tolist(),
            stride=sites["stride"].tolist(),
            size=sites["size"].tolist(),
            weight=weight,
            lock=accesses.lock.tolist(),
            cold=accesses.cold.tolist(),
            mask=accesses.mask.tolist(),
            ip=ip,
            order=order,
            spots=list(map(Spot, map(Point, order, mirrors(image, sites).tolist(), ip), weight)),
            rest=accesses.rest.tolist() if accesses.rest is not None else None,
        )
