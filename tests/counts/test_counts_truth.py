"""The corpus of counted programs: what is kept is what was counted, and the scores say what a run shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.truth.page import page
from bench.truth.score import Share, score
from bench.truth.store import Made, load, save
from pmu.executions import read_executions
from sharing.model.executions import Executions
from tests.builders.callgrind import Out
from tests.counts.conftest import Counted, Run

MADE = Made("server", "/bin/server", "package", "1.0", "ab" * 20, "server --now", "callgrind-3.19.0")
KEPT = sorted((Path(__file__).parents[2] / "testdata" / "truth").glob("*.json.xz"))


def of_program(run: Run) -> Executions:
    executions = read_executions([run.counts])
    (module,) = [i for i, name in enumerate(executions.modules) if name == str(run.binary)]
    return replace(executions, table=executions.of_module([module]))


def test_what_is_kept_is_what_was_counted_in_that_file(tmp_path: Path) -> None:
    for thread, counts in ((1, (7, 7, 5, 0)), (2, (0, 9, 9, 9))):
        out = Out(thread=thread).ob("/lib/other.so").cost(0x40, 1000).ob("/bin/server")
        for at, count in enumerate(counts):
            out.cost(0x1000 + 0x10 * at * at, count)
        (tmp_path / f"counts-{thread:02}").write_text(out.text())
    whole = read_executions([tmp_path / "counts"])
    module = whole.modules.index("/bin/server")
    save(tmp_path / "kept", MADE, whole, [module])
    made, kept = load(tmp_path / "kept")
    assert made == MADE
    assert kept.threads == whole.threads
    columns = ["address", "thread", "executions"]
    assert kept.table[columns].tolist() == whole.of_module([module])[columns].tolist()
    assert len(kept.table) == 6


def test_a_run_that_shares_a_line_has_one_shared_line(counted: Counted) -> None:
    run = counted("pair.c", "-fPIE", "-pie")
    found = score(str(run.binary), of_program(run))
    assert found.recall.whole == 1
    assert found.entries == Share(2, 2)
    assert found.reached.part == found.reached.whole > 3


@pytest.mark.parametrize(("flags", "arguments"), [(("-DPAD",), ()), (("-fPIE", "-pie"), ("alone",))])
def test_a_run_that_shares_none_has_none(counted: Counted, flags: tuple[str, ...], arguments: tuple[str, ...]) -> None:
    run = counted("pair.c", *flags, arguments=arguments)
    found = score(str(run.binary), of_program(run))
    assert found.recall == Share(0, 0)
    assert sum(share.part for share in found.precision.values()) == 0


def test_the_page_names_the_program_and_its_misses(counted: Counted) -> None:
    run = counted("pair.c", "-fPIE", "-pie")
    found = score(str(run.binary), of_program(run))
    text = page([(MADE, found)], ["other: is another build here"])
    assert "| server |" in text
    assert all(f"`{name}`" in text for names in found.misses.values() for name in names[:1])
    assert "- other: is another build here" in text


@pytest.mark.parametrize("path", KEPT, ids=[p.name.partition(".")[0] for p in KEPT])
def test_each_kept_program_can_be_read_and_is_small(path: Path) -> None:
    made, executions = load(path)
    assert path.stat().st_size < 150_000
    assert len(executions.table) > 100
    assert made.build_id
    assert len(executions.threads) > 1
