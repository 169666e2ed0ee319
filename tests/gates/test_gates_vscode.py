"""The extension for VS Code: its settings are options of ``linemate lsp``, and it starts that with them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from linemate.commands import lsp
from linemate.version import __version__

# The option that a setting becomes; the command itself is none.
OPTIONS = {"linemate.database": "-p", "linemate.binary": "--binary", "linemate.minSeverity": "--min-severity"}
# Modules of the editor, as far as the extension uses them: the settings come in, the client that it makes goes out.
VSCODE = """\
const settings = JSON.parse(process.env.SETTINGS);
const folder = { uri: { fsPath: "/work folder" } };
exports.workspace = {
  workspaceFolders: process.env.FOLDERS === "0" ? undefined : [folder],
  getConfiguration: (section) => ({ get: (name) => settings[`${section}.${name}`] }),
  onDidChangeConfiguration: (heard) => { exports.changed = heard; },
};
exports.commands = { registerCommand: (name, run) => { exports[name] = run; } };
exports.window = { showErrorMessage: (text) => console.log(JSON.stringify({ said: text })) };
"""
CLIENT = """\
exports.LanguageClient = class {
  constructor(id, name, server, options) { this.made = { server, languages: options.documentSelector }; }
  async start() {
    if (this.made.server.command === "absent") throw new Error("spawn absent ENOENT");
    console.log(JSON.stringify(this.made));
    this.running = true;
  }
  isRunning() { return this.running; }
  async stop() { console.log(JSON.stringify({ stopped: true })); this.running = false; }
};
"""
SESSION = """\
const vscode = require("vscode");
const extension = require("./extension.js");
extension.activate({ subscriptions: [] })
  .then(() => vscode.changed({ affectsConfiguration: (name) => name === "linemate" }))
  .then(() => extension.deactivate());
"""


@pytest.fixture(scope="module")
def extension(repository: Path) -> Path:
    return repository / "packaging/vscode"


@pytest.fixture(scope="module")
def package(extension: Path) -> Any:
    return json.loads((extension / "package.json").read_text())


def properties(package: Any) -> dict[str, Any]:
    return dict(package["contributes"]["configuration"]["properties"])


def options() -> dict[str, click.Option]:
    return {name: option for option in lsp.command.params if isinstance(option, click.Option) for name in option.opts}


def test_settings_are_options_of_the_command(package: Any) -> None:
    assert set(properties(package)) == {*OPTIONS, "linemate.command"}
    unset = lsp.command.make_context("lsp", []).params
    for setting, name in OPTIONS.items():
        option = options()[name]
        assert f"({name})" in properties(package)[setting]["description"]
        assert properties(package)[setting]["default"] == (unset[str(option.name)] or "")
        if isinstance(option.type, click.Choice):
            assert properties(package)[setting]["enum"] == list(option.type.choices)


def test_no_workspace_names_the_program_that_is_run(package: Any) -> None:
    assert properties(package)["linemate.command"]["scope"] == "machine"
    assert package["capabilities"]["untrustedWorkspaces"]["supported"] is False


def test_what_is_packed_is_there_and_of_this_version(package: Any, extension: Path) -> None:
    lock = json.loads((extension / "package-lock.json").read_text())
    assert package["version"] == lock["version"] == __version__
    assert (extension / package["main"]).is_file()
    for name, version in package["dependencies"].items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    assert not [row for row in lock["packages"].values() if "resolved" in row]  # taken from whatever registry there is
    known = set(re.findall(r"`(linemate\.\w+)`", (extension / "README.md").read_text()))
    assert known == set(properties(package))


@pytest.fixture
def editor(extension: Path, tmp_path: Path) -> Any:
    """``editor(settings)``: what a session says: clients made, stopped, messages."""
    if shutil.which("node") is None:
        pytest.skip("no node")
    modules = {"vscode/index.js": VSCODE, "vscode-languageclient/node.js": CLIENT}
    for name, text in modules.items():
        file = tmp_path / "node_modules" / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
    shutil.copy(extension / "extension.js", tmp_path)

    def session(settings: dict[str, str], folders: int = 1) -> list[Any]:
        done = subprocess.run(
            ["node", "-e", SESSION],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "SETTINGS": json.dumps(settings), "FOLDERS": str(folders)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return session


def test_the_server_is_started_with_the_settings_and_again_when_they_change(editor: Any, package: Any) -> None:
    defaults = {name: row["default"] for name, row in properties(package).items()}
    started, stopped, again, ended = editor({**defaults, "linemate.binary": "made/server"})
    assert started["server"] == {
        "command": "linemate",
        "args": ["lsp", "--min-severity", "low", "--binary", "made/server"],
        "options": {"cwd": "/work folder"},
    }
    assert {row["language"] for row in started["languages"]} == {"c", "cpp"}
    assert [f"onLanguage:{row['language']}" for row in started["languages"]] == package["activationEvents"]
    assert (stopped, again, ended) == ({"stopped": True}, started, {"stopped": True})
    lsp.command.make_context("lsp", started["server"]["args"][1:])  # raises on what it does not take


def test_a_command_that_is_not_there_is_said(editor: Any) -> None:
    said = editor({"linemate.command": "absent", "linemate.minSeverity": "low"})
    assert [sorted(row) for row in said] == [["said"], ["said"]]
    assert "linemate.command" in said[0]["said"]


def test_a_window_without_a_folder_starts_nothing(editor: Any) -> None:
    assert editor({}, folders=0) == []
