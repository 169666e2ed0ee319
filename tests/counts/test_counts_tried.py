"""What the judgement would be with other numbers, and each program by the numbers that the others fit best."""

from __future__ import annotations

import pytest

from bench.truth.score import Share
from bench.truth.tried import Outcome, combinations, left_out, moved, page
from sharing.basics import numbers as shared
from sharing.model.finding import Severity
from sharing.static import numbers


def outcome(part: int, whole: int = 10, low: Share | None = None) -> Outcome:
    return Outcome(Share(part, whole), Share(part, 20), {Severity.LOW: low or Share()}, Share(0, 1))


class TestMoved:
    def test_numbers_of_both_rooms_are_moved_and_put_back(self) -> None:
        before = shared.LOOP_FACTOR, numbers.MAX_FREQUENCY
        with moved({"LOOP_FACTOR": 3.0, "MAX_FREQUENCY": 1e3}):
            assert (shared.LOOP_FACTOR, numbers.MAX_FREQUENCY) == (3.0, 1e3)
        assert before == (shared.LOOP_FACTOR, numbers.MAX_FREQUENCY)

    def test_also_where_the_judgement_fails(self) -> None:
        before = shared.LOOP_FACTOR
        with pytest.raises(ValueError, match="failed"), moved({"LOOP_FACTOR": 3.0}):
            raise ValueError("failed")
        assert before == shared.LOOP_FACTOR

    def test_a_number_that_there_is_not_is_none_of_them(self) -> None:
        with pytest.raises(AttributeError), moved({"LOOPS_AND_BOUNDS": 3.0}):
            pass

    def test_the_first_combination_is_what_the_code_has(self) -> None:
        first, *others = combinations()
        assert first == {}
        assert all(other for other in others)


FOUND = {
    "a": [outcome(4), outcome(8), outcome(2)],
    "b": [outcome(5), outcome(9), outcome(3)],
    "odd": [outcome(5), outcome(1), outcome(10)],
}


class TestLeftOut:
    """Three combinations: the second is best for most programs, the third only for `odd`."""

    def test_a_program_has_no_part_in_its_choice(self) -> None:
        assert left_out(FOUND)["odd"] == 1  # its own best is the third

    def test_the_others_are_judged_with_it_in_the_choice(self) -> None:
        # Of b and odd: 1.0, 1.0 and 1.3.
        assert left_out(FOUND)["a"] == 2

    def test_programs_of_which_nothing_is_used_together_decide_nothing(self) -> None:
        found = {**FOUND, "alone": [outcome(0, 0)] * 3}
        assert left_out(found)["odd"] == 1

    def test_one_program_has_no_others(self) -> None:
        assert left_out({"a": [outcome(4), outcome(8)]}) == {"a": 0}


class TestPage:
    def rows(self, found: dict[str, list[Outcome]]) -> list[list[str]]:
        text = page([{}, {"LOOP_FACTOR": 3.0}], found)
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1:]]

    def test_shares_add_up_and_programs_count_alike(self) -> None:
        now, other, fitted = self.rows({
            "many": [outcome(30, 100), outcome(10, 100, Share(1, 2))],
            "few": [outcome(1, 10), outcome(10, 10, Share(0, 3))],
        })  # fmt: skip
        assert now == [
            f"as the code has them: 10, {numbers.MAX_FREQUENCY:g}",
            "31 of 110",
            "0.20",
            "31 of 40",
            "none",
            "0 of 2",
        ]
        assert other == [f"3, {numbers.MAX_FREQUENCY:g}", "20 of 110", "0.55", "20 of 40", "1 of 5 low", "0 of 2"]
        # Each by what is best for the other one: `many` by the second, `few` by the first.
        assert fitted[1:3] == ["11 of 110", "0.10"]
