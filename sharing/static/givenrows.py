"""Rows of an array of arrays: ``histogram[thread][kind]``, where threads are handed the number of the row.

Owns whose the steps of such an access are.  In what a thread begins with, whatever it is handed chooses the thread's
row and the other index a place in it: two threads are a row apart.  In other functions either index may be the
thread's, and as ever neighbours are taken to be what threads have.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from sharing.model.arrays import among, copied, distinct
from sharing.model.image import Image, SiteFlag
from sharing.static.callgraph import CallGraph


def with_given_rows(image: Image, calls: CallGraph) -> Image:
    """The image whose strides are of rows only where threads have rows; ``ROW`` is gone, ``within_rows`` has these."""
    if image.origins or not (image.sites["flags"] & SiteFlag.ROW).any():
        return image
    sites = copied(image.sites)
    rows = sites["flags"] & SiteFlag.ROW != 0
    entries = [root.function for root in calls.roots if root.function >= 0 and root.name != "main"]
    elsewhere = rows & ~among(sites["function"], np.array(entries, sites["function"].dtype))
    sites["stride"][elsewhere] = np.minimum(sites["size"][elsewhere], sites["stride"][elsewhere])
    sites["flags"][rows] &= np.uint8(255 - SiteFlag.ROW)
    return dataclasses.replace(image, sites=sites, within_rows=distinct(sites["ip"][rows & ~elsewhere]))
