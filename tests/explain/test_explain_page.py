"""The pictures on the page of two builds: what moved in a section, and a pair on its lines before and after."""

from __future__ import annotations

import re

import msgspec
import pytest

from reports.explain import EXPLAIN_EMITTERS
from reports.explain.layouts import pair_pictures, section_pictures
from reports.options import RenderOptions
from sharing.model.comparison import ChangeKind, Comparison, LineMates, Moved, ShiftRun, SymbolChange
from tests.builders.page import parts
from tests.explain.test_explain_reports import comparison

LEFT, SPAN = 44.0, 704.0  # of the picture, in its units


def moved(*, improves: bool = False, told: int = 1) -> Comparison:
    """A buffer of 208 bytes came at 0x41a0 and moved a lock and a list by 0xe0, which then share line 0x4600.

    ``told`` is how many runs moved; one is listed.
    """
    one = comparison()
    mates = LineMates("LOCK.m_mutex", "list.first", "0x4600", 64, (0, 20), (48, 56))
    pairs = {"lost_line_mates" if improves else "new_line_mates": (mates,), "improves": improves}
    empty = {"new_line_mates": (), "lost_line_mates": ()}
    shift = "-0xe0" if improves else "0xe0"
    cause = msgspec.structs.replace(one.causes[0], moved=(Moved("LOCK", "", "", shift),), **{**empty, **pairs})
    start, end = ("0x4320", "0x4558") if improves else ("0x4400", "0x4638")
    run = ShiftRun(".bss", int(shift, 16), int(shift, 16), 7, "first", "list", start, end, True)
    change = SymbolChange(ChangeKind.ADDED, "buf", "", "0x41a0", 0, 208, "", ".bss")
    coverage = msgspec.structs.replace(one.coverage, counts={"runs_moved": told})
    return msgspec.structs.replace(one, causes=(cause,), runs=(run,), changes=(change,), coverage=coverage)


def pair(found: Comparison) -> str:
    pictures = list(pair_pictures(found, found.causes[0]))
    assert len(pictures) < 2
    return str(pictures[0]) if pictures else ""


def boxes(picture: str, style: str) -> list[tuple[float, float]]:
    """(from, to) of the boxes of a style, as shares of the picture."""
    found = re.findall(rf'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+" class="{style}"', picture)
    return [((float(x) - LEFT) / SPAN, (float(x) + float(width) - LEFT) / SPAN) for x, width in found]


@pytest.mark.parametrize("improves", [False, True])
def test_a_pair_is_on_two_lines_in_one_build_and_on_one_in_the_other(improves: bool) -> None:
    picture = pair(moved(improves=improves))
    together, apart = [(0.0, 20 / 128), (48 / 128, 56 / 128)], [(32 / 128, 52 / 128), (80 / 128, 88 / 128)]
    rows = [together, apart] if improves else [apart, together]
    first, second = boxes(picture, "part0"), boxes(picture, "part1")
    for number, (lock, listed) in enumerate(rows):
        assert first[number] == pytest.approx(lock, abs=1e-3)
        assert second[number] == pytest.approx(listed, abs=1e-3)


def test_the_slider_has_both_places_of_each_box() -> None:
    places = re.findall(r'data-old="([\d.]+)" data-new="([\d.]+)"', pair(moved()))
    shares = [[(float(x) - LEFT) / SPAN for x in place] for place in places]
    assert shares == [pytest.approx([32 / 128, 0], abs=1e-3), pytest.approx([80 / 128, 48 / 128], abs=1e-3)]


def test_the_first_pair_of_a_cause_is_in_sight_and_the_others_are_folded() -> None:
    found = moved()
    (cause,) = found.causes
    both = (*cause.new_line_mates, msgspec.structs.replace(cause.new_line_mates[0], line_size=128))
    page = EXPLAIN_EMITTERS["html"].render(
        msgspec.structs.replace(found, causes=(msgspec.structs.replace(cause, new_line_mates=both),)), RenderOptions()
    )
    before, folded = page.split("<summary>1 more pair in both layouts</summary>")
    assert "pair 1 in both layouts" in before
    assert "pair 2 in both layouts" in folded.split("</details>")[0]
    assert "more pair" not in EXPLAIN_EMITTERS["html"].render(found, RenderOptions())


def test_a_pair_of_which_nothing_is_told_has_no_picture() -> None:
    """The list of runs is cut: a variable in none of them may have moved all the same."""
    found = moved(told=2)
    (run,) = found.runs
    assert pair(found)
    elsewhere = msgspec.structs.replace(found, runs=(msgspec.structs.replace(run, start="0x9000", end="0x9040"),))
    assert pair(elsewhere) == ""


def test_a_section_shows_the_run_in_both_layouts_and_what_moved_it() -> None:
    ((section, picture),) = section_pictures(moved())
    start, end = 0x41A0, 0x4638

    def share(first: int, last: int) -> tuple[float, float]:
        return (first - start) / (end - start), (last - start) / (end - start)

    assert section == ".bss"
    old, new = boxes(str(picture), "run run0")
    assert old == pytest.approx(share(0x4320, 0x4558), abs=1e-3)
    assert new == pytest.approx(share(0x4400, 0x4638), abs=1e-3)
    assert boxes(str(picture), "cause") == [pytest.approx(share(0x41A0, 0x4270), abs=1e-3)]
    assert "buf added, +208 bytes" in picture


def test_nothing_moved_draws_nothing() -> None:
    still = msgspec.structs.replace(moved(), runs=(), causes=())
    assert list(section_pictures(still)) == []
    found = parts(EXPLAIN_EMITTERS["html"].render(still, RenderOptions()))
    assert "svg" not in found.tags


def test_names_in_pictures_are_text() -> None:
    found = moved()
    change = msgspec.structs.replace(found.changes[0], name="</text><script>alert(1)</script>\x1b\u202e")
    page = EXPLAIN_EMITTERS["html"].render(msgspec.structs.replace(found, changes=(change,)), RenderOptions())
    plain = EXPLAIN_EMITTERS["html"].render(found, RenderOptions())
    assert parts(page).tags == parts(plain).tags
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_names_in_sentences_are_set_as_code() -> None:
    """What stands between backticks in text; one without a second, as a name may have it, stays, and none is markup."""
    found = moved()
    for summary, shown in (
        ("`buf` moved `list`", "<p><code>buf</code> moved <code>list</code></p>"),
        ("it's a ` alone", "<p>it&#39;s a ` alone</p>"),
        ("`<b>` moved", "<p><code>&lt;b&gt;</code> moved</p>"),
    ):
        cause = msgspec.structs.replace(found.causes[0], summary=summary)
        one = msgspec.structs.replace(found, causes=(cause,))
        assert shown in EXPLAIN_EMITTERS["html"].render(one, RenderOptions())
