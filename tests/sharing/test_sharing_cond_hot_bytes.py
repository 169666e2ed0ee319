"""glibc's condition variable is written in all of its 48 bytes."""

from __future__ import annotations

import pytest

from tests.sharing.conftest import Compile, compiled  # noqa: F401
from tests.sharing.test_sharing_knowledge import abi, changes


@pytest.mark.parametrize("name", ["pthread_cond_t", "cnd_t"])
def test_what_operations_change_is_hot(name: str, compiled: Compile) -> None:  # noqa: F811
    hot = {x for start, end in abi(name).hot for x in range(start, end)}
    assert set(changes(compiled, "c")[name]) <= hot
