"""The pages of ``explain`` and ``history`` in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate.history.table import TableOptions, from_table
from reports.explain import EXPLAIN_EMITTERS
from reports.history import HISTORY_EMITTERS
from reports.options import RenderOptions
from tests.explain.test_explain_page import moved
from tests.pages.conftest import SCHEMES, SIZES, Open


@pytest.fixture(scope="module")
def stepping(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a table in which the twelfth revision is slower, under two conditions."""
    rows = [
        f"release-{at:02},{threads},{(1000 if at < 12 else 900) * threads + at % 3 + repeat}"
        for at in range(20)
        for threads in (1, 8)
        for repeat in range(3)
    ]
    table: Path = tmp_path_factory.mktemp("history") / "table.csv"
    table.write_text("\n".join(["revision,threads,tps", *rows, ""]))
    return HISTORY_EMITTERS["html"].render(from_table(TableOptions(str(table))), RenderOptions())


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size[0]))
def test_both_are_accessible_and_fit_their_window(
    stepping: str, opened: Open, size: tuple[int, int], scheme: str
) -> None:
    for name, html in (("explain", EXPLAIN_EMITTERS["html"].render(moved(), RenderOptions())), ("history", stepping)):
        one = opened(html, size=size, scheme=scheme)
        one.picture(f"{name}-{size[0]}-{scheme}")
        assert one.violations() == []
        assert one.page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_a_slider_moves_the_pair_from_its_old_places_to_the_new_ones(opened: Open) -> None:
    page = opened(EXPLAIN_EMITTERS["html"].render(moved(), RenderOptions())).page
    boxes = page.locator(".moving [data-old]")
    places = "boxes => boxes.map(box => [box.getAttribute('x'), box.dataset.old, box.dataset.new].map(Number))"
    assert all(x == old for x, old, _ in boxes.evaluate_all(places))
    page.get_by_role("slider").focus()
    page.keyboard.press("End")
    assert all(x == new for x, _, new in boxes.evaluate_all(places))


def test_a_revision_of_the_chart_leads_to_its_row(stepping: str, opened: Open) -> None:
    page = opened(stepping).page
    page.locator("svg a").nth(12).click()
    assert page.url.endswith("#r12")
    assert page.locator("tr:target th").inner_text() == "release-12"


def test_a_phone_shows_the_step_of_a_chart(stepping: str, opened: Open) -> None:
    width, _ = SIZES[0]
    place = opened(stepping, size=SIZES[0]).page.locator("line.slower").first.bounding_box()
    assert 0 < place["x"] < width
