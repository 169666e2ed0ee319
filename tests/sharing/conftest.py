"""Compilers for tests whose oracle is a compiled program; a missing one is a visible skip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import cpp

Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """``compiled("gcc", "c", text, *flags)``: the linked program; equal requests are built once."""
    done: dict[tuple[str, ...], Path] = {}

    def build(tool: str, suffix: str, text: str, *flags: str) -> Path:
        key = (tool, suffix, text, *flags)
        if key not in done:
            program = tmp_path_factory.mktemp("sharing") / "program"
            source = program.with_suffix(f".{suffix}")
            source.write_text(text)
            done[key] = cpp.build(tool, source, program, *flags, "-pthread")
        return done[key]

    return build
