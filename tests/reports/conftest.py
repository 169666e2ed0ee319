"""Golden files for the emitters.

The option is registered where pytest is started on this folder; elsewhere golden files are only compared.
"""

from __future__ import annotations

import pytest

from tests.golden import golden

__all__ = ["golden"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the emitters produce as the new truth")
