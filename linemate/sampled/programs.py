"""The samples of a profile that are of the judged file's processes: a profile of the machine has others as well.

Owns the choice.  A process counts from when it maps the file, its children from their beginning; so does one that
shares writable memory with these, for it may be the one that disturbs them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from sharing.model.operands import MappedFiles
from sharing.model.samples import MappingFlag, Samples

_PROT_WRITE = 2
_OBJECT = ["major", "minor", "inode", "generation"]  # what makes two mappings one memory


def of_program(samples: Samples, files: MappedFiles) -> Samples:
    """``samples`` without those of other programs; all of them where the profile does not say which are whose."""
    target = files.of_mapping == 0
    table = samples.samples
    if files.kernel or files.unmapped or not target.any() or not len(table):
        return samples
    pid, time = np.ascontiguousarray(table["pid"]), np.ascontiguousarray(table["time"])
    keep = samples.spaces.latest(target, pid, time) >= 0
    if keep.all() or not keep.any():
        return samples
    partners = _shared_with(samples, np.unique(pid[keep]))
    if partners.any():
        keep |= samples.spaces.latest(partners, pid, time) >= 0
    count = len(table)
    kept = table[np.flatnonzero(keep)]
    # Of a thinned profile, each stands for several.
    whole = round(samples.counts.samples * len(kept) / count)
    return dataclasses.replace(samples, samples=kept, counts=dataclasses.replace(samples.counts, samples=whole))


def _shared_with(samples: Samples, pids: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Mappings of writable memory that one of the processes maps as well."""
    rows = samples.mappings
    shared = (rows["flags"] & MappingFlag.SHARED != 0) & (rows["protection"] & _PROT_WRITE != 0) & (rows["inode"] > 0)
    objects = np.zeros(len(rows), np.int64)
    if shared.any():
        objects = np.unique(rows[_OBJECT], return_inverse=True)[1].astype(np.int64).reshape(-1)
    mine = np.unique(objects[shared & np.isin(rows["pid"], pids)])
    return np.asarray(shared & np.isin(objects, mine))
