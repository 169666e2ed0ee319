"""Bisection: few questions, around what gives no answer."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from sharing.history.bisect import Answer, narrow_down


@given(st.integers(1, 2000), st.data())
def test_the_change_is_found_in_log2_questions(last: int, data: st.DataObject) -> None:
    change = data.draw(st.integers(1, last))
    found = narrow_down(last, lambda at: Answer.NEW if at >= change else Answer.OLD)
    assert found.suspects == (change,)
    assert len(found.asked) <= math.ceil(math.log2(last)) if last > 1 else not found.asked


@given(st.integers(1, 60), st.data())
def test_what_gives_no_answer_widens_the_suspects_and_never_hides_the_change(last: int, data: st.DataObject) -> None:
    change = data.draw(st.integers(1, last))
    mute = data.draw(st.sets(st.integers(1, max(last - 1, 1)), max_size=last)) - {0, last}
    found = narrow_down(last, lambda at: Answer.NONE if at in mute else Answer.NEW if at >= change else Answer.OLD)
    assert change in found.suspects
    # All that is left open has no answer; without such positions one suspect is left.
    assert set(found.suspects[:-1]) <= mute
    assert len({at for at, _ in found.asked}) == len(found.asked)


def test_the_nearest_neighbour_answers_for_the_middle() -> None:
    asked = []

    def ask(at: int) -> Answer:
        asked.append(at)
        return Answer.NONE if at == 8 else Answer.NEW if at >= 9 else Answer.OLD

    assert narrow_down(16, ask).suspects == (8, 9)
    assert asked[:2] == [8, 7]
