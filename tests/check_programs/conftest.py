"""What tests of whole programs in source share: what ``check`` finds in one file that a test writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model.errors import LinemateError
from sharing.model.finding import Finding, Severity


def findings(source: Path, *flags: str) -> tuple[Finding, ...]:
    """Of one file of source, compiled with these flags."""
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    options = CheckOptions(facts=FactsRequest(sources=(str(source),), flags=flags))
    return tuple(check_program(read_program(options), options).findings)


def severest(folder: Path, text: str, suffix: str = "c") -> dict[str, Severity]:
    """The severest finding of each rule in a program in C, or C++20 with the suffix cc, from low on."""
    source = folder / f"main.{suffix}"
    source.write_text(text)
    found: dict[str, Severity] = {}
    for one in findings(source, "-O2", *(() if suffix == "c" else ("-std=c++20",))):
        if one.severity.rank >= Severity.LOW.rank:
            found[one.rule] = max(found.get(one.rule, Severity.NOTE), one.severity, key=lambda s: s.rank)
    return found
