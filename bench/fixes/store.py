"""What came out, commit by commit: a run may judge some, and the page is of all."""

from __future__ import annotations

from pathlib import Path

import msgspec

from bench.fixes.outcome import Outcome, Side

KEPT = Path(__file__).with_name("outcomes.json")


def kept() -> dict[str, tuple[Side, Side]]:
    """Before and after of each commit that was judged, by name."""
    return msgspec.json.decode(KEPT.read_bytes(), type=dict[str, tuple[Side, Side]]) if KEPT.exists() else {}


def keep(outcome: Outcome) -> None:
    """Put an outcome in the place of the one that was kept."""
    rows = {**kept(), outcome.fix.name: (outcome.before, outcome.after)}
    text = msgspec.json.format(msgspec.json.encode(dict(sorted(rows.items()))), indent=1)
    KEPT.write_bytes(text + b"\n")
