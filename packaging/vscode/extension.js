// Runs `linemate lsp` for the C and C++ files of the first folder.  Owns the settings; all else is the server's.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SECTION = "linemate";
let client;

function server(folder) {
  const settings = vscode.workspace.getConfiguration(SECTION, folder.uri);
  const args = ["lsp", "--min-severity", settings.get("minSeverity")];
  for (const [option, setting] of [["-p", "database"], ["--binary", "binary"]]) {
    const value = settings.get(setting);
    if (value) args.push(option, value);
  }
  return { command: settings.get("command"), args, options: { cwd: folder.uri.fsPath } };
}

async function start() {
  const [folder] = vscode.workspace.workspaceFolders || [];
  if (!folder) return;
  client = new LanguageClient(SECTION, SECTION, server(folder), {
    documentSelector: ["c", "cpp"].map((language) => ({ scheme: "file", language })),
    workspaceFolder: folder,
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`linemate does not start: ${error.message || error} (setting linemate.command)`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running && running.isRunning()) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("linemate.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(SECTION) && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
