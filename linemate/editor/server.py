"""``linemate lsp``: the analysis as a language server on standard input and output.

Owns what editors ask, what files are called, and when sources are read: when a file is opened first, and at each save.
Text that was not saved is not looked at, since a program is judged as a whole.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from linemate.editor.analysis import Analysis, Mark, TextRange, edits_of
from linemate.editor.programs import EditedProgram, Programs
from linemate.version import __version__
from reports.escape import visible
from reports.locations import line_title
from sharing.model.errors import LinemateError
from sharing.model.finding import Severity
from sharing.model.inputs import read_source
from sharing.model.process import stopping

_WORD = re.compile(r"\w+")
MAX_LOGGED = 500  # characters of what an editor's message is said to have wrong
_LEVELS = {
    Severity.NOTE: types.DiagnosticSeverity.Hint,
    Severity.LOW: types.DiagnosticSeverity.Information,
    Severity.MEDIUM: types.DiagnosticSeverity.Warning,
    Severity.HIGH: types.DiagnosticSeverity.Error,
    Severity.CRITICAL: types.DiagnosticSeverity.Error,
}


class Server:
    """The state of one editor: its programs, and what it was told of files that are of none."""

    def __init__(self, programs: Programs) -> None:
        self.programs = programs
        self.said: set[str] = set()
        self.lock = threading.Lock()

    def program_of(self, server: LanguageServer, uri: str) -> EditedProgram | None:
        """The program of a document; that there is none is a message, the same one once."""
        if urlsplit(uri).scheme != "file":  # a buffer that was never saved
            return None
        try:
            return self.programs.of(Path(_path(uri)))
        except LinemateError as error:
            if str(error) not in self.said:
                self.said.add(str(error))
                _say(server, error)
            return None

    def analysis_of(self, server: LanguageServer, uri: str) -> Analysis | None:
        """What the last check said of the program of a document."""
        program = self.program_of(server, uri)
        return program.analysis if program is not None else None

    def analyse(self, server: LanguageServer, program: EditedProgram) -> None:
        """Check again and publish; what goes wrong is a message in the editor."""
        try:
            program.analysis = Analysis.of(program.options)
        except LinemateError as error:
            _say(server, error)
            return
        by_file: dict[str, list[types.Diagnostic]] = {uri: [] for uri in program.shown}
        marks = list(program.analysis.marks())
        uris = _Uris(server)
        for mark in marks:
            by_file.setdefault(uris.of(mark.path), []).append(_diagnostic(mark, marks, uris))
        for uri, diagnostics in by_file.items():
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))
        program.shown = {uri for uri, diagnostics in by_file.items() if diagnostics}


class _Uris:
    """What the editor calls a file: as it opened it, also where its path leads through links."""

    def __init__(self, server: LanguageServer) -> None:
        self._opened = {os.path.realpath(_path(uri)): uri for uri in server.workspace.text_documents}

    def of(self, path: str) -> str:
        return self._opened.get(os.path.realpath(path)) or Path(path).as_uri()


def _say(server: LanguageServer, error: LinemateError) -> None:
    text = f"linemate: {visible(str(error))}"
    server.window_show_message(types.ShowMessageParams(types.MessageType.Error, text))


def _range(start: TextRange, end: TextRange) -> types.Range:
    return types.Range(types.Position(start.line, start.start), types.Position(end.line, end.end))


def _diagnostic(mark: Mark, marks: list[Mark], uris: _Uris) -> types.Diagnostic:
    finding = mark.finding
    return types.Diagnostic(
        range=_range(mark.range, mark.range),
        message=f"{visible(finding.message)} ({line_title(finding.line)})",
        severity=_LEVELS[finding.severity],
        code=finding.rule,
        source="linemate",
        data=finding.id,
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(uris.of(other.path), _range(other.range, other.range)), "shares the line"
            )
            for other in marks
            if other.finding is finding and other is not mark
        ],
    )


class _EndingServer(LanguageServer):
    """Ends on a signal although the thread that reads would wait for the editor's next word.

    What it cannot tell an editor that went away it does not try to tell again, as pygls does without end.
    """

    _telling = False

    def report_server_error(self, error: Exception, source: Any) -> None:
        if self._telling:
            return
        self._telling = True
        try:
            super().report_server_error(error, source)
        finally:
            self._telling = False

    def shutdown(self) -> None:
        if not stopping.was_raised():
            super().shutdown()  # type: ignore[no-untyped-call]  # pygls


def _end_loop() -> None:
    """Make the running event loop end: asyncio logs and drops what a callback raises, SystemExit alone excepted."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # there is none, so the signal's own exception goes its way
        return
    loop.call_soon_threadsafe(sys.exit)


class _OneLine(logging.Formatter):
    """What pygls has to say of an editor's messages, without its tracebacks: who wrote the message is no developer."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        return visible(f"linemate: {record.getMessage()}{f': {error}' if error is not None else ''}"[:MAX_LOGGED])


def _log_in_lines() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def _path(uri: str) -> str:
    return unquote(urlsplit(uri).path)


def serve(programs: Programs) -> None:
    """Answer one editor until it goes away."""
    state = Server(programs)
    server = _EndingServer("linemate", __version__)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @server.thread()
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        with state.lock:
            program = state.program_of(server, params.text_document.uri)
            if program is not None and program.analysis is None:
                state.analyse(server, program)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    @server.thread()
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        with state.lock:
            program = state.program_of(server, params.text_document.uri)
            if program is not None:
                state.analyse(server, program)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    @server.thread()
    def hover(params: types.HoverParams) -> types.Hover | None:
        # What the editor does not have open would be read from wherever its name leads.
        document = server.workspace.text_documents.get(params.text_document.uri)
        lines = document.lines if document is not None else ()
        row = lines[params.position.line] if 0 <= params.position.line < len(lines) else ""
        at = params.position.character
        word = next((found[0] for found in _WORD.finditer(row) if found.start() <= at <= found.end()), "")
        with state.lock:
            analysis = state.analysis_of(server, params.text_document.uri) if word else None
            text = analysis.lines(word) if analysis is not None else ""
        if not text:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, f"```text\n{text}```"))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        analysis = state.analysis_of(server, params.text_document.uri)
        asked = {diagnostic.data for diagnostic in params.context.diagnostics if diagnostic.source == "linemate"}
        made: dict[str, types.CodeAction] = {}
        uris = _Uris(server)
        for mark in analysis.marks() if analysis is not None else ():
            finding = mark.finding
            here = uris.of(mark.path) == params.text_document.uri
            lines = range(params.range.start.line, params.range.end.line + 1)
            if finding.id in made or not (finding.id in asked or (here and mark.range.line in lines)):
                continue
            if (found := edits_of(finding)) is not None and not _unsaved(server, uris, found[1]):
                made[finding.id] = _action(found[0], found[1], params, finding.id, uris)
        return list(made.values())

    _answer(server)


def _answer(server: LanguageServer) -> None:
    """Until the editor goes away or a signal comes."""
    _log_in_lines()
    stopping.at_stop(_end_loop)
    try:
        server.start_io()
    except ValueError as error:  # a length of thousands of digits
        raise LinemateError(f"the editor's message cannot be read: {error}") from None
    if stopping.was_raised():  # pygls takes the loop's SystemExit for an orderly end
        raise stopping.ended_by()


def _unsaved(server: LanguageServer, uris: _Uris, files: Iterable[str]) -> bool:
    """Does the editor have other text of any of the files than was analysed?  Edits would go to the wrong places."""
    for path in files:
        document = server.workspace.text_documents.get(uris.of(path))
        if document is not None and document.source != read_source(path).decode("utf-8-sig", "replace"):
            return True
    return False


def _action(
    text: str,
    files: dict[str, list[tuple[TextRange, TextRange, str]]],
    params: types.CodeActionParams,
    finding_id: str,
    uris: _Uris,
) -> types.CodeAction:
    changes = {
        uris.of(path): [types.TextEdit(_range(start, end), replacement) for start, end, replacement in edits]
        for path, edits in files.items()
    }
    return types.CodeAction(
        title=f"linemate: {visible(text)[:160]}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[d for d in params.context.diagnostics if d.data == finding_id],
        edit=types.WorkspaceEdit(changes=changes),
    )
