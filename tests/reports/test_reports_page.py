"""What holds a page together without looking at it: its policy, that it asks for nothing, its data and its size."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import msgspec
import pytest

from reports import EMITTERS, RenderOptions
from sharing.model.finding import Confidence, Severity
from sharing.model.memorymap import (
    CodeLine,
    Excerpt,
    MapAccesses,
    MapHeat,
    MapMember,
    MapSection,
    MapType,
    MapVariables,
    MemoryMap,
)
from tests.builders.page import parts
from tests.builders.report import EMPTY, HOSTILE, REPORT, RULES

ASSETS = Path(__file__).parents[2] / "reports" / "assets"


def a_map(name: str = "counter", *, variables: int = 1) -> MemoryMap:
    """One section with variables of eight bytes, each of which one function writes."""
    eights = [0] + [8] * (variables - 1)
    ones = [1] * variables
    return MemoryMap(
        "",
        64,
        [
            MapSection(
                ".bss",
                "0x1074200",
                8 * variables,
                MapVariables(
                    [f"{name}{at or ''}" for at in range(variables)],
                    eights,
                    [8] * variables,
                    [0] * variables,
                    [f"/src/a.c:{at + 1}" for at in range(variables)],
                ),
                MapAccesses(eights, [8] * variables, [0] * variables, [2] * variables, ones),
                MapHeat(eights, ones, [0] * variables),
            )
        ],
        [MapType(name, [MapMember(name, 0, 8, name, 0, 1)])],
        [name],
        ["main"],
        [[0]],
        [0],
        excerpts=[Excerpt("0x1074200", name, "/src/a.c:1", 1, [name], "0x1000", [CodeLine("0x1000", name)])],
    )


def page(*maps: MemoryMap, source_root: str = "") -> str:
    return EMITTERS["html"].render(REPORT, RenderOptions(rules=RULES, maps=maps, source_root=source_root))


def test_only_its_own_script_and_style_run() -> None:
    found = parts(page(a_map()))
    for kind, text in (("script-src", found.script), ("style-src", found.style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert found.policy[kind] == f"'sha256-{digest}'"
    assert found.policy["default-src"] == found.policy["base-uri"] == found.policy["form-action"] == "'none'"
    assert found.tags.count("script") == 2  # the other one is the data
    assert [(tag, name) for tag, name, _ in found.attributes if name == "style" or name.startswith("on")] == []


def test_the_page_asks_for_nothing() -> None:
    found = parts(page(a_map()))
    assert [name for _, name, _ in found.attributes if name in {"src", "srcset", "action", "background", "data"}] == []
    assert [value for tag, name, value in found.attributes if name == "href" or tag in {"link", "base"}] == []
    assert (
        re.findall(r"https?:|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket|\bimport\(", found.script + found.style)
        == []
    )


@pytest.mark.parametrize("asset", sorted(ASSETS.glob("*.js")), ids=lambda path: path.name)
def test_scripts_make_nodes_and_never_markup_or_code_of_text(asset: Path) -> None:
    ways = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setAttribute\(\"style|</script"
    )
    assert re.findall(ways, asset.read_text()) == []


def test_names_of_the_map_are_shown_and_not_obeyed() -> None:
    found = parts(page(a_map(HOSTILE)))
    plain = parts(page(a_map("plain")))
    assert (found.tags, found.style, found.script) == (plain.tags, plain.style, plain.script)
    (drawn,) = found.data["maps"]
    told = drawn["sections"][0]["variables"]["names"][0]
    assert told == drawn["functions"][0] == drawn["types"][0]["name"]
    (excerpt,) = drawn["excerpts"]
    assert excerpt["text"] == [told]
    assert excerpt["code"] == [["0x1000", told]]
    assert told.isprintable()
    assert "\\x1b[31m\\x0a<script>alert" in told


def test_places_are_relative_to_the_folder_of_the_source() -> None:
    (drawn,) = parts(page(a_map(), source_root="/src")).data["maps"]
    assert drawn["sections"][0]["variables"]["sources"] == ["a.c:1"]
    assert drawn["excerpts"][0]["source"] == "a.c:1"


def test_a_reader_without_scripts_has_the_findings() -> None:
    text = parts(page()).text
    for finding in REPORT.findings:
        assert finding.id in text
    assert "give LOCK_open a line of its own" in text


def test_the_rules_that_were_met_are_explained() -> None:
    told = parts(page()).data["rules"]
    assert set(told) == {rule.id for rule in RULES} & {finding.rule for finding in REPORT.findings}
    assert parts(EMITTERS["html"].render(EMPTY, RenderOptions(rules=RULES))).data["rules"] == {}


def test_a_page_is_small_and_grows_by_few_bytes_a_variable() -> None:
    """A kernel has a hundred thousand variables and its page is to stay below 15 MB."""
    empty = len(EMITTERS["html"].render(EMPTY, RenderOptions()))
    assert empty < 100_000
    assert len(page(a_map("subsystem_object_", variables=5000))) - len(page()) < 5000 * 30


def test_a_page_without_the_map_says_what_draws_it() -> None:
    assert "which needs the binary" in page()
    assert "which needs the binary" not in page(a_map())


def test_the_first_view_says_that_a_profile_decides_where_none_was_given() -> None:
    worst = msgspec.structs.replace(REPORT.findings[0], confidence=Confidence.STATIC)
    for severity, confidence, said in (
        (Severity.LOW, Confidence.STATIC, "None matters as far as the code tells, and none is known to cost"),
        (Severity.HIGH, Confidence.STATIC, "<b>None is known to cost anything yet: estimated from code; a profile"),
        (Severity.LOW, Confidence.DERIVED, ""),
    ):
        one = msgspec.structs.replace(worst, severity=severity, confidence=confidence)
        report = msgspec.structs.replace(REPORT, command="audit", findings=(one,))
        header = EMITTERS["html"].render(report, RenderOptions()).partition("</header>")[0]
        assert ("a profile decides: linemate record -- COMMAND" in header) == bool(said)
        assert said in header
    none = msgspec.structs.replace(REPORT, findings=())
    assert "a profile decides" not in EMITTERS["html"].render(none, RenderOptions()).partition("</header>")[0]
