"""The command line: one process, one command, one exit code.

Owns the group of commands and the mapping of errors to exit codes.  Each command is one module of
``linemate.commands``, imported when it is asked for.

Exit codes: 0 clean, 1 findings at or above ``--fail-on``, 2 bad usage or unreadable input, 3 the analysis is
incomplete (whatever it found), 70 a defect of linemate, 129, 130 and 143 ended by SIGHUP, SIGINT and SIGTERM, 141 the
reader of our output went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from linemate import completion
from linemate.commands import COMMANDS, load
from linemate.streams import ReaderGone
from linemate.version import __version__
from reports.escape import visible
from sharing.model.errors import LinemateError
from sharing.model.guard import begin_run, lost_input
from sharing.model.process import children, scratch, stopping
from sharing.model.process.stopping import Stopped

EXIT_CLEAN = 0
EXIT_USAGE = 2
EXIT_DEFECT = 70
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors end as one line on standard error."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    children.use_spawner(_spawner)
    begin_run()
    try:
        scratch.sweep()
        code = cli.main(
            args=None if arguments is None else list(arguments), prog_name="linemate", standalone_mode=False
        )
        return code if isinstance(code, int) else EXIT_CLEAN
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except Stopped as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except ReaderGone:
        return EXIT_BROKEN_PIPE
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        return _error(f"{error.format_message().rstrip('.')}{hint}", EXIT_USAGE)
    except LinemateError as error:
        return _error(str(lost_input() or error), EXIT_USAGE)
    except OSError as error:
        return _error(_os_error(error), EXIT_USAGE)
    except MemoryError:
        return _error("out of memory", EXIT_USAGE)
    except Exception as error:
        # Zeros in place of what was cut off may have led a reader anywhere.
        if (loss := lost_input()) is not None:
            return _error(str(loss), EXIT_USAGE)
        if os.environ.get("LINEMATE_DEBUG") == "1" and not stopping.was_raised():
            import traceback

            traceback.print_exc()
        kind = type(error).__name__
        return _error(f"internal error, please report it: {kind}: {error} (LINEMATE_DEBUG=1 shows where)", EXIT_DEFECT)


def _os_error(error: OSError) -> str:
    """What went wrong with what; a folder that was deleted has no name any more."""
    try:
        os.getcwd()
    except OSError:
        if not error.filename:
            return "the current folder was deleted: change to one that exists"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def _spawner() -> str:
    from elfscan.tools import tool_path

    return str(tool_path("linemate-spawn"))


def _error(message: str, code: int) -> int:
    if stopping.was_raised():  # what failed is what the signal broke off
        return stopping.ended_by().exit_code
    print(f"linemate: error: {visible(message)}", file=sys.stderr)
    return code


class Commands(click.Group):
    """The commands by name, from the table in ``linemate.commands``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = load(cmd_name) if cmd_name in COMMANDS else None
        return completion.with_file_names(command) if command is not None and completion.asked() else command


@click.group(
    cls=Commands,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="linemate", message="%(prog)s %(version)s")
def cli() -> None:
    """Find the variables that share a cache line and should not."""
