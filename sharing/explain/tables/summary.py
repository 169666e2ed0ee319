"""Figures at the end of a report, one a line: "old kernel, ext4: ~113 seconds".

Owns that form only: two such lines in a row at least, with a unit each.
"""

from __future__ import annotations

import re

from sharing.explain.tables.base import Measurement
from sharing.explain.tables.figures import figure
from sharing.model.errors import Unrecognized

# Possessive: of a line without a colon nothing is tried twice.
_LINE = re.compile(
    r"\s*+(?:[-*•] )?(?P<name>[^:|#]{1,80}+): ?(?P<figure>[~≈]? ?[-+]?\d[\d,.]{0,20}) ?"
    r"(?P<unit>[A-Za-zµμ%][A-Za-zµμ/%]{0,15}(?: per [a-z]{1,10})?)(?: ?\([^)]{0,80}\))?[.,;]?\s*"
)
_SECONDS = {"s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "minutes": 60.0, "min": 60.0}


def read(text: str, path: str) -> tuple[Measurement, ...]:
    """The figures by ``name``; the metric is their unit.  Raises Unrecognized."""
    out: list[Measurement] = []
    block: list[tuple[int, str, float, str]] = []
    for at, line in enumerate([*text.splitlines(), ""], 1):
        found = _LINE.fullmatch(line) if len(line) <= 200 else None
        value = figure(found["figure"]) if found else None
        if found and value is not None:
            factor = _SECONDS.get(found["unit"], 0.0)
            unit = "seconds" if factor else found["unit"]
            block.append((at, found["name"].strip(), value.value * (factor or 1.0), unit))
            continue
        # One unit is what makes lines a list of figures.
        if len(block) > 1 and len({unit for *_, unit in block}) == 1:
            table = block[0][0]
            out += [Measurement(unit, number, (("name", name),), line, table) for line, name, number, unit in block]
        block = []
    if not out:
        raise Unrecognized(path, "no list of figures")
    return tuple(out)
