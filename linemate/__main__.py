"""Process entry of ``python -m linemate`` and of the installed ``linemate`` command.

Owns the process from its first line to its last: the standard streams as they are found, the signals that end it, and
that nothing it made is left.  The command line is ``linemate.cli``'s, imported only when needed.
"""

from __future__ import annotations

import atexit
import os
import sys

from linemate import __version__

_EXIT_INTERRUPTED = 130


def main() -> None:
    """Run the command line with ``sys.argv``; ends the process with the command's exit code."""
    try:
        from linemate.streams import open_streams, settled

        open_streams()
        # The version is written here so that scripts that only ask for it never pay for the libraries.
        code = settled(0, f"linemate {__version__}\n") if sys.argv[1:] in (["--version"], ["-V"]) else _run()
    except KeyboardInterrupt:
        os._exit(_EXIT_INTERRUPTED)  # before anything was begun
    sys.exit(code)


def _run() -> int:
    import gc

    # A run makes a million objects that live to its end; looking through them for cycles is 7 % of an audit.  Fewer are
    # made in between that do not: what an audit needs at most stays the same.
    gc.set_threshold(500_000, 50, 50)
    from linemate.blas import load_numpy
    from linemate.streams import settled

    if not _asks_for_help(sys.argv[1:]):
        load_numpy()  # before anything else imports it
    from sharing.model.process import children, scratch, stopping

    try:
        stopping.install()
        from linemate.cli import main as run

        code = run()
        stopping.begin_ending()  # in here: a signal that came between here and the end would be nobody's
    except stopping.Stopped as stop:
        code = stop.exit_code
    stopping.begin_ending()
    children.end_all()
    scratch.close()
    if stopping.was_raised():
        # Also where something made another error of it, or nothing.  A thread that still works would be waited for.
        os._exit(settled(stopping.ended_by().exit_code))
    return _ended(settled(code))


def _asks_for_help(words: list[str]) -> bool:
    """Of all commands or of one: the text needs no tables."""
    return not words or words[0] == "help" or any(word in ("--help", "-h") for word in words)


def _ended(code: int) -> int:
    """End here, where no thread is left that would be waited for; else the code to end with.

    Python would take its modules and all objects apart one by one, 50 ms of an audit; the kernel frees them at once.
    """
    import threading

    if threading.active_count() == 1:
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    main()
