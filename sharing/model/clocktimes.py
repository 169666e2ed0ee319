"""Functions that tell the time, by their names.

Owns how each does: what it returns, or fills where an argument leads to.
``analyzer/src/function/ClockTimes.cpp`` has the same for source.
"""

from __future__ import annotations

from enum import IntEnum


class ClockTime(IntEnum):
    """What a function returns, or what it fills with seconds and a part of one."""

    SECONDS = 1
    MILLISECONDS = 2
    MICROSECONDS = 3
    NANOSECONDS = 4
    FILLS_FIRST = 5
    FILLS_SECOND = 6


_TOLD = {
    **dict.fromkeys(("time", "time64", "__time64"), ClockTime.SECONDS),
    **dict.fromkeys(("uv_now", "SDL_GetTicks", "SDL_GetTicks64"), ClockTime.MILLISECONDS),
    **dict.fromkeys(("g_get_monotonic_time", "g_get_real_time", "apr_time_now"), ClockTime.MICROSECONDS),
    "uv_hrtime": ClockTime.NANOSECONDS,
    **dict.fromkeys(("gettimeofday", "__gettimeofday64"), ClockTime.FILLS_FIRST),
    **dict.fromkeys(("clock_gettime", "__clock_gettime64"), ClockTime.FILLS_SECOND),
}
# std::chrono's clocks count nanoseconds in libstdc++, with two names of its inline namespace (bits/chrono.h).
_CHRONO = "_ZNSt6chrono"
_CHRONO_END = ("12steady_clock3nowEv", "12system_clock3nowEv")


def clock_time_of(name: str) -> ClockTime | None:
    """How a function of this name, of another file, tells the time."""
    if name.startswith(_CHRONO) and name.endswith(_CHRONO_END):
        return ClockTime.NANOSECONDS
    return _TOLD.get(name)
