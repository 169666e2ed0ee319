"""Running the tests leaves alone what the user keeps: reports, facts, journals, binaries of perf."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from linemate.cachedir import whole
from linemate.statedir import make_state_folder


def test_what_tests_keep_is_kept_in_a_folder_of_this_run() -> None:
    run = Path(os.environ["LINEMATE_TESTS_PLACES"])
    assert run.parent == Path(tempfile.gettempdir())
    assert Path.home() not in run.parents
    places = [whole(), make_state_folder(), Path(os.environ["PERF_BUILDID_DIR"])]
    assert [run in place.parents for place in places if place] == [True, True, True]
