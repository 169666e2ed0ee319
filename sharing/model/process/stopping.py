"""Signals that end a run: raised once, where nothing is lost by it, and only noted while the run cleans up.

Owns the handlers of SIGINT, SIGTERM and SIGHUP, which mean the same, and the order of events: the first of them becomes
``Stopped`` in the main thread, all others are ignored, since an exception in the midst of clean-up leaves a mess.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_S = 0.01


class Stopped(BaseException):
    """A signal asked the run to end.  No Exception: nothing but clean-up may come between it and the end."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.number = number

    @property
    def exit_code(self) -> int:
        """As shells say it."""
        return 128 + self.number


class _State:
    def __init__(self) -> None:
        self.came = 0  # the first signal
        self.raised = False
        self.ending = False
        self.held = 0


_state = _State()
_first: list[Callable[[], None]] = []


def install() -> None:
    """Take over the signals in the main thread.  What was ignored at the start stays so: nohup, jobs of a shell."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)
    sys.unraisablehook = _unraisable


def at_stop(work: Callable[[], None]) -> None:
    """What is done before ``Stopped`` is raised, such as ending what threads wait for.  It must not fail."""
    _first.append(work)


def begin_ending() -> None:
    """From here on signals are only noted: the run is at its end."""
    _state.ending = True


def was_raised() -> bool:
    """Whether a signal ended the run."""
    return _state.raised


def ended_by() -> Stopped:
    """The end by the signal that came, for where ``Stopped`` itself was lost.

    It may arrive anywhere, so also where it becomes another error: Python makes a RuntimeError of what is raised in
    ``__set_name__``, an extension module an ImportError of what breaks its start off, and a lock that was not yet
    taken again, or a mapping that is still looked at, fails when the block around it is left.
    """
    return Stopped(_state.came)


def _stop(number: int, _frame: FrameType | None) -> None:
    _state.came = _state.came or number
    if not (_state.held or _state.raised or _state.ending):
        _raise()


def _raise() -> None:
    _state.raised = True
    for work in _first:
        work()
    raise Stopped(_state.came)


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised in a finaliser; the signal must not be lost with it, so it comes again."""
    if not issubclass(lost.exc_type, Stopped):
        sys.__unraisablehook__(lost)
        return

    def again(_number: int, _frame: FrameType | None) -> None:
        if not (_state.held or _state.ending):
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise Stopped(_state.came)

    signal.signal(signal.SIGALRM, again)
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S, _AGAIN_S)


class held:
    """A block in the main thread that no signal breaks off: one that comes meanwhile is raised at its end.

    For what must not be torn apart, such as starting a child and writing down that it runs.  Keep it short.
    """

    def __enter__(self) -> None:
        self._counts = threading.current_thread() is threading.main_thread()
        _state.held += self._counts

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _state.held -= self._counts
        if self._counts and not _state.held and _state.came and not (_state.raised or _state.ending):
            _raise()
