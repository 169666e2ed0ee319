"""Accesses to static storage and behind pointers as one table, for what is asked of their places in code alone.

Owns the way there and back, and making what is seldom done there so.
"""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.basics.kept import same_places
from sharing.model.arrays import copied, stacked
from sharing.model.image import Image, Table


def every_site(image: Image) -> Table:
    """Those to static storage, then those of ``Behind.elsewhere``."""
    behind = image.behind.elsewhere
    return stacked([image.sites, behind]) if len(behind) else image.sites


def with_sites(image: Image, sites: Table) -> Image:
    """The image with these, in the same order."""
    behind = msgspec.structs.replace(image.behind, elsewhere=sites[len(image.sites) :])
    return dataclasses.replace(image, sites=sites[: len(image.sites)], behind=behind)


def raised(rows: Table, seldom: npt.NDArray[np.bool_]) -> Table:
    """Rows of accesses or calls, those that are ``seldom`` made no more often than SELDOM says."""
    if not seldom.any():
        return rows
    found = same_places(rows, copied(rows))
    rarity = found["rarity"]
    rarity[seldom] = np.maximum(rarity[seldom], shared.SELDOM)
    return found
