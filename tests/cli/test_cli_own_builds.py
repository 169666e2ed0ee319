"""What is advised to have names of a file without any: servers are asked for what a distribution made, nothing else."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.cli import main

SLOTS = """
#include <pthread.h>
volatile long pairs[4][2] __attribute__((aligned(64)));
static void *run(void *slot) { for (int i = 0; i < 20000; i++) pairs[(long)slot][0]++; return slot; }
int main(void) {
  pthread_t t[2];
  for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, run, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  return 0;
}
"""


def test_of_ones_own_stripped_build_no_server_is_advised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DEBUGINFOD_URLS", "")
    Path("slots.c").write_text(SLOTS)
    subprocess.run(["gcc", "-O2", "-pthread", "-s", "-o", "slots", "slots.c"], check=True)
    main(["audit", "slots", "--fail-on", "never"])
    told = " ".join(capsys.readouterr().out.split())
    assert "let debug information name bss+0x" in told
    assert "a build with -g, or --debug-file FILE: the file before it was stripped" in told
    assert "--debuginfod" not in told


def test_of_a_distributions_file_one_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The other advice stays where a package brought the file."""
    from linemate import askedinvain, distribution

    monkeypatch.setattr(distribution, "package_of", lambda path, lists=None: "bash")
    called: list[bool] = []
    monkeypatch.setattr(askedinvain, "names_from_files", lambda report, own=False: called.append(own) or report)
    main(["audit", "/bin/true", "--fail-on", "never"])
    capsys.readouterr()
    assert called == []
