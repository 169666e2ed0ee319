"""Of which class the objects are whose virtual functions a file calls, by its code and its debug information.

Owns the join of both, by the names of classes.  What is done with it is ``sharing.static.receivers``'s.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict

import numpy as np

from elfscan.code.query import read_origins
from elfscan.debug.demangle import demangle
from elfscan.debug.locals import read_locals
from linemate.auditing.imagecode import code_of
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.sampled.reached import called_of
from sharing.static.pointercalls import KeptFunctions

_TYPE_INFORMATION = "_ZTI"
_SHOWN = "typeinfo for "


def with_receivers(image: Image) -> Image:
    """The image with the families of objects of virtual calls that its code does not tell."""
    if not image.debug_source or not image.classes.tables or not len(image.behind.elsewhere):
        return image
    ips = KeptFunctions(image).undecided()
    if not len(ips):
        return image
    starts, sizes = image.functions["address"], image.functions["size"]
    ends = starts + sizes
    try:
        rows = read_origins(image.arch, ips, starts, ends, code_of(image))
        called = called_of(rows, read_locals(image.path, np.unique(rows["ip"])))
    except (LinemateError, OSError):
        return image
    families = _by_name(image)
    found = {}
    for asked, names in called.items():
        of = {family for name in names if (family := families.get(_plain(name))) is not None}
        if len(of) == 1:
            found[int(ips[asked])] = of.pop()
    return dataclasses.replace(image, receivers=found)


def _by_name(image: Image) -> dict[str, int]:
    """Families by the names of classes as debug information has them; what names classes of several is left out."""
    linkage = list(image.classes.names)
    found: dict[str, set[int]] = defaultdict(set)
    for name, shown in zip(linkage, demangle([_TYPE_INFORMATION + one for one in linkage]), strict=True):
        if shown.startswith(_SHOWN):
            found[_plain(shown.removeprefix(_SHOWN))].add(image.classes.names[name])
    return {name: of.pop() for name, of in found.items() if len(of) == 1}


def _plain(name: str) -> str:
    """Compilers and demanglers put spaces between brackets differently."""
    return name.replace(" ", "")
