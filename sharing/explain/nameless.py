"""Functions without a name in two profiles: each under one name, since their addresses differ between builds.

Owns that name.  Which of them are the same function is ``match``'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sharing.explain.dispersion import Counts
from sharing.explain.match import Matching
from sharing.explain.samples import Profile
from sharing.static.callees import function_name

UNRECOGNISED = "functions not recognised in the other build"


def under_one_name(old: Profile, new: Profile, functions: Matching) -> tuple[Profile, Profile]:
    """Both profiles with what is one function under the name that it has in the new build.

    What has neither a name nor a partner is summed: that it is in one build alone is not known.
    """
    before, after = functions.old, functions.new
    pairs = functions.pairs
    nameless = ~before.named[pairs["old"]] & ~after.named[pairs["new"]]
    known = {
        function_name(before.image, one): function_name(after.image, other)
        for one, other in zip(pairs["old"][nameless].tolist(), pairs["new"][nameless].tolist(), strict=True)
    }
    alone = [
        {function_name(side.image, row): UNRECOGNISED for row in np.flatnonzero((of < 0) & ~side.named).tolist()}
        for side, of in ((before, functions.of_old), (after, functions.of_new))
    ]
    return _renamed(old, {**alone[0], **known}), _renamed(new, alone[1])


def _renamed(profile: Profile, names: Mapping[str, str]) -> Profile:
    counts: dict[str, int] = {}
    blocks: dict[str, Counts] = {}
    for name, count in profile.counts.items():
        known = names.get(name, name)
        counts[known] = counts.get(known, 0) + count
    for name, spread in profile.blocks.items():
        known = names.get(name, name)
        blocks[known] = blocks[known] + spread if known in blocks else spread
    return replace(profile, counts=counts, blocks=blocks)
