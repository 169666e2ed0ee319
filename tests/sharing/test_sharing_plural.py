"""Lists that are cut: the first names, and how many more there are."""

from __future__ import annotations

import pytest

from sharing.model.plural import named, percent


@pytest.mark.parametrize(
    ("names", "most", "total", "text"),
    [
        ([], 3, 0, ""),
        (["a"], 3, 0, "a"),
        (["a", "b", "c"], 3, 0, "a, b, c"),
        (["a", "b", "c", "d"], 3, 0, "a, b, c and 1 more"),
        (["a", "b"], 3, 2_050, "a, b and 2,048 more"),  # only some of them were handed over
        (["a", "b"], 1, 1, "a and 1 more"),  # a total that is too small loses none
    ],
)
def test_what_is_not_named_is_counted(names: list[str], most: int, total: int, text: str) -> None:
    assert named(names, most, total) == text


def test_names_with_commas_are_parted_otherwise() -> None:
    assert named(["a, b", "c", "d"], 2, between="; ") == "a, b; c and 1 more"


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(566, 566, "100 %"), (999_999, 1_000_000, "99.9 %"), (334, 60_348, "0.5 %"), (0, 9, "0 %"), (11, 10, "100 %")],
)
def test_a_share_is_rounded_down(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text
