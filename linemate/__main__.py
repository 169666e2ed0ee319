"""Process entry of ``python -m linemate`` and of the installed ``linemate`` command.

Owns the fast path of ``--version``; everything else is the command line's (``linemate.cli``), imported
only when needed.
"""

from __future__ import annotations

import sys

from linemate import __version__


def main() -> None:
    """Run the command line with ``sys.argv``; ends the process with the command's exit code."""
    if sys.argv[1:] == ["--version"]:
        # Written here so that scripts that only ask for the version never pay for the libraries.
        print(f"linemate {__version__}")
        return
    import gc

    # A run makes a million objects that live to its end; looking through them for cycles is 7 % of an audit.
    gc.set_threshold(100_000, 50, 50)
    from linemate.cli import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
