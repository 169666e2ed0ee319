"""The records that sampled memory of two builds is made of, by the debug information around the sampled instructions.

Owns which instructions are asked for, and that each build is read once, when it is first asked.  What changed between
two records is ``sharing.explain.records``'.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from elfscan.debug.locals import read_locals
from linemate.sampled.judging import JudgedProfiles
from sharing.explain.records import laid_out_anew, record_named
from sharing.explain.seenpairs import SampledPair
from sharing.model.errors import LinemateError
from sharing.model.types import TypeTable

MAX_INSTRUCTIONS = 4096  # of one file that are asked for


class Records:
    """The types of two builds, OLD and NEW, as far as their profiles come to them."""

    def __init__(self, old: JudgedProfiles, new: JudgedProfiles) -> None:
        self._old, self._new = old, new

    def __call__(self, seen: SampledPair) -> str:
        """How the records that hold two things of the new build were laid out anew, "" where they were not."""
        objects = [seen.line.objects[i] for i in seen.draft.items[:2]] if seen.line.objects else []
        used: dict[str, list[str]] = {}
        for one in objects:
            if one is not None and not one.local:
                used.setdefault(one.type_name, []).extend([one.member.path] if one.member is not None else [])
        said = []
        for name, paths in used.items():
            old, new = (record_named(types, name) for types in self._types)
            if old is not None and new is not None and (text := laid_out_anew(old, new, dict.fromkeys(paths))):
                said.append(text)
        return "; ".join(said)

    @cached_property
    def _types(self) -> tuple[list[TypeTable], list[TypeTable]]:
        return _types_of(self._old), _types_of(self._new)


def _types_of(profiles: JudgedProfiles) -> list[TypeTable]:
    """The types around the instructions that were seen at memory without a variable."""
    here = {file.module.path for one in profiles.mapped for file in one.files if not file.module.missing}
    wanted: dict[str, set[int]] = {}
    for use in profiles.run.lines:
        for site in use.sites if use.link < 0 else ():
            if site.module in here:
                wanted.setdefault(site.module, set()).add(site.ip)
    out = []
    for path, ips in wanted.items():
        try:
            out.append(read_locals(path, np.array(sorted(ips)[:MAX_INSTRUCTIONS], np.uint64)).types)
        except (LinemateError, OSError):
            continue  # as where it has no debug information
    return out
