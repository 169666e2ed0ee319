"""Functions at which all threads of a group wait for each other, by their names in binaries.

Owns which names these are of those that the scanner of code counts on the ways through a function, and for source
``analyzer/src/function/Stages``.  What else threads
wait for each other at says the vocabulary (``barrier``).
"""

from __future__ import annotations

_NAMES = frozenset(
    ("pthread_barrier_wait", "GOMP_barrier", "GOMP_loop_end", "GOMP_sections_end", "__kmpc_barrier", "omp barrier")
)
OWN_BEGIN = b"_ZNSt7barrierI"  # std::barrier, a template: of the program that uses it
_WAITS = "15arrive_and_waitEv"


def waits_for_all(name: str) -> bool:
    """Whether a function of this name arrives for its thread and waits for all others."""
    return name in _NAMES or (name.endswith(_WAITS) and name.startswith(OWN_BEGIN.decode()))
