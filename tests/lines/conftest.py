"""Golden files for the map of lines; ``pytest tests/lines tests/reports --update-golden`` accepts new text."""

from __future__ import annotations

from tests.golden import golden

__all__ = ["golden"]
