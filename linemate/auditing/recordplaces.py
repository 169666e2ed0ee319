"""Which records instructions of a file reach, by its code and its debug information.

Owns the join of both, and which records are a library's own.  What is done with them is
``sharing.static.recordobjects``'s.
"""

from __future__ import annotations

import itertools

import numpy as np

from elfscan.code.query import read_handed, read_origins
from elfscan.debug.locals import read_locals
from linemate.auditing.imagecode import code_of
from sharing.model.arrays import picked
from sharing.model.errors import LinemateError
from sharing.model.image import Image, Table
from sharing.model.linkage import is_cxx
from sharing.model.locals import Locals, Static
from sharing.model.operands import WordSet
from sharing.model.types import TypeKind
from sharing.sampled.reached import OF_LIBRARIES, Element, Reached, elements, reached
from sharing.static.recordplaces import ChosenElement, Place, Places

_ATOMIC = ("std::atomic<", "std::__atomic_base<", "__atomic_base<")
_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/")  # what compilers and packages bring


def read_places(image: Image, ips: Table, handed: Table) -> Places:
    """What is at sorted distinct addresses of instructions, and what calls (ARG_DTYPE by ip) are handed.

    Nothing where it cannot be read, nor of Go and Rust.

    These languages' own libraries are linked in, and most records that threads share are theirs.
    """
    if not all(map(_is_c, {unit.language for unit in image.units})):
        return Places({})
    try:
        bytes_at = code_of(image)
        starts, sizes = image.functions["address"], image.functions["size"]
        ends = starts + sizes
        rows = read_origins(image.arch, ips, starts, ends, bytes_at)
        given = read_handed(image.arch, handed["ip"].astype(np.uint64), handed["arg"], starts, ends, bytes_at)
        locals_ = read_locals(image.path, np.unique(np.concatenate([rows["ip"], given["ip"]])))
    except (LinemateError, OSError):
        return Places({})
    steps = _steps(image)
    found = {
        int(ips[asked]): place
        for asked, one in reached(rows, locals_).items()
        if not _steps_elsewhere(one, locals_, steps.get(int(ips[asked]), 0))
        and (place := _place(one, locals_)) is not None
    }
    calls = {
        (int(handed["ip"][asked]), int(handed["arg"][asked])): place
        for asked, one in reached(given, locals_).items()
        # Of an array each thread may have an element of its own.
        if one.exact and (place := _place(one, locals_)) is not None
    }
    spoken = locals_.language
    chosen = {
        int(ips[asked]): element
        for asked, one in elements(rows, locals_, image.arch.line_size).items()
        if (one.size <= 0 or steps.get(int(ips[asked]), 0) % one.size == 0)
        and (element := _chosen(one, locals_)) is not None
    }
    plain = _is_c(spoken) and not is_cxx(spoken)
    returned = {(int(handed["ip"][asked]), int(handed["arg"][asked])): ip for asked, ip in _returned(given).items()}
    return Places(
        found,
        handed=calls,
        plain=plain,
        language=spoken,
        chosen=chosen,
        without_tag=_without_tag(locals_),
        returned=returned,
    )


def _returned(rows: Table) -> dict[int, int]:
    """By row of the query the function that returned the value."""
    found = picked(rows, (rows["kept"] == WordSet.RETURNED) & (rows["parent"] < 0) & (rows["displacement"] == 0))
    return dict(zip(found["asked"].tolist(), found["ip"].tolist(), strict=True))


def _without_tag(locals_: Locals) -> frozenset[str]:
    """Records that only a typedef names."""
    types = locals_.types
    cores = ((row, types.strip(row)[0]) for row in range(len(types)))
    return frozenset(types.record_name(row) for row, core in cores if core >= 0 and not types[core].name) - {""}


def _steps(image: Image) -> dict[int, int]:
    """Bytes between the elements that an instruction chooses from, where code of one object tells."""
    sites = image.behind.sites
    stepping = picked(sites, sites["stride"] > 0)
    return dict(stepping[["ip", "stride"]].tolist())


def _steps_elsewhere(one: Reached, locals_: Locals, step: int) -> bool:
    """Are the elements chosen from, ``step`` bytes each, 0 not known, neither such records nor in one?

    Then they lie behind a record that stands in front of what was allocated with it.
    """
    size = locals_.types.size(one.type)
    if one.exact or not step or size <= 0 or step % size == 0:
        return False
    leaf = locals_.types.leaf(one.type, one.offset)
    return leaf is None or not leaf.stride or step % leaf.stride != 0


def _is_c(language: str) -> bool:
    """C or C++, of whichever standard."""
    return language.startswith("C")


def _place(one: Reached, locals_: Locals) -> Place | None:
    """None of a variable in the frame of its function, of what has no name, and of records of libraries."""
    name = locals_.types.record_name(one.type)
    if one.local or not name:
        return None
    record = locals_.types[locals_.types.strip(one.type)[0]]
    source = locals_.files[record.file] if 0 <= record.file < len(locals_.files) else ""
    if source.startswith(_SYSTEM) or name.startswith(OF_LIBRARIES):
        return None
    return Place(name, one.offset, one.exact)


def _chosen(one: Element, locals_: Locals) -> ChosenElement | None:
    """None where the array has no name of the program's own, or nothing says how large an element is, or a thread's own
    pointer leads to it: each thread set that, to what no other thread's leads to as far as is known here."""
    if one.variable in locals_.own:
        return None
    types = locals_.types
    holder = types.record_name(one.holder)
    leaf = types.leaf(one.holder, one.word)
    if holder and not holder.startswith(OF_LIBRARIES):
        holding, path = holder, leaf.path if leaf is not None else ""
    else:  # a static pointer, or a container
        holding, path = "", one.variable.name if isinstance(one.variable, Static) else ""
    record, atomic, count = "", False, 0
    core, qualifiers, _ = types.strip(one.type)
    if core >= 0:
        atomic = TypeKind.ATOMIC in qualifiers or types[core].name.startswith(_ATOMIC)
        if not (name := types.record_name(one.type)).startswith(OF_LIBRARIES):
            record = name
    elif leaf is not None:
        atomic = leaf.is_atomic or any(name.startswith(_ATOMIC) for name in leaf.via)
        count = leaf.count
    parts = path.partition("[]")[0].split(".")
    name = ".".join(itertools.takewhile(lambda part: not part.startswith(("__", "_M_")), parts))
    if not name or one.size <= 0 or (core < 0 and not count):
        return None
    return ChosenElement(
        holder=holding,
        word=name,
        record=record,
        size=one.size,
        count=count,
        offset=one.offset % one.size,
        atomic=atomic,
        walks=one.walks,
        by=frozenset(map(types.record_name, one.by)) - {"", holding},
    )
