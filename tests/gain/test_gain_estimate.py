"""What a line costs, from the run as it is and the run on one processor."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from sharing.model.image import AccessKind
from sharing.sampled.lineuse.lines import profile_lines
from sharing.sampled.speedup.gain import Gain, Gains
from sharing.sampled.speedup.solo import Level
from tests.builders.levels import LINE, Spent, level, lines_of


def gain_of(spread: list[Spent], solo: list[Spent] | None, **solo_facts: float) -> Gain:
    """The gain of the line at LINE."""
    one = level(spread)
    run = lines_of(one)
    gains = Gains(one, run.lines, level(solo, solo=True, **solo_facts) if solo is not None else None)
    gain = gains.of(next(line for line in run.lines if line.address == LINE))
    assert gain is not None
    return gain


def two_counters(stalled_s: float, *, second: int = 8) -> list[Spent]:
    """Two threads that compute for half a second each and wait at their counters, ``second`` bytes apart."""
    return [
        spent
        for thread, place in ((1, LINE), (2, LINE + second))
        for spent in (
            Spent(thread, "count", 0x1000, 0.5),
            Spent(thread, "count", 0x1010, stalled_s, place),
        )
    ]


def test_false_sharing_costs_what_one_processor_does_not_need() -> None:
    gain = gain_of(two_counters(0.55), two_counters(0.05))
    assert gain.ratio == pytest.approx(1.05 / 0.55, rel=0.02)
    assert gain.low < 1.05 / 0.55 < gain.high
    assert "one processor" in gain.how


def test_work_in_the_shadow_of_a_stall_is_not_taken_for_a_part_of_it() -> None:
    # Nearly all samples are at the access, but alone the same loop takes a quarter of the time, not a thirtieth.
    spread = [Spent(t, "count", 0x1010, 1.0, LINE + 8 * t) for t in (1, 2)]
    solo = [Spent(t, "count", 0x1000 + 16 * i, 0.125, LINE + 8 * t if i else 0) for t in (1, 2) for i in (0, 1)]
    assert gain_of(spread, solo).ratio == pytest.approx(4.0, rel=0.03)


def test_true_sharing_is_not_to_be_gained() -> None:
    gain = gain_of(two_counters(0.55, second=0), two_counters(0.05, second=0))
    assert gain.ratio == pytest.approx(1.0)
    assert not gain.worth_fixing


def test_a_line_that_costs_nothing_is_not_worth_fixing() -> None:
    gain = gain_of(two_counters(0.004), two_counters(0.004))
    assert gain.ratio == pytest.approx(1.0, abs=0.01)


def test_excess_goes_to_the_line_at_which_instructions_wait() -> None:
    # Both lines are used as much, only one of them waits: what it cost is not shared out to the other.
    def program(stalled_s: float) -> list[Spent]:
        return [
            *two_counters(stalled_s),
            Spent(1, "count", 0x1020, 0.1, LINE + 64),
            Spent(2, "count", 0x1020, 0.1, LINE + 72),
        ]

    one = level(program(0.5))
    run = lines_of(one)
    gains = Gains(one, run.lines, level(program(0.0), solo=True))
    ratios = {line.address: gain.ratio for line in run.lines if (gain := gains.of(line)) is not None}
    assert ratios == {LINE: pytest.approx(1.1 / 0.6, rel=0.03), LINE + 64: pytest.approx(1.0, abs=0.02)}


def test_lines_that_are_repaired_together_add_up() -> None:
    def program(stalled_s: float) -> list[Spent]:
        return [
            *two_counters(stalled_s),
            Spent(1, "count", 0x1020, stalled_s, LINE + 64),
            Spent(2, "count", 0x1020, stalled_s, LINE + 72),
        ]

    one = level(program(0.5))
    run = lines_of(one)
    gains = Gains(one, run.lines, level(program(0.0), solo=True))
    both = gains.of_all([(line, ()) for line in run.lines])
    assert both is not None
    assert both.ratio == pytest.approx(3.0, rel=0.03)


def test_only_the_thread_that_the_run_waits_for_counts() -> None:
    # The reader is stalled, the other thread computes twice as long whatever happens to the reader.
    def program(stalled_s: float) -> list[Spent]:
        return [
            Spent(1, "read", 0x1000, 0.2),
            Spent(1, "read", 0x1010, stalled_s, LINE, AccessKind.LOAD),
            Spent(2, "count", 0x2000, 0.98),
            Spent(2, "count", 0x2010, 0.02, LINE + 8),
        ]

    assert gain_of(program(0.3), program(0.0)).ratio == pytest.approx(1.0, abs=0.02)


def test_without_a_run_on_one_processor_there_is_only_a_bound() -> None:
    gain = gain_of(two_counters(0.5), None)
    assert gain.ratio is None
    assert gain.low == 1.0
    assert gain.high == pytest.approx(2.0, rel=0.02)
    assert "bound" in gain.how


def slots(seconds: float) -> list[Spent]:
    """Two threads that hardly disturb each other."""
    return [
        s
        for t in (0, 1)
        for s in (
            Spent(t, "count", 0x1000, 0.9 * seconds),
            Spent(t, "count", 0x1010, 0.1 * seconds, LINE + 8 * t),
        )
    ]


def test_a_program_that_runs_for_a_fixed_time_needs_its_work() -> None:
    # Alone both threads share a processor for the same second and do half as much: not a gain of two.
    gain = gain_of(slots(1.0), slots(0.5), wall_s=1.0)
    assert gain.ratio is None
    assert "metric" in gain.ask


def test_a_metric_says_how_much_work_a_run_did() -> None:
    one = level(slots(1.0), metric=200.0)
    run = lines_of(one)
    gain = Gains(one, run.lines, level(slots(0.5), solo=True, wall_s=1.0, metric=100.0)).of(run.lines[0])
    assert gain is not None
    assert gain.ratio == pytest.approx(1.0, abs=0.01)


def test_twice_the_time_by_chance_is_no_fixed_time() -> None:
    # The wall times are equal, but the instructions that do not wait take what they took.
    assert gain_of(two_counters(0.55), two_counters(0.025), wall_s=1.05).ratio == pytest.approx(2.0, rel=0.02)


def test_threads_of_a_pool_are_compared_as_a_whole() -> None:
    # On one processor the first thread took nearly all of the work.
    solo = [
        Spent(1, "count", 0x1000, 0.9),
        Spent(1, "count", 0x1010, 0.09, LINE),
        Spent(2, "count", 0x1000, 0.1),
        Spent(2, "count", 0x1010, 0.01, LINE + 8),
    ]
    assert gain_of(two_counters(0.55), solo).ratio == pytest.approx(1.05 / 0.55, rel=0.03)


def test_more_samples_narrow_the_interval() -> None:
    def width(seconds: float) -> float:
        def program(stalled: float) -> list[Spent]:
            return [
                Spent(t, "f", 0x1000 + 16 * i, seconds * (stalled if i else 1.0), i and LINE + 8 * t)
                for t in (0, 1)
                for i in (0, 1)
            ]

        gain = gain_of(program(1.0), program(0.1))
        return gain.high - gain.low

    assert width(1.0) < width(0.05)


def test_one_thread_shares_nothing() -> None:
    one = level([Spent(1, "count", 0x1010, 0.5, LINE), Spent(1, "count", 0x1010, 0.5, LINE + 8)])
    run = lines_of(one)
    assert Gains(one, run.lines, None).of(run.lines[0]) is None


class Code:
    """Code of ``read`` touches the line; the samples of ``read`` never show it."""

    def __init__(self, one: Level) -> None:
        self._functions = one.attribution.functions

    def touches(self, link: int, size: int) -> list[tuple[int, int, int, AccessKind, bool, frozenset[int]]]:
        assert size == 64
        return [(self._functions.index("read"), 16, 20, AccessKind.LOAD, False, frozenset())] if link == LINE else []


def reader(stalled_s: float) -> list[Spent]:
    """A reader whose accesses are not placed, beside a writer whose are."""
    return [
        Spent(1, "read", 0x1000, 0.5),
        Spent(1, "read", 0x1010, stalled_s),
        Spent(2, "count", 0x2000, 0.3),
        Spent(2, "count", 0x2010, 0.1, LINE + 8),
    ]


def test_a_function_that_waits_and_touches_the_line_by_its_code_is_taken_for_its_victim() -> None:
    one = level(reader(0.5))
    run = profile_lines(one.attribution, 64, Code(one))
    gain = Gains(one, run.lines, level(reader(0.0), solo=True)).of(run.lines[0])
    assert gain is not None
    assert gain.ratio is not None
    assert 1.3 < gain.ratio < 2.1
    assert gain.low < 1.1, "it is no sample that says so"


def test_a_function_that_waits_and_does_not_touch_the_line_is_left_out() -> None:
    one = level(reader(0.5))
    run = profile_lines(one.attribution, 64)
    assert Gains(one, run.lines, level(reader(0.0), solo=True)).of(run.lines[0]) is None


def test_a_bound_that_says_nothing_asks_for_what_would_tell() -> None:
    told, vague = (Gain(None, 1.0, high, "upper bound", "`record --solo` measures it") for high in (2.9, 37.85))
    assert told.sentence == "estimated speed-up at most 2.90×: upper bound; `record --solo` measures it"
    assert vague.sentence == "speed-up not known from this recording; `record --solo` measures it"
    assert "37" in Gain(30.0, 20.0, 37.85, "measured").sentence


def test_a_gain_that_may_be_another_says_so_and_why() -> None:
    sure, unsure = (Gain(1.5, 1.5 / by, 1.5 * by, "measured", doubt="what there is") for by in (1.25, 1.35))
    assert "uncertain" not in sure.sentence
    assert (
        unsure.sentence == "estimated speed-up 1.50× (1.11–2.03×): measured; uncertain, mostly because of what there is"
    )


def test_runs_that_differ_make_a_gain_uncertain_the_more_the_fewer_they_are() -> None:
    def gain(*user_s: float) -> Gain:
        one = level(two_counters(0.55))
        runs = tuple(msgspec.structs.replace(one.runs[0], user_s=seconds) for seconds in user_s)
        lines = lines_of(one).lines
        found = Gains(replace(one, runs=runs), lines, level(two_counters(0.05), solo=True)).of(lines[0])
        assert found is not None
        return found

    alike, few, many = gain(2.1, 2.1, 2.1), gain(1.5, 2.1, 2.8), gain(*(1.5, 2.1, 2.8) * 4)
    assert not alike.uncertain
    assert few.low < many.low < alike.low
    assert "runs differ" in few.sentence


def test_threads_may_wait_in_the_kernel_as_long_after_a_fix() -> None:
    def program(stalled_s: float, waiting_s: float) -> list[Spent]:
        return [*two_counters(stalled_s), *(Spent(t, "futex", 0x9000, waiting_s, kernel=True) for t in (1, 2))]

    gain = gain_of(program(0.55, 0.8), program(0.05, 0.0))
    assert gain.ratio == pytest.approx(1.85 / 0.55, rel=0.02)
    assert gain.low < 1.85 / 1.35 * 1.02, "what is waited for may be something else"


def test_few_samples_may_hide_what_was_not_seen() -> None:
    def program(seconds: float) -> list[Spent]:
        return [Spent(t, "f", 0x1010, seconds, LINE + 8 * t) for t in (0, 1)]

    few, many = gain_of(program(0.005), program(0.005)), gain_of(program(1.0), program(1.0))
    assert few.ratio == many.ratio == pytest.approx(1.0)
    assert few.high > 1.2 > many.high, "an interval of nothing would be a claim"


def test_the_wait_of_a_store_may_show_on_what_comes_after_it() -> None:
    def program(stalled_s: float, kind: AccessKind) -> list[Spent]:
        """A function that waits at a load of one shared line, behind an access to another."""
        return [
            spent
            for t in (1, 2)
            for spent in (
                Spent(t, "f", 0x1000, 0.05, LINE + 8 * t, kind),
                Spent(t, "f", 0x1010, 0.3 + stalled_s, LINE + 64 + 8 * t),
            )
        ]

    stored = gain_of(program(0.5, AccessKind.STORE), program(0.0, AccessKind.STORE))
    updated = gain_of(program(0.5, AccessKind.RMW), program(0.0, AccessKind.RMW))
    assert stored.ratio == pytest.approx(1.0, abs=0.03)
    assert stored.high > 2.4, "all of 0.85 s but 0.35 s"
    assert updated.high < 1.5


def while_lines_took(*taken_ns: float, seen_ns: tuple[float, ...], user_s: tuple[float, ...] = ()) -> Gain:
    """Of two counters, in runs during which lines took so long, on a machine where they took from one to the other."""
    one = level(two_counters(0.15))
    figures = user_s or (one.runs[0].user_s,) * len(taken_ns)
    runs = tuple(
        msgspec.structs.replace(one.runs[0], user_s=s, transfer_ns=(taken, taken))
        for s, taken in zip(figures, taken_ns, strict=True)
    )
    lines = lines_of(one).lines
    found = Gains(replace(one, runs=runs, transfers_ns=seen_ns), lines, level(two_counters(0.05), solo=True)).of(
        lines[0]
    )
    assert found is not None
    return found


def test_a_gain_is_that_of_the_state_of_the_machine_and_there_may_be_others() -> None:
    same = while_lines_took(25.0, 25.0, 25.0, seen_ns=(25.0, 25.0))
    assert same.ratio == pytest.approx(0.65 / 0.55, rel=0.03)
    assert not same.uncertain
    farther = while_lines_took(25.0, 25.0, 25.0, seen_ns=(25.0, 150.0))
    assert farther.ratio == same.ratio
    assert farther.high > (0.55 + 6 * 0.1) / 0.55, "what a line cost, for six times as long"
    assert "how far the processors are from each other" in farther.sentence
    nearer = while_lines_took(150.0, 150.0, 150.0, seen_ns=(25.0, 150.0))
    assert nearer.low < (0.55 + 0.1 / 6) / 0.55 * 1.01
    assert nearer.high < farther.high


def test_a_machine_that_varies_a_little_has_one_state() -> None:
    one, other = (while_lines_took(25.0, 30.0, 35.0, seen_ns=seen) for seen in ((25.0, 35.0), (20.0, 45.0)))
    assert (one.low, one.high) == (other.low, other.high)


def test_any_state_that_runs_met_may_be_met_again() -> None:
    """Three of four runs had a state, so that the median is sure; the fourth is no error."""
    runs = (1.3, 1.3, 1.3, 2.2)
    unknown = while_lines_took(25.0, 25.0, 25.0, 25.0, seen_ns=(25.0, 25.0), user_s=runs)
    met = while_lines_took(25.0, 25.0, 25.0, 150.0, seen_ns=(25.0, 150.0), user_s=runs)
    assert met.high > 2.2 / 1.1 * 0.98
    assert met.high > unknown.high
    assert met.low > unknown.low, "and none had less"
