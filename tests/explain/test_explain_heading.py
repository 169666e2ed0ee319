"""The first screen of a comparison: one verdict in every format, what was measured, and what to do next."""

from __future__ import annotations

import html
import re
import subprocess
from pathlib import Path

import msgspec
import pytest

from linemate.explaining.run import ExplainRequest, explain
from reports.explain import EXPLAIN_EMITTERS
from reports.options import RenderOptions
from sharing.model.comparison import CauseKind, ChangeKind, Comparison, SymbolChange
from sharing.model.finding import Coverage
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


MEASURED = {
    "loss_seen": "qps by threads: +0.5% at 1, -12.2% at 8, -21.2% at 32",
    "runs_needed": 5,
    "by_level": "the loss grows with threads: that speaks for what threads do to each other (locks, lines that they "
    "share) and against plainly slower code, unless few of them leave the machine waiting; no likely cause of that "
    "kind was found: recordings of both builds at 32 threads decide",
    "load": "32 threads",
    "given": ("--bench-old", "a file.csv", "--bench-new", "new.csv"),
}


def bare() -> Comparison:
    """Of stripped files, with all that can be said of measurements, and more causes than a screen has room for."""
    made = weak()
    worse = msgspec.structs.replace(made.causes[0], kind=CauseKind.LAYOUT, summary="a long sentence " * 20)
    targets = tuple(msgspec.structs.replace(t, debug="", path="server") for t in made.targets)
    summary = msgspec.structs.replace(made.variables, old=100, new=100, matched=60)
    return msgspec.structs.replace(
        made,
        causes=(worse,) * 7,
        targets=targets,
        variables=summary,
        functions=summary,
        processes=("$(pidof server)",) * 2,
        **MEASURED,
    )


def test_the_first_screen_stands_alone() -> None:
    first, *rest = EXPLAIN_EMITTERS["text"].render(bare(), RenderOptions(width=100)).split("\n\n")
    assert len(first.splitlines()) <= 24
    said = " ".join(first.split())
    for part in (
        "measured once: qps by threads: +0.5% at 1, -12.2% at 8, -21.2% at 32; 5 runs of each build tell it from",
        "nothing found here explains it",
        "the loss grows with threads",
        "1 layout (unlikely, 0.20): a long sentence",
        "and 3 more causes",
        "measure each build 5 times",
        "under a load of 32 threads, while the old build runs: linemate record",
        "linemate explain --debuginfod --bench-old 'a file.csv' --bench-new new.csv --samples-old old.data",
    ):
        assert part in said
    assert "FILE" not in first
    assert "a long sentence " * 19 in " ".join(" ".join(rest).split())


@pytest.mark.parametrize("strength", [0.2, 0.4])
def test_quiet_says_no_more_than_loud(strength: float) -> None:
    found = weak(strength)
    quiet, loud = (
        EXPLAIN_EMITTERS["text"].render(found, RenderOptions(width=100, summary=summary)).splitlines()
        for summary in (False, True)
    )
    assert set(quiet) <= set(loud)
    assert len(quiet) < len(loud)
    assert any("LAYOUT" in line or "CODE" in line for line in quiet)


def test_what_got_better_is_in_every_format_also_where_nothing_is_likely() -> None:
    made = weak()
    better = msgspec.structs.replace(made.causes[0], improves=True, summary="`served` no longer shares a line")
    found = msgspec.structs.replace(made, causes=(made.causes[0], better))
    for name in ("text", "markdown", "html"):
        shown = " ".join(re.sub(r"</?code>|`", "", EXPLAIN_EMITTERS[name].render(found)).split())
        assert "served no longer shares a line" in shown
        assert "an improvement" in shown


def test_what_was_measured_comes_before_causes_also_where_one_is_likely() -> None:
    found = msgspec.structs.replace(weak(0.5), **MEASURED)
    for name in ("text", "markdown", "html"):
        shown = " ".join(EXPLAIN_EMITTERS[name].render(found).split())
        assert shown.index("measured once: qps by threads") < shown.index("the loss grows with threads")
        assert shown.index("the loss grows with threads") < shown.index("possible")
    page = EXPLAIN_EMITTERS["html"].render(found)
    assert page.index("<h2>Measured</h2>") < page.index('<details class="finding"') < page.index("What was compared")


def test_tables_of_classes_are_one_row_and_folded_on_the_page() -> None:
    names = ["vtable for A", "typeinfo name for A", "served", "_ZTI1A"]
    changed = tuple(SymbolChange(ChangeKind.ADDED, name, "", "0x3", 0, 208, "", ".bss") for name in names)
    coverage = Coverage({"changes": 60, "changes_of_class_tables": 50}, ())
    found = msgspec.structs.replace(weak(), changes=changed, coverage=coverage)
    text = EXPLAIN_EMITTERS["text"].render(found, RenderOptions(width=100))
    rows = text.partition("variables that changed\n")[2].partition("\n\n")[0].splitlines()
    assert [" ".join(row.split()) for row in rows] == [
        "added served 208 bytes, .bss 0x3",
        "of classes 50 virtual tables and type names made by the compiler",
        "and 9 more changes",
    ]
    page = EXPLAIN_EMITTERS["html"].render(found)
    assert "<details><summary>Virtual tables" in page
    assert "<details open><summary>Variables that changed" in page


def test_the_options_of_the_call_are_given_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void) { return RETURNED; }")
    for name, value in (("old", 0), ("new", 1)):
        command = ["gcc", f"-DRETURNED={value}", "p.c", "-o", name]
        subprocess.run(command, cwd=tmp_path, check=True)
        (tmp_path / f"{name}.csv").write_text(f"threads,qps\n1,{1000 - value}\n")
    files = [str(tmp_path / name) for name in ("old", "new", "old.csv", "new.csv")]
    request = ExplainRequest(files[0], files[1], bench_old=(files[2],), bench_new=(files[3],), debug_new=files[1])
    assert explain(request).given == ("--bench-old", files[2], "--bench-new", files[3], "--debug-new", files[1])


@pytest.mark.parametrize(
    ("total", "said"), [(7416, "4 of 7,416 pairs shown, the worst"), (8, "4 of 8 pairs shown, the worst")]
)
def test_pairs_and_functions_that_no_list_has_are_counted(total: int, said: str) -> None:
    made = comparison()
    mates = msgspec.structs.replace(made.causes[0].new_line_mates[0], functions=("a", "b", "c", "d", "e"), users=40)
    cause = msgspec.structs.replace(made.causes[0], new_line_mates=(mates,) * 8)
    counts = {**made.coverage.counts, "line_mates_gained": total}
    found = msgspec.structs.replace(made, causes=(cause,), coverage=Coverage(counts, ()))
    text = EXPLAIN_EMITTERS["text"].render(found, RenderOptions(width=200))
    assert [line.strip() for line in text.splitlines() if "pairs shown" in line] == [said]
    assert "used by the functions a, b, c, d and 36 more" in text
    markdown = EXPLAIN_EMITTERS["markdown"].render(found)
    assert ("6 of 7,416 pairs shown" in markdown) == (total > 8)
    assert "and 36 more" in markdown
    assert ("The worst 8 of 7,416 pairs." in EXPLAIN_EMITTERS["html"].render(found)) == (total > 8)
