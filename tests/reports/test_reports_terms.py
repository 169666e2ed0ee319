"""What an edit costs, in words whose numbers add up."""

from __future__ import annotations

import msgspec

from reports.wording import terms
from sharing.model.finding import Remedy

PLAIN = Remedy("pad-element", "", "", "C++", 64, False, True)


def test_a_sum_of_many_objects_names_all_of_it() -> None:
    many = msgspec.structs.replace(PLAIN, cost_bytes=48 * 4 + 63, objects=4, each_bytes=48)
    assert terms(many).startswith("+255 bytes (48 × 4 objects, up to 63 before the first), ")


def test_a_sum_that_is_a_product_has_no_more_to_say() -> None:
    many = msgspec.structs.replace(PLAIN, cost_bytes=48 * 4, objects=4, each_bytes=48)
    assert terms(many).startswith("+192 bytes (48 × 4 objects), ")
    assert terms(PLAIN).startswith("+64 bytes, ")
