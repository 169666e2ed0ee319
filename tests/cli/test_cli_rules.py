"""``linemate rules``: the registry as a list, and each rule's page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sharing.rules import RULES

Run = Callable[..., Any]


def test_every_rule_is_listed_in_the_order_of_the_registry(run: Run) -> None:
    result = run("rules")
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()] == [*(rule.id for rule in RULES), "guarded-pair-meets"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_has_a_page(run: Run, rule: Any) -> None:
    result = run("rules", rule.id)
    assert result.code == 0
    assert result.out.startswith(f"{rule.id}: {rule.name} ")
    assert rule.page.strip() in result.out


def test_an_unknown_rule_is_answered_with_the_nearest(run: Run) -> None:
    result = run("rules", RULES[0].id + "x")
    assert (result.code, result.out) == (2, "")
    assert result.err == f"linemate: error: no rule '{RULES[0].id}x': did you mean '{RULES[0].id}'?\n"
