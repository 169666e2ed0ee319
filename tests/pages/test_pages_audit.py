"""The page of ``audit`` in a browser: every interaction, on a program whose lines are known."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from linemate.cli import main
from reports import EMITTERS, RenderOptions
from tests.builders.report import HOSTILE, REPORT
from tests.pages.conftest import SCHEMES, SIZES, Open
from tests.reports.test_reports_page import a_map

WAIT_MS = 30_000
PAIR = "hot-lock-shares-line-5414c58d41"


@pytest.fixture(scope="session")
def slow(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> str:
    """The page of table_cache, whose lock shares a line with a list."""
    out = tmp_path_factory.mktemp("table_cache")
    make = ["make", "-s", "-f", "testdata/programs/table_cache/Makefile", f"OUT={out}", f"{out}/slow"]
    subprocess.run(make, cwd=repository, check=True)
    assert main(["audit", str(out / "slow"), "--min-severity", "note", "-o", str(out / "slow.html")]) == 1
    return (out / "slow.html").read_text()


def rows(page: Any) -> list[str]:
    """The names in the rows of the table in sight."""
    found: list[str] = page.locator(".view:not([hidden]) [data-at] a").all_inner_texts()
    return found


def heading(page: Any) -> str:
    text: str = page.locator("#detail h2").inner_text()
    return text


def expect(locator: Any) -> Any:
    """What Playwright waits for; it is installed for these tests alone."""
    from playwright.sync_api import expect as expected

    return expected(locator)


def headed(page: Any, text: str | re.Pattern[str]) -> None:
    """The details' heading becomes this: a browser follows a link when it comes to it, late on a busy machine."""
    expect(page.locator("#detail h2")).to_have_text(text, timeout=WAIT_MS)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size[0]))
def test_every_view_is_accessible_and_fits_its_window(
    slow: str, opened: Open, size: tuple[int, int], scheme: str
) -> None:
    one = opened(slow, size=size, scheme=scheme)
    for name in ("", PAIR, "line=0x4600", "variable=0x4600", "function=tc_release_table"):
        one.page.evaluate("name => { location.hash = name; }", name)
        one.picture(f"audit-{name.partition('=')[0][:8] or 'list'}-{size[0]}-{scheme}")
        assert one.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        assert one.violations() == []


def test_the_worst_finding_says_what_to_do(slow: str, opened: Open) -> None:
    page = opened(slow).page
    headed(page, "LOCK_open.m_mutex / unused_tables.first")
    text = page.locator("#detail").inner_text()
    assert "struct alignas(64) Line_LOCK_open" in text
    assert "tc_acquire_share" in text


def test_links_lead_from_the_finding_to_its_line_its_members_and_their_functions(slow: str, opened: Open) -> None:
    page = opened(slow).page
    page.locator("#detail").get_by_role("link", name="line 0x4600").click()
    headed(page, "Line 0x4600")
    assert page.url.endswith("#line=0x4600")
    page.get_by_role("link", name="unused_tables.first", exact=True).last.click()
    headed(page, "unused_tables")
    page.locator("#detail").get_by_role("link", name="unlink_unused").first.click()
    headed(page, "unlink_unused")
    assert "runs on run_worker" in page.locator("#detail").inner_text()
    page.go_back()
    page.go_back()
    headed(page, "Line 0x4600")


def test_an_access_shows_its_instructions_and_leads_to_its_function(slow: str, opened: Open) -> None:
    page = opened(slow).page
    wanted = page.locator("#detail .source .wanted").all_inner_texts()
    assert any("<pthread_mutex_lock>" in text for text in wanted), wanted  # the function that is called by name
    page.locator("#detail").get_by_role("link", name="tc_release_table").last.click()
    headed(page, "tc_release_table")
    assert page.locator("#detail .source").count() > 0


def test_a_line_tells_members_and_threads_by_bytes(slow: str, opened: Open) -> None:
    page = opened(slow, "#line=0x4600").page
    members = page.get_by_role("region", name="Owners and members of the bytes").inner_text()
    assert "LOCK_open.m_psi" in members
    assert "48–55" in members
    threads = page.get_by_role("region", name="Threads by bytes, from code").inner_text()
    assert "run_worker" in threads
    assert "locks" in threads
    label = page.locator("#detail .bytes").get_attribute("aria-label")
    assert "bytes 48 to 55 unused_tables.first" in label
    page.get_by_role("link", name="the next line").click()
    headed(page, "Line 0x4640")


def test_findings_are_filtered_by_words_and_by_value(slow: str, opened: Open) -> None:
    page = opened(slow).page
    every = rows(page)
    page.keyboard.press("/")
    page.keyboard.type("LOCK_OPEN unused")
    assert rows(page) == ["LOCK_open.m_mutex / unused_tables.first"]
    assert page.locator(".view:not([hidden]) .status").inner_text() == f"1 of {len(every)} findings"
    page.keyboard.type(" nothing")
    assert rows(page) == []
    page.get_by_role("button", name="Clear").click()
    assert rows(page) == every


def test_a_table_is_sorted_by_any_column_and_turned_round(slow: str, opened: Open) -> None:
    page = opened(slow).page
    page.get_by_role("button", name=re.compile("^Variables")).click()
    before = rows(page)
    page.get_by_role("button", name="variable", exact=True).click()
    assert rows(page) == sorted(before)
    page.get_by_role("button", name="variable", exact=True).click()
    assert rows(page) == sorted(before, reverse=True)
    assert page.locator("[aria-sort]:visible").get_attribute("aria-sort") == "descending"


def test_keys_go_through_the_rows_and_explain_themselves(slow: str, opened: Open) -> None:
    page = opened(slow).page
    page.keyboard.press("3")
    page.get_by_role("region", name="All variables").focus()
    page.keyboard.press("Home")
    first = heading(page)
    page.keyboard.press("ArrowDown")
    expect(page.locator("#detail h2")).not_to_have_text(first, timeout=WAIT_MS)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible(timeout=WAIT_MS)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden(timeout=WAIT_MS)


@pytest.mark.parametrize(("size", "words"), list(zip(SIZES, (2, 4, 4), strict=True)), ids=lambda given: str(given))
def test_words_below_each_other_are_a_power_of_two_apart(
    slow: str, opened: Open, size: tuple[int, int], words: int
) -> None:
    groups = opened(slow, "#line=0x4600", size=size).page.locator("#detail .bytes .group")
    tops = groups.evaluate_all("groups => groups.map(group => group.getBoundingClientRect().top)")
    assert [tops.count(top) for top in sorted(set(tops))] == [words] * (8 // words)


def test_the_map_is_walked_by_keys_and_opens_a_line(slow: str, opened: Open) -> None:
    page = opened(slow, "#line=0x4600").page
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    assert ".bss 0x4640" in page.locator("#map-said").inner_text()
    page.keyboard.press("Enter")
    headed(page, "Line 0x4640")
    page.keyboard.press("ArrowLeft")
    assert "LOCK_open" in page.locator("#map-said").inner_text()
    assert "finding: high" in page.locator("#map-said").inner_text()


def test_the_map_is_clicked_and_zoomed_to_bytes(slow: str, opened: Open) -> None:
    one = opened(slow, "#line=0x4600")
    page = one.page
    for _ in range(2):
        page.get_by_role("button", name="Larger cells").click()
    expect(page.get_by_text("bytes", exact=True).first).to_be_visible(timeout=WAIT_MS)
    one.picture("audit-map-bytes")
    page.locator("canvas").hover(position={"x": 40, "y": 34})
    assert ".data" in page.locator(".tip").inner_text()
    page.locator("canvas").click(position={"x": 40, "y": 34})
    headed(page, re.compile(r"^Line 0x40"))


def test_a_phone_shows_the_list_or_the_details(slow: str, opened: Open) -> None:
    page = opened(slow, size=SIZES[0]).page
    expect(page.locator("#detail")).to_be_hidden(timeout=WAIT_MS)
    page.locator(".rows a").first.click()
    expect(page.locator("#detail")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator(".rows").first).to_be_hidden(timeout=WAIT_MS)
    page.get_by_role("button", name="Back to the list").click()
    expect(page.locator(".rows").first).to_be_visible(timeout=WAIT_MS)


def test_an_address_that_names_nothing_says_so(slow: str, opened: Open) -> None:
    for name in ("#gone-1234", "#line=0x99999999", "#function=none", "#variable=x", "#%"):
        page = opened(slow, name).page
        headed(page, "Not in this report")


def test_colours_are_chosen_by_a_button(slow: str, opened: Open) -> None:
    page = opened(slow, scheme="dark").page
    back = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(back)
    page.get_by_role("button", name="Colours").click()
    assert page.evaluate(back) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Colours").click()
    assert page.evaluate(back) == dark


def test_paper_gets_every_finding_in_full(slow: str, opened: Open) -> None:
    one = opened(slow)
    shown = rows(one.page)
    one.page.emulate_media(media="print")
    one.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    articles = one.page.locator("#print article h2").all_inner_texts()
    assert articles == shown
    expect(one.page.locator(".rows").first).to_be_hidden(timeout=WAIT_MS)


def test_hostile_names_are_text(opened: Open) -> None:
    html = EMITTERS["html"].render(REPORT, RenderOptions(maps=(a_map(HOSTILE),)))
    page = opened(html, "#line=0x1074200").page
    assert "<script>alert('x')</script>" in page.locator("#detail").inner_text()
    assert page.locator("#app script").count() == 0


def test_a_hundred_thousand_variables_are_found_and_scrolled(opened: Open) -> None:
    many = a_map("subsystem_object_", variables=100_000)
    page = opened(EMITTERS["html"].render(REPORT, RenderOptions(maps=(many,)))).page
    page.keyboard.press("3")
    page.get_by_role("region", name="All variables").focus()
    page.keyboard.press("End")
    headed(page, "subsystem_object_99999")
    assert len(rows(page)) < 60
    page.keyboard.press("/")
    page.keyboard.type("object_4242")
    assert page.locator(".view:not([hidden]) .status").inner_text() == "11 of 100,000 variables"
