"""Runs mypy, with a collector of garbage that looks at young objects often.

mypy lets 200,000 objects be made between two searches for garbage.  Operators on numpy's arrays make hundreds of
millions that die at once, in cycles: found while they are few they are still in the processor's cache, and the whole
run takes a quarter of the time.  Takes the arguments of mypy.
"""

from __future__ import annotations

import gc

from mypy.__main__ import console_entry

_YOUNG, _MIDDLE, _OLD = 5000, 20, 100


def main() -> None:
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    gc.set_threshold = lambda *_: None  # mypy sets its own as it begins
    console_entry()


if __name__ == "__main__":
    main()
