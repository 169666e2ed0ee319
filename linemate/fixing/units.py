"""Which sources ``linemate fix`` reads, and how.  Owns the options that say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linemate.options import FactsRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Which units are read, and how; ``streams`` are facts of earlier runs."""

    database: str | None
    streams: tuple[str, ...]
    jobs: int
    no_cache: bool
    assume_threads: bool

    def request(self, sources: tuple[str, ...], flags: tuple[str, ...] | None) -> FactsRequest:
        from linemate.checking.run import facts_request
        from linemate.options import FactsRequest as Request

        if self.streams:
            return Request()
        return facts_request(self.database, sources, flags, self.jobs, cached=not self.no_cache)
