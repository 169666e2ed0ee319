"""Which addresses lie in which sections.  Owns that question; which sections are meant is for the caller to say."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sharing.model.image import Section


def within(addresses: npt.NDArray[np.uint64], sections: Iterable[Section]) -> npt.NDArray[np.bool_]:
    """Which of the addresses lie in one of these sections, which do not overlap."""
    bounds = sorted((section.address, section.end) for section in sections if section.size)
    if not bounds:
        return np.zeros(len(addresses), bool)
    start, end = np.array(bounds, np.uint64).T
    at = np.searchsorted(start, addresses, "right").astype(np.int64) - 1
    inside: npt.NDArray[np.bool_] = (at >= 0) & (addresses < end[np.maximum(at, 0)])
    return inside
