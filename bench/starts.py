"""startup and launcher: what a user waits for before linemate does anything."""

from __future__ import annotations

from bench.measure import Series, Unavailable, compare, seconds
from bench.places import REPOSITORY, linemate
from bench.report import conditions, figure, limit, table

_STARTUP_LIMIT_S = 0.15
_LAUNCHER_LIMIT_MS = 50.0
# Starts last milliseconds: many are cheap and one alone says little.
_STARTS_PER_ROUND = 4


def measure_startup(rounds: int) -> list[str]:
    rounds *= _STARTS_PER_ROUND
    result = compare({"linemate --version": seconds(linemate("--version"))}, rounds)
    median_s = result.series["linemate --version"].median
    return [
        *table(result, "ms", 1e3, 1),
        limit(median_s, _STARTUP_LIMIT_S, "seconds"),
        conditions(result, rounds),
    ]


def measure_launcher(rounds: int) -> list[str]:
    launcher = REPOSITORY / "scripts/linemate"
    if not launcher.exists():
        raise Unavailable("no scripts/linemate: this is no checkout")
    rounds *= _STARTS_PER_ROUND
    names = "scripts/linemate", "python -m linemate"
    result = compare(
        {names[0]: seconds([str(launcher), "--version"]), names[1]: seconds(linemate("--version"))}, rounds
    )
    pairs = zip(result.series[names[0]].values, result.series[names[1]].values, strict=True)
    added = Series([launched - direct for launched, direct in pairs])
    return [
        *table(result, "ms", 1e3, 1),
        f"  the launcher adds {figure(added, 'ms', 1e3, 1)}",
        limit(added.median * 1e3, _LAUNCHER_LIMIT_MS, "milliseconds added", 1),
        conditions(result, rounds),
    ]
