"""What one audited image says, as the columns of the datasets.

Owns the step from the tables of the passes to columns; sums of many accesses are made by numpy, since an image has
hundreds of thousands.  Does not write them (``linemate.fleet.store``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linemate.auditing.image import AuditedImage
from linemate.version import __version__
from sharing.basics.naming import readable_names
from sharing.judge.passes import Passes
from sharing.model.finding import Finding, Severity
from sharing.model.image import AccessKind, SectionKind, SiteFlag, VariableFlag
from sharing.static.callees import function_name
from sharing.static.linemap import LineMap

Columns = Mapping[str, Any]

MOST_NAMES = 64  # of one line
_KINDS = {int(AccessKind.LOAD): "read", int(AccessKind.STORE): "write", int(AccessKind.RMW): "update"}


def columns_of(passes: Passes, audited: AuditedImage) -> dict[str, Columns]:
    """The rows of each dataset about one image, without what says which image it is."""
    table = _Variables(passes, audited.target.line_size)
    numbers = Counter(finding.severity for finding in audited.findings)
    image: dict[str, Any] = {
        "arch": audited.target.arch,
        "kind": audited.target.kind,
        "line_size": audited.target.line_size,
        "debug": audited.target.debug,
        "incomplete": audited.incomplete,
        **{severity.value: numbers[severity] for severity in Severity},
        "variables": len(table.rows),
        "notes": [*audited.trust, *audited.notes],
        "linemate": __version__,
    }
    return {
        "images": {name: [value] for name, value in image.items()},
        "findings": _findings(audited.findings),
        "variables": table.columns(),
        "lines": table.lines(),
        "accesses": _accesses(passes),
    }


def _findings(findings: Sequence[Finding]) -> Columns:
    return {
        "id": [f.id for f in findings],
        "rule": [f.rule for f in findings],
        "severity": [f.severity.value for f in findings],
        "severity_rank": [f.severity.rank for f in findings],
        "confidence": [f.confidence.value for f in findings],
        "verdict": [f.verdict.value for f in findings],
        "score": [f.score for f in findings],
        "line": [int(f.line.address, 16) for f in findings],
        "line_bytes": [f.line.size for f in findings],
        "names": [[who.full_name for who in f.participants] for f in findings],
        "roles": [[who.role for who in f.participants] for f in findings],
        "sources": [[who.source for who in f.participants] for f in findings],
        "message": [f.message for f in findings],
        "remedy": [f.remedies[0].text if f.remedies else "" for f in findings],
    }


class _Variables:
    """Variables in writable sections with what is done to them."""

    def __init__(self, passes: Passes, line_size: int) -> None:
        self.image, self.line_size = passes.image, line_size
        self._sections = {s.index: s.name for s in self.image.sections if s.kind is SectionKind.WRITABLE}
        table = self.image.variables
        self.rows = np.flatnonzero(np.isin(table["section"], list(self._sections)) & (table["size"] > 0))
        accesses, n = passes.accesses, len(table)
        at = accesses.variable
        known = at >= 0
        kind = accesses.sites["kind"]
        writes = (kind == AccessKind.STORE) | (kind == AccessKind.RMW)
        self.writes = _sums(at[known & writes], accesses.weight[known & writes], n)
        self.reads = _sums(at[known & ~writes], accesses.weight[known & ~writes], n)
        self.written = np.isin(np.arange(n), at[known & writes])
        self.atomic = np.isin(
            np.arange(n), at[known & writes & ((accesses.sites["flags"] & SiteFlag.ATOMIC) != 0) & (accesses.lock < 0)]
        )
        function = accesses.sites["function"][known].astype(np.int64)
        pairs = np.unique(np.stack([at[known], function]), axis=1)
        self.functions = np.bincount(pairs[0], minlength=n)
        locked = known & (accesses.lock >= 0)
        locks = passes.knowledge.locks
        self.lock = {row: locks[number].kind for row, number in zip(at[locked], accesses.lock[locked], strict=True)}
        self.names = {row: self.image.variable_name(row) for row in self.rows.tolist()}

    def columns(self) -> Columns:
        image, rows = self.image, self.rows
        table = image.variables[rows]
        size = np.uint64(self.line_size)
        unsized = VariableFlag.SIZE_INFERRED | VariableFlag.RECOVERED
        return {
            "name": [self.names[row] for row in rows.tolist()],
            "address": table["address"],
            "size": table["size"],
            "section": [self._sections[section] for section in table["section"].tolist()],
            "line": table["address"] // size * size,
            "type": [image.types.name(row) for row in table["type"].tolist()],
            "source": [
                f"{image.files[file]}:{line}" if file >= 0 else ""
                for file, line in zip(table["file"].tolist(), table["line"].tolist(), strict=True)
            ],
            "inferred": (table["flags"] & unsized) != 0,
            "lock": [self.lock.get(row, "") for row in rows.tolist()],
            "atomic": self.atomic[rows],
            "reads": self.reads[rows],
            "writes": self.writes[rows],
            "functions": self.functions[rows].astype(np.int32),
        }

    def lines(self) -> Columns:
        """Lines with two objects or more: a line that begins within an object has no second unless one begins there."""
        map_of_lines = LineMap(self.image, self.line_size)
        starts = self.image.variables["address"][self.rows].astype(np.uint64)
        ours = set(self.rows.tolist())
        out: dict[str, list[Any]] = {
            name: []
            for name in ("line", "section", "objects", "names", "locks", "atomics", "written", "reads", "writes")
        }
        for line in np.unique(starts // np.uint64(self.line_size)).tolist():
            address = line * self.line_size
            here = [row for row in map_of_lines.rows_in(address, address + self.line_size) if row in ours]
            if len(here) < 2:
                continue
            out["line"].append(address)
            out["section"].append(self._sections[int(self.image.variables["section"][here[-1]])])
            out["objects"].append(len(here))
            out["names"].append([self.names[row] for row in here[:MOST_NAMES]])
            out["locks"].append([self.names[row] for row in here if row in self.lock])
            out["atomics"].append(int(self.atomic[here].sum()))
            out["written"].append(int(self.written[here].sum()))
            out["reads"].append(float(self.reads[here].sum()))
            out["writes"].append(float(self.writes[here].sum()))
        return out


def _sums(rows: npt.NDArray[np.int64], weights: npt.NDArray[np.float64], n: int) -> npt.NDArray[np.float64]:
    return np.bincount(rows, weights=weights, minlength=n).astype(np.float64)


_ACCESS = np.dtype(
    [("function", "<i4"), ("variable", "<i8"), ("address", "<u8"), ("kind", "u1"), ("flags", "u1"), ("lock", "?")]
)


def _accesses(passes: Passes) -> Columns:
    """A row for each function, byte and way of access."""
    accesses, image = passes.accesses, passes.image
    sites = accesses.sites
    keys = np.zeros(len(sites), _ACCESS)
    function, target, kind = sites["function"], sites["target"], sites["kind"]
    keys["function"], keys["address"], keys["kind"] = function, target, kind
    keys["variable"], keys["lock"] = accesses.variable, accesses.lock >= 0
    keys["flags"] = sites["flags"] & (SiteFlag.ATOMIC | SiteFlag.INDEXED)
    found, where = np.unique(keys, return_inverse=True)
    depth = np.zeros(len(found), np.int64)
    np.maximum.at(depth, where, sites["loop_depth"])
    functions = {row: function_name(image, row) for row in np.unique(found["function"]).tolist()}
    readable = readable_names(list(functions.values()), passes.demangle)
    variables = {row: image.variable_name(row) if row >= 0 else "" for row in np.unique(found["variable"]).tolist()}
    return {
        "function": [readable[functions[row]] for row in found["function"].tolist()],
        "variable": [variables[row] for row in found["variable"].tolist()],
        "address": found["address"],
        "kind": [
            "lock" if lock else _KINDS.get(kind, "read")
            for kind, lock in zip(found["kind"].tolist(), found["lock"].tolist(), strict=True)
        ],
        "atomic": (found["flags"] & SiteFlag.ATOMIC) != 0,
        "indexed": (found["flags"] & SiteFlag.INDEXED) != 0,
        "sites": np.bincount(where, minlength=len(found)).astype(np.int32),
        "loop_depth": np.minimum(depth, 127).astype(np.int8),
        "weight": _sums(where, accesses.weight, len(found)),
    }
