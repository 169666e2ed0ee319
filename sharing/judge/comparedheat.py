"""What counts as hot where two revisions of a program are compared.

Owns that both are held to one bar.  What is hot follows from ranks and from what is busiest in a program: where a
change makes the busiest of all rare, what was busy beside it all the time would look like news.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from sharing.static.correlate import Thresholds


@dataclass(slots=True)
class ComparedHeat:
    """Bars by the name of an image, in the order in which revisions are judged: the newest first."""

    newest: dict[str, Thresholds] = field(default_factory=dict)

    def bar(self, image: str, own: Thresholds) -> Thresholds:
        """The bar for this revision of an image: of an older one no higher than that of the newest."""
        first = self.newest.setdefault(image, own)
        least = {name: min(getattr(own, name), getattr(first, name)) for name in ("write", "read", "plain")}
        return msgspec.structs.replace(own, **least)
