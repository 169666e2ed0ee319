"""The native tools under test: whether they were built with sanitizers, and the processor time that they take."""

from __future__ import annotations

import os

import pytest


def not_with_sanitizers(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif("LINEMATE_NATIVE_UNLIMITED" in os.environ, reason=f"with sanitizers: {reason}")


def computed_by_helpers_s() -> float:
    """Processor time, which other work on the machine does not add to, of helpers that have ended."""
    times = os.times()
    return times.children_user + times.children_system
