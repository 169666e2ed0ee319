"""Names are data: whatever bytes a symbol holds, no emitter obeys them, and none loses them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reports import EMITTERS, RenderOptions
from reports.escape import byte_ranges, name_list, shorten, visible
from reports.markdown import block, code, prose
from sharing.model import Report
from tests.builders.page import Parts, parts
from tests.builders.report import HOSTILE_NAMES, REPORT

ANY_TEXT = st.text(st.characters(), max_size=40)
MARKUP = st.text("`*_[](){}<>|~#!&@\\-+=.1 \n\r\x1b\u202e\u2028ab", min_size=1, max_size=24)
HIDDEN = [*map(chr, range(0x20)), "\x7f", "\x9b", "\u200b", "\u200f", "\u2028", "\u202e", "\u2066", "\ufeff", "\ud800"]


def named(name: str) -> Report:
    """A report in which every free text is ``name``."""
    first, second = HOSTILE_NAMES.participants
    finding = msgspec.structs.replace(
        HOSTILE_NAMES,
        participants=(
            msgspec.structs.replace(first, name=name, role=name, source=name, type=name, writers=(name,)),
            msgspec.structs.replace(second, name=f"{name}2", lockers=(name, name, name, name)),
        ),
        message=f"x{name}",
        evidence=(msgspec.structs.replace(HOSTILE_NAMES.evidence[0], text=f"x{name}"),),
    )
    target = msgspec.structs.replace(REPORT.targets[0], path=f"x{name}", debug=name, build_id=name)
    return msgspec.structs.replace(REPORT, findings=(finding,), targets=(target,))


@pytest.mark.parametrize("emitter", EMITTERS)
@pytest.mark.parametrize("char", HIDDEN, ids=ascii)
def test_no_control_or_hidden_character_reaches_the_output(emitter: str, char: str) -> None:
    text = EMITTERS[emitter].render(named(f"a{char}b"))
    assert f"a{char}b" not in text
    assert char == "\n" or char not in text


@pytest.mark.parametrize("emitter", EMITTERS)
@given(name=ANY_TEXT)
@settings(max_examples=40, deadline=None)
def test_any_name_renders_and_encodes(emitter: str, name: str) -> None:
    EMITTERS[emitter].render(named(name)).encode()


@given(ANY_TEXT)
def test_visible_text_is_printable_and_keeps_what_was(name: str) -> None:
    assert visible(name).isprintable()
    if name.isprintable():
        assert visible(name) == name


def test_escapes_say_which_character_it_was() -> None:
    assert visible("\x1b[0m\n\u202e\U000e0001\x9b\udcff") == "\\x1b[0m\\x0a\\u202e\\U000e0001\\x9b\\xff"


@pytest.mark.parametrize(
    ("width", "short"), [(20, "abcdefghijklmnopqrst"), (11, "abcd...qrst"), (10, "abcd...rst"), (5, "abcde"), (0, "")]
)
def test_long_names_lose_their_middle(width: int, short: str) -> None:
    assert shorten("abcdefghijklmnopqrst", width) == short


@given(st.text(max_size=60), st.integers(0, 70))
def test_a_shortened_name_is_never_wider(name: str, width: int) -> None:
    assert len(shorten(name, width)) == min(len(name), width)


def test_lists_of_names_say_how_many_are_left_out() -> None:
    assert name_list(["a", "b"], 3, 9) == "a, b"
    assert name_list(["a", "b", "c", "d", "e"], 3, 9) == "a, b, c and 2 more"
    assert name_list([], 3, 9) == ""
    assert byte_ranges([(0, 16), (20, 21)]) == "0-15, 20"


def parsed(report: Report) -> Parts:
    return parts(EMITTERS["html"].render(report, RenderOptions()))


PLAIN = parsed(named("plain"))


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "</style><b>", "{{ 7*7 }}", "&lt;"]
)
def test_a_name_adds_no_element_or_attribute_to_the_page(name: str) -> None:
    page = parsed(named(name))
    assert page.tags == PLAIN.tags
    assert [(tag, at) for tag, at, _ in page.attributes] == [(tag, at) for tag, at, _ in PLAIN.attributes]
    assert (page.style, page.script) == (PLAIN.style, PLAIN.script)
    assert page.text.count(name) >= 3
    (finding,) = page.data["findings"]
    assert name in finding["names"]


PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(text: str) -> list[tuple[str, str]]:
    """(type, content) of every inline token; comments that part a sign from a name do not count."""
    out: list[tuple[str, str]] = []
    for token in PARSER.parse(text):
        out.append((token.type, token.content if token.type == "fence" else ""))
        out += [(child.type, child.content) for child in token.children or () if child.content != "<!-- -->"]
    return out


@given(MARKUP)
def test_prose_is_read_back_as_it_was(text: str) -> None:
    read = tokens(f"before {prose(text)} after")
    assert {kind for kind, _ in read} == {"paragraph_open", "inline", "text", "paragraph_close"}
    assert "".join(content for kind, content in read if kind == "text") == f"before {visible(text)} after"


@given(MARKUP)
@example(" - ")
@example("  1. ")
def test_prose_that_begins_a_line_opens_nothing(text: str) -> None:
    assert tokens(f"first\n\n{prose(f'{text}x')}")[4][0] == "paragraph_open"


@given(MARKUP)
def test_code_is_read_back_as_it_was(text: str) -> None:
    read = tokens(f"before {code(text)} after")
    if visible(text).strip():
        assert ("code_inline", visible(text)) in read


@given(MARKUP)
def test_code_stays_in_its_table_cell(text: str) -> None:
    read = tokens(f"| a | b |\n|---|---|\n| {code(text, in_table=True)} | c |")
    assert [kind for kind, _ in read].count("td_open") == 2


@given(st.lists(st.text("`~ ab", max_size=8), max_size=4))
def test_a_block_is_closed_by_its_own_fence_only(lines: list[str]) -> None:
    content = "".join(f"{line}\n" for line in lines)
    assert tokens(f"{block(lines, 'text')}\n\nafter")[0] == ("fence", content)


@pytest.mark.parametrize("name", ["@everyone", "#123", "<!-- x", "[x](javascript:y)", "![x](y)"])
def test_a_comment_notifies_nobody_and_links_nowhere(name: str) -> None:
    text = EMITTERS["markdown"].render(named(name))
    read = tokens(text)
    assert {"link_open", "image"}.isdisjoint(kind for kind, _ in read)
    assert not any("@everyone" in content for kind, content in read if kind == "text")


def test_braces_in_sarif_messages_are_no_placeholders() -> None:
    run: Any = json.loads(EMITTERS["sarif"].render(named("f::{lambda()#1}")))["runs"][0]
    (result,) = run["results"]
    assert result["message"]["text"] == "xf::{{lambda()#1}}"
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "f::{lambda()#1}"
