"""Samples of which only the function is known: spread over what that function's code touches.

Owns the shares.  Listings of oprofile and tables without addresses name functions; which of its accesses cost the time
they do not say.  So the rows get Basis.FUNCTION and no place, and the shares of a function are by how often the code
runs on paper: ten times as often for each loop around it, by the chance of its block.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sharing.basics import numbers as shared
from sharing.model.attribution import SPREAD_DTYPE, Basis, Reason
from sharing.model.image import AccessKind, Image
from sharing.model.samples import Samples

Table = npt.NDArray[Any]

# Why an address is not known although the function is: only then its accesses stand in for it.
_WITHOUT_ADDRESS = (Reason.NO_CODE, Reason.NO_REGISTERS)


def spread(samples: Samples, image: Image, functions: tuple[str, ...], out: Table) -> tuple[tuple[str, ...], Table]:
    """(all functions, SPREAD_DTYPE).  Rows of ``out`` whose function is all that is known get Basis.FUNCTION."""
    names = list(functions)
    row_of: dict[str, int] = {}
    for row, name in enumerate(names):
        row_of.setdefault(name, row)
    symbols = samples.samples["symbol"]
    target = image.path.rsplit("/", 1)[-1]
    symbol_function = np.full(len(samples.symbols) + 1, -1, np.int32)
    for number, symbol in enumerate(samples.symbols):
        if symbol.image and symbol.image.rsplit("/", 1)[-1] != target:
            continue
        if symbol.name not in row_of:
            row_of[symbol.name] = len(names)
            names.append(symbol.name)
        symbol_function[number] = row_of[symbol.name]
    if len(samples.symbols):
        unknown = out["function"] < 0
        out["function"][unknown] = symbol_function[symbols[unknown]]
    shares = _shares(image, names)
    if not len(shares) or not len(samples.symbols):
        return tuple(names), shares[:0]
    touching = np.zeros(len(names) + 1, np.bool_)
    touching[shares["function"]] = True
    use = touching[out["function"]] & (symbols >= 0) & np.isin(out["reason"], _WITHOUT_ADDRESS)
    out["basis"][use], out["reason"][use] = Basis.FUNCTION, Reason.NONE
    used = np.zeros(len(names) + 1, np.bool_)
    used[out["function"][use]] = True
    sharing = shares["function"]
    return tuple(names), shares[used[sharing]]


def _shares(image: Image, names: list[str]) -> Table:
    """The shares of all of the image's functions that are in ``names``."""
    sites = image.sites
    rows = np.flatnonzero((sites["kind"] != AccessKind.ADDRESS) & (sites["function"] >= 0))
    wanted: dict[str, int] = {}
    for row, name in enumerate(names):
        wanted.setdefault(name, row)
    of_function = np.full(len(image.functions) + 1, -1, np.int32)
    for row, name_row in enumerate(image.functions["name"].tolist()):
        if name_row >= 0:
            of_function[row] = wanted.get(image.names[name_row], -1)
    function = of_function[sites["function"][rows]]
    rows, function = rows[function >= 0], function[function >= 0]
    out = np.zeros(len(rows), SPREAD_DTYPE)
    out["function"], out["site"] = function, rows
    weight = shared.LOOP_FACTOR ** sites["loop_depth"][rows] * 2.0 ** (-sites["rarity"][rows] / shared.RARITY_STEPS)
    total = np.bincount(function, weight, len(names)) if len(rows) else np.zeros(len(names))
    out["share"] = weight / total[function]
    return out[np.argsort(function, kind="stable")]
