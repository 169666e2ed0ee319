"""What a benchmark prints: figures with their spread, ratios, and whether a limit held.

Owns the wording and number formats.
"""

from __future__ import annotations

from bench.measure import Comparison, Series


def figure(series: Series, unit: str, scale: float = 1.0, digits: int = 3) -> str:
    """Median with its range: ``1.234 s (1.201–1.300)``."""
    low, high = series.spread
    return f"{series.median * scale:.{digits}f} {unit} ({low * scale:.{digits}f}–{high * scale:.{digits}f})"


def table(comparison: Comparison, unit: str, scale: float = 1.0, digits: int = 3) -> list[str]:
    """A line a contender."""
    width = max(map(len, comparison.series))
    return [f"  {name:<{width}}  {figure(s, unit, scale, digits)}" for name, s in comparison.series.items()]


def limit(value: float, bound: float, what: str, digits: int = 2) -> str:
    """Whether an upper bound held."""
    verdict = "held" if value <= bound else "MISSED"
    return f"  {what}: {value:.{digits}f}, at most {bound:.{digits}f}: {verdict}"


def ratio(comparison: Comparison, name: str, base: str) -> str:
    """The median of the rounds' ratios, with their range."""
    series = comparison.ratios(name, base)
    low, high = series.spread
    return f"  {name} / {base}: {series.median:.2f} ({low:.2f}–{high:.2f})"


def conditions(comparison: Comparison, rounds: int) -> str:
    """How quiet the machine was."""
    text = f"  {rounds} rounds"
    if comparison.repeated:
        text += f", {comparison.repeated} more measured again because others took processor time"
    if comparison.disturbed:
        text += f"; {comparison.disturbed} of those that count stayed disturbed"
    return text
