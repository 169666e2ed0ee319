"""The command: options that exclude each other, formats, exit codes, and names that are made visible."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import msgspec
import numpy as np
import pytest

from linemate.cli import main
from linemate.history.table import TableOptions, from_table
from reports.history import HISTORY_EMITTERS
from reports.history.document import decode
from reports.options import RenderOptions
from sharing.model.history import History
from tests.builders.page import parts
from tests.history.conftest import COPY, Repository

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/linemate-history.schema.json").read_text())
DATA = Path(__file__).parent.parent / "explain" / "data"


@pytest.fixture
def stepping(tmp_path: Path) -> Path:
    """A table with a loss of 5 % at the eleventh of twenty revisions."""
    rng = np.random.default_rng(1)
    rows = [f"r{i},{c},{rng.normal(1000 if i < 10 else 950, 5):.1f}" for i in range(20) for c in (2, 4)]
    (tmp_path / "step.csv").write_text("\n".join(["revision,threads,tps", *rows]))
    return tmp_path / "step.csv"


def test_a_slowdown_ends_with_1_unless_asked_never_to_fail(stepping: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--table", str(stepping)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("slower since r10: tps -4.9 % (")
    assert "clearly slower in 2 of 2 conditions: threads 2 -" in out
    assert "← step" in out
    assert main(["history", "--table", str(stepping), "--fail-on", "never"]) == 0
    assert main(["history", "--table", str(stepping), "--better", "less"]) == 0
    assert "faster since r10" in capsys.readouterr().out


def test_no_step_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--table", str(DATA / "revisions_950_968.txt")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("no step in tps\n")
    assert "+0.6 % (-0.5 % to +0.9 %), p = 0.065" in out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["A..B"],
        ["A..B", "--build", "make"],
        ["--table", "x.csv", "A..B"],
        ["--table", "x.csv", "--bench", "run"],
        ["A..B", "--build", "make", "--binary", "b", "--pair", "a", "b"],
        ["A..B", "--build", "make", "--binary", "b", "--bench", "run {level}"],
        ["A..B", "--build", "make", "--binary", "b", "--bench", "run", "--levels", "1,2"],
        ["A..B", "--build", "make", "--binary", "b", "--bench", "run {level}", "--levels", "1,,2"],
        ["A..B", "--build", "make", "--binary", "b", "--repo", "/nowhere/at/all"],
        ["--table", "/nowhere/at/all"],
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["history", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_builds_that_fail_end_with_3(
    copies: Repository, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copies.commit("Break\x1b[31m it", broken="")
    command = ["history", "--repo", str(copies.path), "--build", COPY, "--binary", "server"]
    assert main([*command, "--store", str(tmp_path / "s.sqlite"), "HEAD~2..HEAD"]) == 3
    out = capsys.readouterr().out
    assert "left out: " in out
    assert "Break\\x1b[31m it: the build ended with 3 (log: " in " ".join(out.split())


def test_the_store_is_no_output(copies: Repository, cache: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    command = ["history", "--repo", str(copies.path), "--build", COPY, "--binary", "server", "--store", str(store)]
    assert main([*command, "HEAD~1..HEAD"]) == 0
    before = store.read_bytes()
    assert main([*command, "HEAD~1..HEAD", "-o", str(store)]) == 2
    assert store.read_bytes() == before


def documents(tmp_path: Path, stepping: Path) -> list[History]:
    """With a step, with a suspicion, with a contrast."""
    names = (stepping, DATA / "revisions_950_968.txt", DATA / "changesets.txt")
    return [from_table(TableOptions(str(name))) for name in names]


def test_documents_follow_the_schema_and_are_read_back(tmp_path: Path, stepping: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for history in documents(tmp_path, stepping):
        text = HISTORY_EMITTERS["json"].render(history, RenderOptions())
        jsonschema.validate(json.loads(text), SCHEMA)
        assert decode(text) == history


def test_the_schema_has_every_field() -> None:
    made = msgspec.json.schema(History)["$defs"]
    assert SCHEMA["properties"].keys() == made.pop("History")["properties"].keys()
    assert SCHEMA["$defs"].keys() == made.keys()
    for name, struct in made.items():
        if "properties" in struct:
            assert SCHEMA["$defs"][name]["properties"].keys() == struct["properties"].keys(), name
            assert set(SCHEMA["$defs"][name]["required"]) == struct["properties"].keys(), name
        else:
            assert SCHEMA["$defs"][name]["enum"] == struct["enum"], name


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_every_format_tells_the_same_story(name: str, tmp_path: Path, stepping: Path) -> None:
    step, nothing, log = (HISTORY_EMITTERS[name].render(h, RenderOptions()) for h in documents(tmp_path, stepping))
    assert "slower since r10" in step
    assert "no step in tps" in nothing
    assert "20080328064007-14330" in log
    assert "no supernodes" in log
    assert step == HISTORY_EMITTERS[name].render(from_table(TableOptions(str(stepping))), RenderOptions())


def test_the_page_has_its_pictures_and_asks_for_nothing(tmp_path: Path, stepping: Path) -> None:
    page = HISTORY_EMITTERS["html"].render(documents(tmp_path, stepping)[0], RenderOptions())
    found = parts(page)
    assert found.tags.count("svg") == 2
    assert ("line", "class", "slower") in found.attributes
    assert found.tags.index("svg") < found.tags.index("h2", found.tags.index("svg"))  # the charts come first
    assert [value for _, name, value in found.attributes if name in {"src", "href"} and value[:1] != "#"] == []


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_names_from_a_table_are_shown_and_not_obeyed(name: str, tmp_path: Path) -> None:
    rows = "\n".join(f"<script>alert({i})</script>\x1b[2J,{1000 + i}" for i in range(5))
    (tmp_path / "evil.csv").write_text(f"revision,\x1b]0x\x07</svg>\n{rows}\n")
    text = HISTORY_EMITTERS[name].render(from_table(TableOptions(str(tmp_path / "evil.csv"))), RenderOptions())
    assert "\x1b" not in text
    if name == "html":
        found = parts(text)
        assert found.tags.count("script") == 2
        assert text.count("</svg>") == found.tags.count("svg")


def test_the_format_follows_the_ending(stepping: Path, tmp_path: Path) -> None:
    starts: dict[str, Callable[[str], bool]] = {
        "h.json": lambda t: json.loads(t)["schema"] == "linemate-history-1",
        "h.md": lambda t: t.startswith("### slower"),
        "h.html": lambda t: t.startswith("<!DOCTYPE html>"),
        "h.txt": lambda t: t.startswith("slower"),
    }
    for name, right in starts.items():
        assert main(["history", "--table", str(stepping), "-o", str(tmp_path / name)]) == 1
        assert right((tmp_path / name).read_text())


@pytest.mark.parametrize(
    ("bench", "metric", "headline", "why"),
    [
        ("echo out of memory; exit 1", None, "no run gave seconds", "ended with 1: out of memory (log: "),
        ("exit 1", None, "no run gave seconds", "`exit 1` ended with 1: no message (log: "),
        ("echo ops 5", "opps", "no run gave opps", "`echo ops 5` prints no number behind 'opps' (log: "),
    ],
)
@pytest.mark.parametrize("name", ["text", "markdown", "html", "json"])
def test_a_benchmark_without_figures_is_no_defect_of_linemate(
    bench: str,
    metric: str | None,
    headline: str,
    why: str,
    name: str,
    copies: Repository,
    cache: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["history", "--repo", str(copies.path), "--build", COPY, "--binary", "server", "--bench", bench]
    command += ["--rounds", "1", "--store", str(tmp_path / "s.sqlite"), "--format", name]
    command += ["--metric", metric] if metric else []
    assert main([*command, "HEAD~1..HEAD"]) == 3
    out = capsys.readouterr().out
    if name == "text":
        assert out.startswith(f"nothing could be measured: {headline}\n")
        words = " ".join(out.split())
        assert why in words
        log = Path(words.partition("(log: ")[2].partition(")")[0].replace(" ", ""))
        assert f"linemate: `{bench}`" in log.read_text()
        if "echo" in bench:
            assert log.read_text().startswith("out of memory" if "memory" in bench else "ops 5")


def test_no_build_at_all_is_the_headline(
    copies: Repository, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["history", "--repo", str(copies.path), "--build", "false", "--binary", "server"]
    command += ["--store", str(tmp_path / "s.sqlite"), "HEAD~2..HEAD"]
    for more in ([], ["--bench", "true"]):
        assert main([*command, *more]) == 3
        assert capsys.readouterr().out.startswith("nothing could be built: 3 revisions, all of them left out\n")


def test_what_is_quoted_stays_code_in_markdown(tmp_path: Path) -> None:
    """And a name that holds backticks of its own closes nothing."""
    table = tmp_path / "t.csv"
    table.write_text("revision,tps\n" + "".join(f"r{i},{1000 + i}\n" for i in range(5)))
    history = msgspec.structs.replace(
        from_table(TableOptions(str(table))), notes=("`make -j2` ended with `*2*`, a ` <b>x</b>", "odd `")
    )
    text = HISTORY_EMITTERS["markdown"].render(history, RenderOptions())
    assert "- `make -j2` ended with `*2*`, a \\` &lt;b>" in text.replace("\\>", ">")
    assert "- odd \\`" in text
    assert "<b>" not in text


def test_an_interrupted_run_says_that_the_same_command_goes_on(
    copies: Repository,
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("linemate.history.run.read_layouts", interrupted)
    store = tmp_path / "s.sqlite"
    command = ["history", "--repo", str(copies.path), "--build", COPY, "--binary", "server", "--store", str(store)]
    assert main([*command, "HEAD~1..HEAD"]) == 130
    assert f"linemate: results so far are kept in {store}: run the same command to continue" in capsys.readouterr().err
