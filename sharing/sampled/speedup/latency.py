"""What accesses would cost without sharing, by latencies: those of the same kind to lines that nobody shares.

Owns the comparison, after Cheetah (Liu and Berger, CGO 2016).  Latencies come with data addresses (PEBS, IBS, SPE).
Accesses overlap, so that the sum of their latencies is no time: what follows of them is a bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Attribution, Basis, TouchFlag
from sharing.model.image import AccessKind
from sharing.sampled import numbers

Column = npt.NDArray[Any]


def floors(attribution: Attribution, sample: Column, line: Column, lines: int) -> Column:
    """For each of ``lines`` the share of its accesses' latency that unshared ones have as well; 0 where not known.

    ``sample`` and ``line`` say which samples are on which shared line.
    """
    rows = attribution.rows
    recorded = attribution.samples.samples["weight"]
    if not recorded.any():
        return np.zeros(lines)
    weight = recorded.astype(np.float64)
    known = (rows["basis"] == Basis.ADDRESS) & (weight > 0)
    writes = np.isin(rows["kind"], (AccessKind.STORE, AccessKind.RMW))
    kind = writes + 2 * (rows["flags"] & TouchFlag.ATOMIC != 0)
    unshared = known.copy()
    unshared[sample] = False
    usual = np.zeros(4)
    for i in range(4):
        own = weight[unshared & (kind == i)]
        # Half of all accesses hit the first cache nearly everywhere; their mean would hold misses of other reasons.
        textbook = numbers.USUAL_ATOMIC_CYCLES if i & 2 else numbers.USUAL_CYCLES
        usual[i] = np.median(own) if len(own) >= numbers.MIN_LATENCIES else textbook
    here = known[sample]
    taken = np.bincount(line[here], weight[sample[here]], lines)
    alone = np.bincount(line[here], np.minimum(usual[kind[sample[here]]], weight[sample[here]]), lines)
    out: Column = np.where(taken > 0, alone / np.maximum(taken, 1e-12), 0.0)
    return out
