"""The glossary has the words that reports use: each value of the code has an entry, and each entry says something."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import pytest

from sharing.model.comparison import CauseKind
from sharing.model.finding import Confidence, Severity, Verdict
from sharing.model.profile import Role
from sharing.model.vocabulary import LockKind

ROOT = Path(__file__).resolve().parents[2]
ENTRY = re.compile(r"^ *- ((?:\*\*[^*]+\*\*(?: \([^)]*\))?(?:, )?)+):[ ]+(\S.*)$", re.MULTILINE)


def entries(text: str) -> dict[str, str]:
    """By term: what is said of it.  Several terms may share an entry."""
    return {term: said for terms, said in ENTRY.findall(text) for term in re.findall(r"\*\*([^*]+)\*\*", terms)}


GLOSSARY = entries((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))


def values(kind: type[StrEnum]) -> Iterable[str]:
    return (one.value for one in kind)


@pytest.mark.parametrize("kind", [Verdict, Severity, Confidence, Role, LockKind, CauseKind])
def test_every_value_that_a_report_shows_has_an_entry(kind: type[StrEnum]) -> None:
    assert [value for value in values(kind) if value not in GLOSSARY] == []


def test_ladders_stand_in_their_order() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for kind, heading in ((Severity, "### Severity"), (Confidence, "### Confidence")):
        part = text.split(heading)[1].split("\n#")[0]
        assert list(entries(part)) == list(values(kind))


def test_a_term_without_a_sentence_is_no_entry() -> None:
    assert entries("- **line**: what caches move.\n- **hole**:\n- **load**, **store** (write): one\n") == {
        "line": "what caches move.",
        "load": "one",
        "store": "one",
    }


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md"])
def test_the_glossary_is_linked(page: str) -> None:
    assert "(docs/glossary.md)" in (ROOT / page).read_text(encoding="utf-8")
