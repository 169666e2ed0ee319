"""Which object of one build is which object of the other.

Owns the matching of variables and of functions, from strict to loose: the same linkage name in the same source file
first, what touches the same bytes from the same functions last.  What stays ambiguous stays unmatched.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.explain.behaviour import mixed
from sharing.explain.identity import Ids, Objects
from sharing.explain.samecode import CodeReader
from sharing.explain.users import Users


class MatchBasis(IntEnum):
    """By what a pair was recognised, the most certain first."""

    NAME = 1  # the same linkage name, and source file where both know it
    ALIAS = 2  # one's name is another name of the other
    SUFFIX = 3  # the same name but for what compilers append
    ORDER = 4  # of several of one name, the one at the same place among its neighbours
    BODY = 5  # functions without a name: the same accesses and calls at the same offsets
    ACCESS = 6  # the same functions touch the same bytes of it in the same way
    PLACE = 7  # of the same size, as far from neighbours that did not move apart
    RENAME = 8  # of one type between the same neighbours, and used by a function that uses it there


PAIR_DTYPE = np.dtype([("old", "<i4"), ("new", "<i4"), ("how", "u1")])


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs (PAIR_DTYPE, by old row), and for each row of either side its pair, -1 unmatched.

    ``absence_shows_old`` and ``absence_shows_new`` mark the rows whose absence on the other side would
    show, since that side names such objects.
    """

    old: Objects
    new: Objects
    pairs: npt.NDArray[Any]
    of_old: Ids
    of_new: Ids
    absence_shows_old: npt.NDArray[np.bool_]
    absence_shows_new: npt.NDArray[np.bool_]


def _inverse(rows: Ids, like: Ids) -> Ids:
    out = np.full(len(like), -1, np.int64)
    out[rows] = np.arange(len(rows))
    return out


class _Search:
    """Pairs found so far; each round looks only at what is left."""

    def __init__(self, old: Objects, new: Objects) -> None:
        self.old, self.new = old, new
        self.renamed = _renamed_files(old, new)
        self.of_old = np.full(len(old), -1, np.int64)  # the row on the other side
        self.of_new = np.full(len(new), -1, np.int64)
        self.how = np.zeros(len(old), np.uint8)

    def left(self) -> tuple[Ids, Ids]:
        return np.flatnonzero((self.of_old < 0) & self.old.named), np.flatnonzero((self.of_new < 0) & self.new.named)

    def take(self, old: Ids, new: Ids, how: MatchBasis) -> None:
        self.of_old[old], self.of_new[new], self.how[old] = new, old, how

    def unique(self, columns: list[tuple[Ids, Ids]], how: MatchBasis, rows: tuple[Ids, Ids] | None = None) -> None:
        """Pair the rows whose key, over all columns, only one row on each side has."""
        old, new = self.left() if rows is None else rows
        if not len(old) or not len(new):
            return
        keys = _factorise([(a[old], b[new]) for a, b in columns])
        at_old, at_new = _singles(keys[: len(old)], keys[len(old) :])
        old, new = old[at_old], new[at_new]
        good = self.compatible(old, new)
        if how in (MatchBasis.BODY, MatchBasis.PLACE):
            good &= ~(self.old.named[old] & self.new.named[new])
        self.take(old[good], new[good], how)

    def ordinal(self, columns: list[tuple[Ids, Ids]], how: MatchBasis, rows: tuple[Ids, Ids] | None = None) -> None:
        """Pair by position the rows of a key that equally many rows on both sides have."""
        old, new = self.left() if rows is None else rows
        if not len(old) or not len(new):
            return
        keys = _factorise([(a[old], b[new]) for a, b in columns])
        mine, theirs = keys[: len(old)], keys[len(old) :]
        count = int(keys.max()) + 1
        equal = np.bincount(mine, minlength=count) == np.bincount(theirs, minlength=count)
        old, mine = old[equal[mine]], mine[equal[mine]]
        new, theirs = new[equal[theirs]], theirs[equal[theirs]]
        old, new = old[np.argsort(mine, kind="stable")], new[np.argsort(theirs, kind="stable")]
        good = self.compatible(old, new)
        if how is MatchBasis.BODY:
            good &= ~(self.old.named[old] & self.new.named[new])
        self.take(old[good], new[good], how)

    def compatible(self, old: Ids, new: Ids) -> npt.NDArray[np.bool_]:
        """Statics of two source files are two variables, however they are called; unless the file was renamed."""
        one, other = self.old.file[old], self.new.file[new]
        apart = (one >= 0) & (other >= 0) & (one != other)
        for before, after in self.renamed:
            apart &= (one != before) | (other != after)
        result: npt.NDArray[np.bool_] = ~(apart & self.old.local[old] & self.new.local[new])
        return result

    def anchors(self, *, after: bool) -> tuple[Ids, Ids]:
        """For each row the pair nearest before it (``after``: behind it) in its section, as a row of the old side."""
        return (
            _nearest(np.where(self.of_old >= 0, np.arange(len(self.old)), -1), self.old, after=after),
            _nearest(self.of_new, self.new, after=after),
        )

    def result(self) -> Matching:
        rows = np.flatnonzero(self.of_old >= 0)
        pairs = np.zeros(len(rows), PAIR_DTYPE)
        pairs["old"], pairs["new"], pairs["how"] = rows, self.of_old[rows], self.how[rows]
        complete_old, complete_new = self.old.complete, self.new.complete
        return Matching(
            self.old,
            self.new,
            pairs,
            _inverse(rows, self.of_old),
            _inverse(pairs["new"], self.of_new),
            # Of two builds that name exported objects only, those can be told; of a full and a stripped one, none.
            self.old.named & (complete_new or not complete_old),
            self.new.named & (complete_old or not complete_new),
        )


def _renamed_files(old: Objects, new: Objects) -> list[tuple[int, int]]:
    """Files that only one build has, each with the one of the other build that defines most of the same statics.

    One name alone may be another variable of another file.
    """
    rows = [
        np.flatnonzero(mine.local & mine.named & (mine.file >= 0) & ~np.isin(mine.file, theirs.file))
        for mine, theirs in ((old, new), (new, old))
    ]
    at = _singles(old.name[rows[0]], new.name[rows[1]])
    files = [side.file[chosen] for side, chosen in zip((old, new), rows, strict=True)]
    many = [Counter(of.tolist()) for of in files]
    shared = Counter(zip(files[0][at[0]].tolist(), files[1][at[1]].tolist(), strict=True))
    return [
        (before, after)
        for (before, after), count in shared.items()
        if count > 1 and 2 * count > max(many[0][before], many[1][after])
    ]


def match_functions(old: Objects, new: Objects, codes: tuple[CodeReader, CodeReader] | None = None) -> Matching:
    """Functions by name; of several statics of one name, the one between the same neighbours.

    ``codes`` read the instructions of either side, by which those without a name are recognised.
    """
    search = _Search(old, new)
    name, size = (old.name, new.name), (_signed(old.size), _signed(new.size))
    section, part = (old.section, new.section), (old.part, new.part)
    base = (old.base, new.base)
    search.unique([name], MatchBasis.NAME)
    _by_place(search, [name], size)
    search.ordinal([name, size], MatchBasis.ORDER)
    search.unique([base, part, section], MatchBasis.SUFFIX)
    search.unique([base, part], MatchBasis.SUFFIX)
    _by_place(search, [base, part], size)
    search.ordinal([base, part], MatchBasis.ORDER)
    _by_body(search)
    if codes is not None:
        _by_code(search, codes)
    return search.result()


def match_variables(old: Objects, new: Objects, functions: Matching | None = None) -> Matching:
    """Variables by name, then by other names, suffixes and neighbours; at last by who touches which bytes.

    ``functions`` joins the accesses of both sides; without it nothing is matched by access.
    """
    search = _Search(old, new)
    name, scope, local = (old.name, new.name), (old.scope, new.scope), (_number(old.local), _number(new.local))
    unit, file, kind = (old.unit, new.unit), (old.file, new.file), (old.type, new.type)
    size, section, base = (_signed(old.size), _signed(new.size)), (old.section, new.section), (old.base, new.base)
    search.unique([name, scope, local, unit], MatchBasis.NAME)
    search.unique([name, scope, local, file], MatchBasis.NAME)
    search.unique([name], MatchBasis.NAME)
    search.unique([name, scope, kind, size, section], MatchBasis.NAME)
    _by_alias(search)
    _by_place(search, [name, section], size)
    search.ordinal([name, section, size], MatchBasis.ORDER)
    search.unique([base, scope, file], MatchBasis.SUFFIX)
    search.unique([base, file, size], MatchBasis.SUFFIX)
    search.unique([base], MatchBasis.SUFFIX)
    _by_place(search, [base, section], size)
    search.ordinal([base, file, section, size], MatchBasis.ORDER)
    _by_object_file(search)
    if functions is not None:
        _by_access(search, functions)
        _by_rename(search, functions)
        _by_shift(search)
    return search.result()


def _by_body(search: _Search) -> None:
    """Functions that one side has no name for: of equal size, with equal accesses and calls at equal offsets."""
    bodies = (search.old.body, search.new.body)
    for columns in ([], [search.anchors(after=False)], [search.anchors(after=True)]):
        old = np.flatnonzero((search.of_old < 0) & (bodies[0] != 0))
        new = np.flatnonzero((search.of_new < 0) & (bodies[1] != 0))
        # Two different names are two functions, however alike; one side has to be nameless.
        if search.old.named[old].all() and search.new.named[new].all():
            return
        search.unique([bodies, *columns], MatchBasis.BODY, (old, new))


def _by_code(search: _Search, codes: tuple[CodeReader, CodeReader]) -> None:
    """What is left without a name, by all its instructions: the same but for addresses first, of the same shape last.

    Equal functions are told apart by their neighbours, or by their order where both builds have as many.
    """
    left = np.flatnonzero(search.of_old < 0), np.flatnonzero(search.of_new < 0)
    if not (len(left[0]) and len(left[1])) or (search.old.named[left[0]].all() and search.new.named[left[1]].all()):
        return
    old, new = codes[0](left[0]), codes[1](left[1])
    exact, shapes = (old.exact, new.exact), (old.shapes, new.shapes)
    for numbers in (exact, shapes):
        search.unique([numbers], MatchBasis.BODY, _numbered(search, numbers))
        for after in (False, True):
            search.unique([numbers, search.anchors(after=after)], MatchBasis.BODY, _numbered(search, numbers))
    search.ordinal([exact], MatchBasis.BODY, _numbered(search, exact))


def _numbered(search: _Search, numbers: tuple[Ids, Ids]) -> tuple[Ids, Ids]:
    """What is left of both sides and has a number."""
    return (
        np.flatnonzero((search.of_old < 0) & (numbers[0] != 0)),
        np.flatnonzero((search.of_new < 0) & (numbers[1] != 0)),
    )


def _by_place(search: _Search, columns: list[tuple[Ids, Ids]], size: tuple[Ids, Ids]) -> None:
    """The same key between the same neighbours; of the same size first."""
    for more in ([size], []):
        for after in (False, True):
            search.unique([*columns, *more, search.anchors(after=after)], MatchBasis.ORDER)


def _by_alias(search: _Search) -> None:
    """One side's leading name is among the other's names."""
    old, new = search.left()
    sides = []
    for objects, rows in ((search.old, old), (search.new, new)):
        left = np.isin(objects.alias_row, rows)
        row = np.concatenate([rows, objects.alias_row[left]])
        word = np.concatenate([objects.name[rows], objects.alias_name[left]])
        both = np.unique(np.stack([word, row]), axis=1)
        sides.append((both[1], both[0]))
    (row_old, word_old), (row_new, word_new) = sides
    if not len(row_old) or not len(row_new):
        return
    at_old, at_new = _singles(word_old, word_new)
    pairs = np.unique(np.stack([row_old[at_old], row_new[at_new]]), axis=1)
    # A row that several names lead to different partners is ambiguous.
    once = (np.bincount(pairs[0], minlength=len(search.old))[pairs[0]] == 1) & (
        np.bincount(pairs[1], minlength=len(search.new))[pairs[1]] == 1
    )
    pairs = pairs[:, once]
    pairs = pairs[:, search.compatible(pairs[0], pairs[1])]
    search.take(pairs[0], pairs[1], MatchBasis.ALIAS)


def _by_object_file(search: _Search) -> None:
    """Input sections that a linker's map gives no symbol for: of one object file, in their order."""
    old, new = search.old, search.new
    size, section = (_signed(old.size), _signed(new.size)), (old.section, new.section)
    for columns in (
        [(old.unit, new.unit), section, size],
        [(old.unit, new.unit), section],
        [(old.file, new.file), section],
    ):
        rows = tuple(
            np.flatnonzero((of < 0) & ~o.named & (o.unit >= 0))
            for of, o in ((search.of_old, old), (search.of_new, new))
        )
        search.ordinal(columns, MatchBasis.ORDER, (rows[0], rows[1]))


def _by_access(search: _Search, functions: Matching) -> None:
    """Unmatched objects, named or not, that the same functions touch at the same offsets."""
    old = np.flatnonzero(search.of_old < 0)
    new = np.flatnonzero(search.of_new < 0)
    mine = _signatures(search.old, np.where(functions.of_old >= 0, functions.of_old, -1))
    theirs = _signatures(search.new, np.where(functions.of_new >= 0, functions.of_new, -1))
    old, new = old[mine[old] != 0], new[theirs[new] != 0]
    columns = [(mine, theirs), (search.old.section, search.new.section)]
    search.unique([*columns, (_signed(search.old.size), _signed(search.new.size))], MatchBasis.ACCESS, (old, new))
    old, new = old[search.of_old[old] < 0], new[search.of_new[new] < 0]
    search.unique([*columns, search.anchors(after=False)], MatchBasis.ACCESS, (old, new))
    old, new = old[search.of_old[old] < 0], new[search.of_new[new] < 0]
    search.unique([*columns, search.anchors(after=True)], MatchBasis.ACCESS, (old, new))


def _by_rename(search: _Search, functions: Matching) -> None:
    """Names that one build alone has, as many between two neighbours as the other has there, one by one alike.

    What their functions do with them may have changed since; that one of these does something with both tells a new
    name from a new variable.
    """
    rows = search.left()
    before, after = search.anchors(after=False), search.anchors(after=True)
    sides = []
    for at, side in enumerate((search.old, search.new)):
        gaps: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        mine = rows[at][np.argsort(side.address[rows[at]], kind="stable")]
        for row in mine.tolist():
            gaps[int(side.section[row]), int(before[at][row]), int(after[at][row])].append(row)
        sides.append(gaps)
    used = _users(search.old, functions.of_old), _users(search.new, functions.of_new)
    for gap, mine_ in sides[0].items():
        theirs = sides[1].get(gap, [])
        if len(mine_) == len(theirs) and all(_renamed(search, used, a, b) for a, b in zip(mine_, theirs, strict=True)):
            old, new = np.array(mine_), np.array(theirs)
            good = search.compatible(old, new)
            search.take(old[good], new[good], MatchBasis.RENAME)


def _renamed(search: _Search, used: tuple[dict[int, set[int]], dict[int, set[int]]], old: int, new: int) -> bool:
    one, other = search.old, search.new
    same = one.size[old] == other.size[new] and one.type[old] == other.type[new]
    return bool(same) and bool(used[0].get(old, set()) & used[1].get(new, set()))


def _users(objects: Objects, pair_of_function: Ids) -> dict[int, set[int]]:
    """By variable the functions of both builds (rows of pairs) that use it."""
    found: dict[int, set[int]] = defaultdict(set)
    for one, function in Users(objects.image).functions().tolist():
        if (pair := int(pair_of_function[function])) >= 0:
            found[one].add(pair)
    return found


def _by_shift(search: _Search) -> None:
    """What has no name, between neighbours that moved by the same distance: what lay there before is there now.

    So data that only changed code touches is known where nothing moved it.
    """
    old, new = search.old, search.new
    if not len(old) or not len(new):
        return
    here = np.where(search.of_old >= 0, np.arange(len(old)), -1)
    shifts = []
    for after in (False, True):
        near = _nearest(here, old, after=after)
        partner = search.of_old[np.maximum(near, 0)]
        moved = (new.address[np.maximum(partner, 0)] - old.address[np.maximum(near, 0)]).view(np.int64)
        shifts.append((near >= 0, moved))
    (has, before), (also, behind) = shifts
    known = has & also & (before == behind)
    rows = np.flatnonzero((search.of_old < 0) & known), np.flatnonzero(search.of_new < 0)
    there = (old.address + before.view(np.uint64), new.address)
    columns = [
        (_signed(there[0]), _signed(there[1])),
        (_signed(old.size), _signed(new.size)),
        (old.section, new.section),
    ]
    search.unique(columns, MatchBasis.PLACE, rows)


def _signatures(objects: Objects, pair_of_function: Ids) -> Ids:
    """One number for the set of (function, offset, kind, size) that touch each variable; 0 for none."""
    image = objects.image
    out = np.zeros(len(objects), np.uint64)
    sites = image.sites
    if not len(sites) or not len(objects) or objects.code:
        return out.astype(np.int64)
    start = image.variables["address"].astype(np.uint64)
    row = image.variables_at(sites["target"])
    function = sites["function"].astype(np.int64)
    pair = np.where(function >= 0, pair_of_function[np.maximum(function, 0)], -1)
    good = (row >= 0) & (pair >= 0)
    row, pair, sites = row[good], pair[good], sites[good]
    word = mixed(pair.astype(np.uint64) + np.uint64(1))
    word = mixed(word ^ (sites["target"] - start[row]))
    kind, size = (sites[column].astype(np.uint64) for column in ("kind", "size"))
    word = mixed(word ^ (kind << np.uint64(32)) ^ size)
    # A set, not a list: an unrolled loop touches the same bytes more often.
    order = np.lexsort((word, row))
    row, word = row[order], word[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (word[1:] != word[:-1])
    np.add.at(out, row[first], word[first])
    return out.view(np.int64)


def _nearest(partner: Ids, objects: Objects, *, after: bool) -> Ids:
    """``partner`` of the nearest matched row before (behind) each row in order of (section, address); -1 none."""
    order = np.lexsort((objects.address, objects.section))
    if after:
        order = order[::-1]
    matched = partner[order] >= 0
    position = np.maximum.accumulate(np.where(matched, np.arange(len(order)), -1))
    ordered = np.where(position >= 0, partner[order][np.maximum(position, 0)], -1)
    same = objects.section[order][np.maximum(position, 0)] == objects.section[order]
    out = np.full(len(order), -1, np.int64)
    out[order] = np.where(same, ordered, -1)
    return out


def _factorise(columns: list[tuple[Ids, Ids]]) -> Ids:
    """One number per row (old rows, then new rows): equal where all columns are."""
    keys = np.zeros(len(columns[0][0]) + len(columns[0][1]), np.int64)
    for old, new in columns:
        _, column = np.unique(np.concatenate([old, new]), return_inverse=True)
        _, keys = np.unique(keys * (int(column.max()) + 1) + column, return_inverse=True)
    return keys


def _singles(old: Ids, new: Ids) -> tuple[Ids, Ids]:
    """Positions on both sides of the keys that occur once on each."""
    key_old, at_old, n_old = np.unique(old, return_index=True, return_counts=True)
    key_new, at_new, n_new = np.unique(new, return_index=True, return_counts=True)
    key_old, at_old = key_old[n_old == 1], at_old[n_old == 1]
    key_new, at_new = key_new[n_new == 1], at_new[n_new == 1]
    _, left, right = np.intersect1d(key_old, key_new, assume_unique=True, return_indices=True)
    return at_old[left], at_new[right]


def _signed(sizes: npt.NDArray[np.uint64]) -> Ids:
    return sizes.view(np.int64)


def _number(flags: npt.NDArray[np.bool_]) -> Ids:
    return flags.astype(np.int64)
