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
    mirror: list[int]
    rest: list[float] | None
    spots: dict[int, Spot]  # of those that were asked for

    @staticmethod
    def of(accesses: Accesses, image: Image) -> AccessColumns:
        sites = accesses.sites
        return AccessColumns(
            target=sites["target"].tolist(),
            kind=sites["kind"].tolist(),
            function=sites["function"].tolist(),
            flags=sites["flags"].tolist(),
            depth=sites["loop_depth"].tolist(),
            stride=sites["stride"].tolist(),
            size=sites["size"].tolist(),
            weight=(accesses.weight if accesses.lasting is None else accesses.weight * accesses.lasting).tolist(),
            lock=accesses.lock.tolist(),
            cold=accesses.cold.tolist(),
            mask=accesses.mask.tolist(),
            ip=sites["ip"].tolist(),
            order=sites["order"].tolist(),
            mirror=mirrors(image, sites).tolist(),
            rest=accesses.rest.tolist() if accesses.rest is not None else None,
            spots={},
        )

    def spot(self, at: int) -> Spot:
        """Where the access is in its function, with its weight."""
        found = self.spots.get(at)
        if found is None:
            found = self.spots[at] = Spot(Point(self.order[at], self.mirror[at], self.ip[at]), self.weight[at])
        return found
