"""Samples without a place that may have been on any line: what a profile says nothing about.

Owns the choice.  A sample of an instruction that touches no memory has no place either.  It belongs to no line if the
distance between access and sampled instruction is known for the event.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sharing.model.attribution import Attribution, Basis, Reason
from sharing.sampled.attribution.sampledcode import skid_is_known


def is_unplaced(attribution: Attribution) -> npt.NDArray[np.bool_]:
    """By sample: was it perhaps on memory, nobody knows on which?"""
    rows = attribution.rows
    out = np.asarray(rows["basis"] == Basis.NONE)
    idle = np.flatnonzero(rows["reason"] == Reason.NO_ACCESS)
    samples = attribution.samples
    out[idle] = ~skid_is_known(samples.events, samples.samples[idle])
    return out
