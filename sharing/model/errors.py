"""The errors a reader may raise.  Owns their wording; the command line maps them to exit code 2."""

from __future__ import annotations

MAX_MESSAGE_CHARS = 1500  # what an input says may be quoted, and has any length


class LinemateError(Exception):
    """A condition the user can act on; printed as one line, never as a traceback.  Long ones lose their middle."""

    def __init__(self, message: str) -> None:
        if len(message) > MAX_MESSAGE_CHARS:
            message = f"{message[: MAX_MESSAGE_CHARS // 3 * 2]} … {message[-MAX_MESSAGE_CHARS // 3 :]}"
        super().__init__(message)


class Unrecognized(LinemateError):
    """The input is not of this reader's format: the next reader may try."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class Malformed(LinemateError):
    """The input is of this reader's format and broken: reading stops here.

    ``offset`` is a byte offset in the file, or None where no single byte is to blame.
    """

    def __init__(self, path: str, offset: int | None, why: str) -> None:
        where = path if offset is None else f"{path}: offset {offset:#x}"
        super().__init__(f"{where}: {why}")
        self.path = path
        self.offset = offset
        self.why = why
