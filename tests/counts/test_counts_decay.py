"""What counts say of calls and chains of calls, and what heat would be if a part of the estimate were as counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.truth import subject
from bench.truth.decay import FARTHEST, FEW, CallGroup, call_groups, calls_away, decay, decays, supposed, tables
from bench.truth.store import Made, save
from bench.truth.subject import judged
from bench.truth.truth import truth_of
from elfscan.fileformat.elf import ElfFile, map_file
from pmu.counts import read_executions
from sharing.model.image import Image
from tests.builders.image import Builder
from tests.counts.conftest import Counted
from tests.counts.test_counts_truth import of_program


def program(calls: int) -> Image:
    """``serve`` calls so many functions in a loop, and as many on a way that is seldom taken."""
    b = Builder()
    serve = b.function("serve")
    for at in range(calls):
        serve.call(f"often{at}", loop=1)
    for at in range(calls):
        serve.call(f"seldom{at}", rarity=8)
    for at in range(calls):
        b.function(f"often{at}")
        b.function(f"seldom{at}")
    return b.image()


class TestCalls:
    """A function that ran four times."""

    def groups(self, calls: int, often: float, seldom: float, runs: float = 4) -> dict[tuple[int, int], CallGroup]:
        image = program(calls)
        entered = np.zeros(len(image.functions))
        entered[0] = runs
        made = np.where(image.calls["loop_depth"] > 0, often, seldom)
        made[np.flatnonzero(image.calls["loop_depth"] == 0)[::2]] = 0.0
        return call_groups(image, entered, made)

    def test_those_that_stand_alike_are_one_group(self) -> None:
        found = self.groups(FEW, often=8, seldom=4)
        assert found == {(0, 2): CallGroup(0.5, 1.0, 0.25), (1, 0): CallGroup(1.0, 2.0, 10.0)}

    def test_calls_of_a_function_that_did_not_run_tell_nothing(self) -> None:
        assert self.groups(FEW, often=8, seldom=4, runs=0) == {}

    def test_a_few_tell_nothing(self) -> None:
        assert self.groups(FEW - 1, often=8, seldom=4) == {}


def test_the_nearest_beginning_counts() -> None:
    b = Builder()
    b.function("main").call("parse")
    b.function("parse").call("help")
    b.function("worker").call("help")
    b.function("help")
    b.function("never")
    image = b.image()
    assert calls_away(image, np.array([0])).tolist() == [0, 1, FARTHEST, 2, FARTHEST]
    assert calls_away(image, np.array([0, 2])).tolist() == [0, 1, 0, 1, FARTHEST]


def test_with_both_parts_as_counted_the_order_is_nearly_that_of_the_counts(
    counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "DECODED", tmp_path / "decoded")
    run = counted("pair.c", "-fPIE", "-pie")
    (one,) = judged(run.binary)
    found = dict(supposed(one, truth_of(one.passes, of_program(run))))
    ranks = {name: heat.rank_correlation for name, heat in found.items()}
    # But for what main does before it starts a thread, which counts as nothing.
    assert ranks["both"] == max(ranks.values()) > 0.9
    assert ranks["the estimate"] < ranks["both"]


def test_tables_are_means_of_programs(counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "DECODED", tmp_path / "decoded")
    run = counted("pair.c", "-fPIE", "-pie")
    whole = read_executions([run.counts])
    kept = tmp_path / "server.json.xz"
    build_id = ElfFile(str(run.binary), map_file(str(run.binary))).build_id or ""
    made = Made("server", str(run.binary), "", "", build_id, "", "")
    save(kept, made, whole, [at for at, name in enumerate(whole.modules) if name == str(run.binary)])
    one = decay(kept)
    assert one is not None
    text = "\n".join(tables([one, one]))
    hot = one.supposed["the estimate"].hot_of_most_used
    assert f"| the estimate | {2 * hot.part} of {2 * hot.whole} |" in text
    save(kept, Made("server", "/bin/true", "", "", "0", "", ""), whole, [])
    assert list(decays([kept])) == [("server", None)]
