"""Every rule of lines against hand-made lines: tests/rules/cases/*.toml say the layout, the accesses and the verdict.

A case expects exactly the findings it lists, no more; ``near`` names the rule that a clean case just misses, ``first``
the owners of the two actors that a finding blames, ``says`` and ``silent`` words that its sentence and evidence have
and have not.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sharing.model.finding import Confidence
from sharing.model.profile import Access, Actor, FrequentUse, Heat, LineProfile, Role, Spot
from sharing.model.ways import Point
from sharing.rules import DECLARATION_RULES, LINE_RULES, RULES, SAMPLED_RULES
from sharing.rules.line.base import Context, Span

CASES = sorted(
    (path.stem, case["name"], case)
    for path in (Path(__file__).parent / "cases").glob("*.toml")
    for case in tomllib.loads(path.read_text())["case"]
)


def actor(table: dict[str, Any], base: int, roots: dict[str, int]) -> Actor:
    start = base + table["at"]
    span = (start, start + table["size"])
    owner = table.get("owner", table["name"])
    owner_at = table.get("owner_at", table["at"])
    owner_size = table.get("owner_size", table["size"])
    hot = tuple((start + a, start + b) for a, b in table.get("hot", [[0, table["size"]]]))
    accesses = tuple(
        Access(
            function=a["function"],
            weight=float(a.get("weight", 100)),
            mask=sum(roots[r] for r in a.get("roots", ["worker"])),
            writes=a.get("writes", False),
            reads=a.get("reads", False),
            atomic=a.get("atomic", False),
            locks=a.get("locks", False),
            loop_depth=a.get("loop", 1),
            cold=a.get("cold", False),
            stride=a.get("stride", 0),
            own=a.get("own", False),
            told=a.get("told", False),
            bits=a.get("bits", False),
            operands=tuple((base + first, base + last) for first, last in a.get("operands", ())),
            spots=tuple(
                Spot(Point(order, mirror, at), float(*weight or (100.0,)))
                for at, order, mirror, *weight in a.get("spots", ())
            ),
        )
        for a in table["access"]
    )
    return Actor(
        name=table["name"],
        owner=owner,
        owner_span=(base + owner_at, base + owner_at + owner_size),
        span=span,
        hot=hot,
        read_hot=tuple((start + a, start + b) for a, b in table.get("read", [])),
        role=Role(table["role"]),
        kind=table.get("kind", ""),
        alignment=table.get("alignment", 0),
        accesses=accesses,
        write_heat=Heat[table.get("write_heat", "COLD").upper()],
        read_heat=Heat[table.get("read_heat", "COLD").upper()],
        owner_type=table.get("type", ""),
        callers=frozenset(table.get("callers", ())),
        helpers=tuple((name, frozenset(callers)) for name, callers in table.get("helpers", {}).items()),
        guards=frozenset(table.get("guards", ())),
        write_guards=frozenset(table.get("write_guards", ())),
        sized=table.get("sized", True),
        room=table.get("room", 0),
        count=table.get("count", 1),
        stride=table.get("stride", 0),
        of_library=table.get("of_library", False),
        often=FrequentUse(*[sum(roots[r] for r in table["sure"])] * 4) if "sure" in table else None,
    )


def findings(case: dict[str, Any]) -> dict[str, str]:
    names = case.get("threads", ["worker*", "main"])
    roots = {name.rstrip("*"): 1 << i for i, name in enumerate(names)}
    many = sum(1 << i for i, name in enumerate(names) if name.endswith("*"))
    labels = list(roots)

    def concurrent(a: int, b: int) -> bool:
        return bool(a and b and (a & b & many or a != b or a.bit_count() > 1))

    context = Context(
        64,
        128,
        Confidence.STATIC,
        concurrent,
        sum(1 << i for i, name in enumerate(labels) if name != "main"),
        lambda mask: tuple(n for i, n in enumerate(labels) if mask >> i & 1),
        lambda a, b: case.get("step", 32),
        sum(1 << i for i, n in enumerate(labels) if n in case.get("anybody", ())),
    )
    base = 0x10000
    actors = tuple(actor(t, base, roots) for t in case["actor"])
    found: dict[str, str] = {}
    for rule in LINE_RULES:
        start, size = {
            Span.LINE: (base, 64),
            Span.PAIR: (base, 128),
            Span.WINDOW: (base - 64, 192),
        }[rule.span]
        on_line = tuple(a for a in actors if a.touched_on(start, start + size))
        for draft in rule.check(LineProfile(start, size, on_line), context):
            assert all(word in draft.message for word in (draft.actors[0].owner,)), draft.message
            assert {a.owner for a in draft.actors[:2]} >= set(case.get("first", ())), draft.message
            found[rule.id] = str(draft.severity)
            told = "\n".join((draft.message, *draft.evidence))
            assert [words for words in case.get("says", ()) if words not in told] == [], told
            assert [words for words in case.get("silent", ()) if words in told] == [], told
    return found


@pytest.mark.parametrize(("file", "name", "case"), CASES, ids=[f"{f}:{n}" for f, n, _ in CASES])
def test_case(file: str, name: str, case: dict[str, Any]) -> None:
    assert findings(case) == case.get("expect", {})


def test_every_rule_has_a_positive_and_a_near_miss() -> None:
    positive = {rule for _, _, case in CASES for rule in case.get("expect", {})}
    near = {case["near"] for _, _, case in CASES if "near" in case}
    ids = {rule.id for rule in LINE_RULES}
    assert ids - positive == set()
    assert ids - near == set()


def test_rule_ids_are_unique_and_registered() -> None:
    ids = [rule.id for rule in RULES]
    assert len(ids) == len(set(ids))
    assert {by for rule in DECLARATION_RULES for by in rule.said_by} <= {rule.id for rule in LINE_RULES}
    package = Path(__file__).parents[2] / "sharing" / "rules"
    others = {"__init__", "base", "element_ends", "own_elements", "started_objects", "table"}
    modules = {f"{p.parent.name}.{p.stem}" for p in package.glob("*/*.py") if p.stem not in others}
    checks = [rule.check for table in (LINE_RULES, DECLARATION_RULES, SAMPLED_RULES) for rule in table]
    assert modules == {check.__module__.removeprefix("sharing.rules.") for check in checks}


def test_the_page_on_verdicts_lists_each_rule_on_lines_of_a_binary() -> None:
    page = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text()
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == {rule.id for rule in LINE_RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.id)
def test_page_says_what_why_example_and_use_instead(rule: Any) -> None:
    for part in ("What it does:", "Why is this bad?", "Example", "Use instead:"):
        assert part in rule.page, part
    assert rule.page.startswith(rule.name)
