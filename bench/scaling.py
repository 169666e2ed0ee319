"""scaling: the time of an audit over the size of the file, and whether it grows linearly."""

from __future__ import annotations

import math

from bench.corpus import programs
from bench.measure import compare, seconds
from bench.places import AUDIT_EXITS, WORK, audit
from bench.report import conditions, figure, limit

SIZES_MB = (1, 8, 60, 600)
# Linear with room for caches that a small file fits in and a big one does not.
_EXPONENT_LIMIT = 1.1


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope of log(seconds) over log(size): 1 is linear.  ``points`` are (size, seconds), both positive."""
    xs, ys = ([math.log(point[axis]) for point in points] for axis in (0, 1))
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / sum((x - mean_x) ** 2 for x in xs)


def measure(rounds: int) -> list[str]:
    WORK.mkdir(parents=True, exist_ok=True)
    folder = WORK / "scaling"
    folder.mkdir(exist_ok=True)
    made = programs(folder, SIZES_MB)
    rounds = max(2, rounds // 2)
    contenders = {str(size): seconds(audit(path), accept=AUDIT_EXITS) for size, path in made.items()}
    result = compare(contenders, rounds)
    # What a start costs whatever the file, from the file with next to nothing in it.
    constant_s = result.series["0"].median
    lines, points = [f"  start: {figure(result.series['0'], 's')}, taken off below"], []
    for size in SIZES_MB:
        size_mb = made[size].stat().st_size / 1e6
        series = result.series[str(size)]
        net_s = max(series.median - constant_s, 1e-4)
        points.append((size_mb, net_s))
        lines.append(f"  {size_mb:7.1f} MB  {figure(series, 's')}, {net_s / size_mb * 1e3:.2f} ms/MB")
    return [
        *lines,
        limit(exponent(points), _EXPONENT_LIMIT, "time ~ size ^"),
        conditions(result, rounds),
    ]
