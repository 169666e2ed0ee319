"""``linemate lsp`` with a real client on the other end of its pipes: what an editor shows, and what it applies."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from linemate.commands import lsp
from linemate.editor.analysis import TextRange, _at, _word
from sharing.model.errors import LinemateError
from tests.gates.conftest import Forge

RULE = "hot-lock-shares-line"
LONG_S = 60


class Editor(LanguageClient):
    """Keeps what the server publishes."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.said: asyncio.Queue[str] = asyncio.Queue()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def keep(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(params)

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def show(params: types.ShowMessageParams) -> None:
            self.said.put_nowait(params.message)

    async def open(self, path: Path) -> None:
        document = types.TextDocumentItem(path.as_uri(), "c", 1, path.read_text())
        self.text_document_did_open(types.DidOpenTextDocumentParams(document))

    async def diagnostics(self) -> types.PublishDiagnosticsParams:
        return await asyncio.wait_for(self.published.get(), LONG_S)


def edit(
    forge: Forge, repository: Path, talk: Callable[[Editor], Awaitable[None]], *options: str, cwd: Path | None = None
) -> None:
    """A session of an editor in the forge's clone, else in ``cwd``."""

    async def session() -> None:
        editor = Editor()
        environment = {**forge.environment, "PYTHONPATH": str(repository)}
        command = (sys.executable, "-m", "linemate", "lsp", *options)
        await editor.start_io(*command, cwd=str(cwd or forge.top), env=environment)
        await editor.initialize_async(
            types.InitializeParams(types.ClientCapabilities(), root_uri=forge.top.as_uri(), process_id=None)
        )
        editor.initialized(types.InitializedParams())
        try:
            await talk(editor)
        finally:
            await editor.shutdown_async(None)
            editor.exit(None)
            assert await asyncio.wait_for(editor._server.wait(), LONG_S) == 0
            await editor.stop()

    asyncio.run(session())


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """As an editor applies edits: all are of the text before."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:at])) for at in range(len(lines) + 1)]
    spans = [
        (starts[e.range.start.line] + e.range.start.character, starts[e.range.end.line] + e.range.end.character, e)
        for e in edits
    ]
    for start, end, one in sorted(spans, key=lambda span: -span[0]):
        text = text[:start] + one.new_text + text[end:]
    return text


def test_a_session(forge: Forge, repository: Path) -> None:
    """Opened: the lock is marked; hovered: its line; the action applied and saved: the mark is gone."""
    forge.ok("git", "checkout", "--quiet", "--force", "main")
    cache = forge.top / "src/cache.c"
    before = cache.read_text()
    row = next(at for at, line in enumerate(before.splitlines()) if line.startswith("pthread_mutex_t LOCK_open"))

    async def talk(editor: Editor) -> None:
        await editor.open(cache)
        shown = await editor.diagnostics()
        assert shown.uri == cache.as_uri()
        found = next(d for d in shown.diagnostics if d.code == RULE)
        assert found.source == "linemate"
        assert found.severity == types.DiagnosticSeverity.Error
        name = types.Range(types.Position(row, 16), types.Position(row, 25))
        assert name in [d.range for d in shown.diagnostics]

        document = types.TextDocumentIdentifier(cache.as_uri())
        hover = await editor.text_document_hover_async(types.HoverParams(document, types.Position(row, 18)))
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert "LOCK_open" in hover.contents.value
        assert "unused_tables" in hover.contents.value
        nothing = await editor.text_document_hover_async(types.HoverParams(document, types.Position(0, 0)))
        assert nothing is None
        closed = types.TextDocumentIdentifier("file:///dev/zero")
        nothing = await editor.text_document_hover_async(types.HoverParams(closed, types.Position(0, 0)))
        assert nothing is None

        context = types.CodeActionContext([found])
        actions = await editor.text_document_code_action_async(types.CodeActionParams(document, found.range, context))
        assert actions
        action = actions[0]
        assert isinstance(action, types.CodeAction)
        assert action.edit is not None
        assert action.edit.changes is not None
        (uri,) = action.edit.changes
        assert uri == cache.as_uri()
        cache.write_text(applied(before, list(action.edit.changes[uri])))
        editor.text_document_did_save(types.DidSaveTextDocumentParams(document))
        assert [d.code for d in (await editor.diagnostics()).diagnostics if d.code == RULE] == []

    try:
        edit(forge, repository, talk, "-p", "build")
        forge.ok("make", "-s")  # what was applied compiles
    finally:
        cache.write_text(before)


PAIR = """#include <pthread.h>
pthread_mutex_t {0}_lock;
long {0}_head;
static void *run(void *p) {{
  for (;;) {{ pthread_mutex_lock(&{0}_lock); {0}_head++; pthread_mutex_unlock(&{0}_lock); }}
  return p;
}}
static void *look(void *p) {{
  while ({0}_head >= 0) __sync_fetch_and_add(&{0}_head, 2);
  return p;
}}
int main(void) {{
  pthread_t a, b;
  pthread_create(&a, 0, run, 0); pthread_create(&b, 0, look, 0);
  pthread_join(a, 0); pthread_join(b, 0);
  return 0;
}}
"""


def project(folder: Path, name: str) -> Path:
    """A program of one file with a busy lock beside what another thread counts in; the file."""
    folder.mkdir(parents=True)
    source = folder / f"{name}.c"
    source.write_text(PAIR.format(name))
    unit = {"directory": str(folder), "file": source.name, "arguments": ["cc", "-O2", "-c", source.name]}
    (folder / "compile_commands.json").write_text(json.dumps([unit]))
    return source


def test_each_folder_of_a_workspace_is_a_program_of_its_own(forge: Forge, repository: Path, tmp_path: Path) -> None:
    """Started where there is no compile database at all, as by an editor that was started in somebody's home."""
    sources = [project(tmp_path / name, name) for name in ("one", "two")]
    alone = tmp_path / "alone.c"
    alone.write_text("long nobody;\n")

    async def talk(editor: Editor) -> None:
        await editor.open(alone)
        await editor.open(alone)
        for source in sources:
            await editor.open(source)
            shown = await editor.diagnostics()
            assert shown.uri == source.as_uri()
            assert shown.diagnostics
            assert all(f"{source.stem}_" in diagnostic.message for diagnostic in shown.diagnostics)
        document = types.TextDocumentIdentifier(sources[0].as_uri())
        editor.text_document_did_save(types.DidSaveTextDocumentParams(document))
        assert (await editor.diagnostics()).uri == sources[0].as_uri()  # the other program's marks stay
        assert editor.published.empty()
        said = [editor.said.get_nowait() for _ in range(editor.said.qsize())]
        assert [text.partition(" here")[0] for text in said] == ["linemate: no compile_commands.json"]

    edit(forge, repository, talk, cwd=tmp_path)


def test_text_that_was_not_saved_is_not_edited(forge: Forge, repository: Path, tmp_path: Path) -> None:
    """Places of an edit are those of the file as it was analysed."""
    source = project(tmp_path / "one", "one")

    async def talk(editor: Editor) -> None:
        await editor.open(source)
        shown = await editor.diagnostics()
        document = types.TextDocumentIdentifier(source.as_uri())

        async def actions() -> int:
            context = types.CodeActionContext(list(shown.diagnostics))
            asked = types.CodeActionParams(document, shown.diagnostics[0].range, context)
            return len(await editor.text_document_code_action_async(asked) or ())

        assert await actions() > 0
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        changed = types.TextDocumentContentChangePartial(text="// not saved\n", range=start)
        version = types.VersionedTextDocumentIdentifier(uri=source.as_uri(), version=2)
        editor.text_document_did_change(types.DidChangeTextDocumentParams(version, [changed]))
        assert await actions() == 0
        source.write_text("// not saved\n" + source.read_text())
        editor.text_document_did_save(types.DidSaveTextDocumentParams(document))
        shown = await editor.diagnostics()
        assert await actions() > 0

    edit(forge, repository, talk, cwd=tmp_path)


def test_a_file_is_called_what_the_editor_calls_it(forge: Forge, repository: Path, tmp_path: Path) -> None:
    """Opened through a link, where the compile database has the folder's own path."""
    source = project(tmp_path / "real", "one")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    opened = tmp_path / "link" / source.name

    async def talk(editor: Editor) -> None:
        await editor.open(opened)
        shown = await editor.diagnostics()
        assert shown.uri == opened.as_uri()
        document = types.TextDocumentIdentifier(opened.as_uri())
        context = types.CodeActionContext(list(shown.diagnostics))
        asked = types.CodeActionParams(document, shown.diagnostics[0].range, context)
        (action, *_) = await editor.text_document_code_action_async(asked) or ()
        assert isinstance(action, types.CodeAction)
        assert action.edit is not None
        assert list(action.edit.changes or ()) == [opened.as_uri()]

    edit(forge, repository, talk, cwd=tmp_path)


def test_without_the_library_the_command_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    monkeypatch.delitem(sys.modules, "linemate.editor.server", raising=False)
    with pytest.raises(LinemateError, match=r"^lsp needs .*-m pip install -r .*/requirements-lsp\.txt$"):
        lsp.command.callback(database=None, binary=None, min_severity="low", config=None)  # type: ignore[misc]


def test_columns_are_of_utf_16() -> None:
    data = "int a;\n/* 𝛼ß */ long name_1 = 2;\n".encode()
    rows = data.splitlines()
    column = rows[1].index(b"name_1") + 1
    assert _word(rows, 2, column) == TextRange(1, 15, 21)
    assert _word(rows, 2, 0) == TextRange(1, 0, 26)
    assert _word(rows, 9, 4) == TextRange(8, 0, 0)
    assert _at(data, data.index(b"name_1")) == TextRange(1, 15, 15)


def test_a_folder_without_a_database_is_said_at_once(forge: Forge, tmp_path: Path) -> None:
    shutil.copy(forge.top / "src/cache.c", tmp_path)
    done = forge.run("linemate", "lsp", "-p", str(tmp_path))
    assert done.returncode == 2
    assert str(tmp_path) in done.stderr


def test_a_signal_ends_it_while_the_editor_says_nothing(forge: Forge, repository: Path) -> None:
    environment = {**forge.environment, "PYTHONPATH": str(repository)}
    server = subprocess.Popen(
        [sys.executable, "-m", "linemate", "lsp", "-p", "build"],
        cwd=forge.top,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":null}}'
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()
    assert server.stdout.read(1) == b"C"  # it has answered, and listens again
    server.send_signal(signal.SIGTERM)
    try:
        assert server.wait(timeout=LONG_S) == 128 + signal.SIGTERM
    finally:
        server.kill()
        server.communicate()


SIGNAL_IN_A_CALLBACK = """
import asyncio, os, signal, sys
from linemate.editor.server import serve
from sharing.model.process import stopping

class Programs:
    def of(self, path):
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)

stopping.install()
try:
    serve(Programs())
except stopping.Stopped as stop:
    stopping.begin_ending()
    os._exit(stop.exit_code)
os._exit(0)
"""


def test_a_signal_within_a_callback_of_the_event_loop_ends_it_too(repository: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", SIGNAL_IN_A_CALLBACK],
        cwd=repository,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.stdin is not None
    start = {"line": 0, "character": 0}
    asked = {
        "textDocument": {"uri": "file:///a.c"},
        "range": {"start": start, "end": start},
        "context": {"diagnostics": []},
    }
    initialize = {"capabilities": {}, "processId": None}
    for number, (method, params) in enumerate((("initialize", initialize), ("textDocument/codeAction", asked)), 1):
        said = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(message(json.dumps(said).encode()))
    server.stdin.flush()
    try:
        assert server.wait(timeout=LONG_S) == 128 + signal.SIGTERM
    finally:
        server.kill()
        server.communicate()


def message(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


@pytest.mark.parametrize(
    ("said", "code", "why"),
    [
        (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 2, "cannot be read"),
        (message(b"[" * 100_000), 0, "Unable to handle message"),
        (message(b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b"}"), 0, "Unable to handle message"),
        (message(b"\xff\xfe"), 0, "Unable to handle message"),
    ],
    ids=["a length of 5000 digits", "deep", "a number of 5000 digits", "no UTF-8"],
)
def test_a_message_that_cannot_be_read_is_a_line(
    said: bytes, code: int, why: str, repository: Path, tmp_path: Path
) -> None:
    unit = {"directory": str(tmp_path), "file": "a.c", "arguments": ["cc", "-c", "a.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([unit]))
    command = (sys.executable, "-P", "-m", "linemate", "lsp")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(repository)}
    done = subprocess.run(
        command, input=said, capture_output=True, timeout=LONG_S, cwd=tmp_path, env=environment, check=False
    )
    text = done.stderr.decode()
    assert done.returncode == code, text
    assert why in text
    assert "Traceback" not in text
    assert all(len(line) < 600 for line in text.splitlines())
