"""The first screen of a comparison: one verdict in every format, what was measured, and what to do next."""

from __future__ import annotations

import html
import re

import msgspec
import pytest

from reports.explain import EXPLAIN_EMITTERS
from sharing.model.comparison import CauseKind, Comparison
from tests.explain.test_explain_reports import comparison


def weak(strength: float = 0.2) -> Comparison:
    """Causes of that strength, and no profile."""
    made = comparison()
    causes = tuple(msgspec.structs.replace(c, strength=strength, kind=CauseKind.CODE) for c in made.causes)
    return msgspec.structs.replace(made, causes=causes, profile=(), places=())


def nothing() -> Comparison:
    made = weak()
    return msgspec.structs.replace(made, causes=(msgspec.structs.replace(made.causes[0], kind=CauseKind.NONE),))


@pytest.mark.parametrize(
    ("found", "said"),
    [(weak(), "no likely cause"), (weak(0.3), "first suspect: code"), (nothing(), "no cause found")],
    ids=["weak", "strong", "none"],
)
def test_every_format_has_the_same_heading(found: Comparison, said: str) -> None:
    page = EXPLAIN_EMITTERS["html"].render(found)
    title, first = (re.findall(f"<{tag}>(.*?)</{tag}>", page)[0] for tag in ("title", "h1"))
    assert html.unescape(title) == f"linemate: {said}"
    assert html.unescape(first).lower() == said
    assert EXPLAIN_EMITTERS["markdown"].render(found).startswith(f"### linemate: {said}")
    assert ("nothing found here explains" in EXPLAIN_EMITTERS["text"].render(found)) == (said == "no likely cause")
