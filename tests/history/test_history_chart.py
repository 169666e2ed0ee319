"""The chart of a condition: round numbers on its axis, whatever the figures are."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate.history.table import TableOptions, from_table
from reports.history import HISTORY_EMITTERS
from reports.history.chart import TICKS, ticks
from reports.options import RenderOptions


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (891.3, 1008.7, [900, 950, 1000]),
        (0.0, 1.0, [0, 0.5, 1]),
        (-3.0, 4.0, [-2, 0, 2, 4]),
        (7150.0, 8050.0, [7200, 7400, 7600, 7800, 8000]),
        (float("-1e308"), float("1.7e308"), []),
    ],
)
def test_ticks_are_round_and_few(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)
    assert len(expected) <= TICKS


@pytest.mark.parametrize("level", [1e-9, 2e15])
def test_figures_without_any_difference_have_a_chart(tmp_path: Path, level: float) -> None:
    table = tmp_path / "table.csv"
    table.write_text("revision,qps\n" + "".join(f"r{at},{level}\n" for at in range(9)))
    page = HISTORY_EMITTERS["html"].render(from_table(TableOptions(str(table))), RenderOptions())
    assert page.count("<svg") == 1
