"""Where a member is in the other build's variable: another place where its record was laid out anew.

Owns the join of two types by the paths of their members, or by their places where they have another name
(``renamed``) or one build wraps them in a record (``wrapped``).  Where either build says nothing of types, bytes stay
at their offset.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sharing.explain.identity import Ids
from sharing.explain.mates import MISSING
from sharing.explain.renamed import Key, Names, renamed_members
from sharing.explain.users import Users
from sharing.explain.wrapped import wrapped_members
from sharing.model.image import Image
from sharing.model.types import Member


class Members:
    """Offsets in variables of ``here``, as those of their partners in ``there``."""

    def __init__(self, here: Image, there: Image) -> None:
        self._here, self._there = here, there
        self.users = Users(here), Users(there)
        self._moved: dict[tuple[int, int], dict[Key, Member]] = {}

    def offset(self, row: int, partner: int, offset: int) -> int:
        """Where the byte at ``offset`` of a variable is in its partner, MISSING where that has no such member."""
        kind, other = (int(image.variables["type"][at]) for image, at in ((self._here, row), (self._there, partner)))
        if min(kind, other) < 0 or not (members := self._laid_out_anew(kind, other)):
            return offset
        leaf = self._here.types.leaf(kind, offset)
        if leaf is None:
            return offset
        there = members.get(_key(leaf))
        if there is None:
            return MISSING
        begin = leaf.begin(offset)
        element = (begin - leaf.offset) // leaf.stride if leaf.stride > 0 else 0
        return there.offset + element * there.stride + offset - begin

    def offsets(self, rows: Ids, partners: Ids, offsets: Ids) -> Ids:
        """The same for many at once; of partners -1, whatever."""
        out = offsets.copy()
        if not self._typed:
            return out
        kinds = self._here.variables["type"][rows]
        others = np.where(partners >= 0, self._there.variables["type"][partners], -1)
        both, inverse = np.unique(np.stack([kinds, others]), axis=1, return_inverse=True)
        anew = [min(pair) >= 0 and bool(self._laid_out_anew(*pair)) for pair in both.T.tolist()]
        for at in np.flatnonzero(np.array(anew, bool)[inverse.reshape(-1)]).tolist():
            out[at] = self.offset(int(rows[at]), int(partners[at]), int(offsets[at]))
        return out

    @cached_property
    def _typed(self) -> bool:
        return bool(len(self._here.types) and len(self._there.types))

    def _laid_out_anew(self, kind: int, other: int) -> dict[Key, Member]:
        """Members of the other type by what they are called; empty where both types lay them out alike."""
        if (kind, other) not in self._moved:
            here, there = ({_key(m): m for m in image.types.flatten(row)}
                           for image, row in ((self._here, kind), (self._there, other)))  # fmt: skip
            if here.keys() != there.keys():
                one, two = self.users
                used = (lambda key: _of(one, kind, here[key])), (lambda key: _of(two, other, there[key]))
                found = renamed_members(here, there, used) or wrapped_members(here, there, used)
                called = {new: old for old, new in found.items()}
                there = {called.get(key, key): member for key, member in there.items()}
            places = [{key: (m.offset, m.stride) for key, m in side.items()} for side in (here, there)]
            self._moved[kind, other] = {} if places[0] == places[1] else there
        return self._moved[kind, other]


def _of(users: Users, kind: int, member: Member) -> Names:
    return users.in_type(kind, member.offset, member.offset + max(member.size, 1))


def _key(member: Member) -> Key:
    return member.path, member.bit_offset, member.bit_size
