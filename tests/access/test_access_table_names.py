"""Variables without a symbol, which a table of the program calls by a name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model.image import Image

SOURCE = """
#include <pthread.h>
#include <string.h>
static long connected, served, failed, busy;
struct row {{ {members} }};
static const struct row rows[] = {{ {rows} }};
static void *one(void *unused) {{ for (;;) __atomic_fetch_add(&connected, 1, 5), __atomic_fetch_add(&busy, 1, 5); }}
static void *other(void *unused) {{ for (;;) __atomic_fetch_add(&served, 1, 5), __atomic_fetch_add(&failed, 1, 5); }}
int main(int argc, char **argv) {{
  pthread_t a, b;
  pthread_create(&a, 0, one, 0), pthread_create(&b, 0, other, 0);
  pthread_join(a, 0), pthread_join(b, 0);
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    if (!strcmp(rows[i].name, argv[1])) return *(int *)rows[i].at;
  return argc;
}}
"""
NEAR = "const char *name; void *at; int kind;"
APART = "const char *name; long kind; void *at;"
FAR = "const char *name; long kind[2]; void *at;"
THREE = '{{"Threads_connected", {0}&connected}}, {{"Requests.served", {0}&served}}, {{"Requests.failed", {0}&failed}}'


def built(folder: Path, members: str, rows: str, *flags: str) -> Image:
    (folder / "t.c").write_text(SOURCE.format(members=members, rows=rows))
    command = ["gcc", "-O2", "-s", "-fPIE", "-pie", "-pthread", *flags, "t.c", "-o", "t"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return next(iter(read_images(str(folder / "t"))))


@pytest.mark.parametrize(("members", "between"), [(NEAR, ""), (APART, "1, ")], ids=["next to it", "the next but one"])
def test_a_table_of_texts_and_addresses_names_variables(tmp_path: Path, members: str, between: str) -> None:
    image = built(tmp_path, members, THREE.format(between))
    assert sorted(image.table_names.values()) == ["Requests.failed", "Requests.served", "Threads_connected"]
    found = judge(image, JudgeOptions(64, 128), default_knowledge()).findings
    told = [e.text for finding in found for e in finding.evidence if "a table of the program calls it" in e.text]
    assert told
    for text in told:
        name = text.partition(":")[0]
        who = next(p for finding in found for p in finding.participants if p.full_name == name)
        assert text.endswith(f'calls it "{image.table_names[int(who.address, 16)]}"')


@pytest.mark.parametrize(
    ("members", "rows"),
    [
        (NEAR, '{"Threads_connected", &connected}, {"Requests_served", &served}'),
        (FAR, THREE.format("{0}, ")),
        (NEAR, '{"two words", &connected}, {"50 %", &served}, {"", &failed}'),
        (NEAR, '{"Threads", &connected}, {"Users", &connected}, {"Clients", &connected}'),
        ("void *at; const char *name; int kind;", '{&connected, "Threads"}, {&served, "Served"}, {&failed, "Failed"}'),
    ],
    ids=["two rows are no table", "too far apart", "texts that are no names", "several names", "address first"],
)
def test_what_is_no_such_table_names_nothing(tmp_path: Path, members: str, rows: str) -> None:
    assert built(tmp_path, members, rows).table_names == {}


def test_what_has_a_symbol_is_called_by_it(tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(SOURCE.format(members=NEAR, rows=THREE.format("")))
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "t.c", "-o", "t"], cwd=tmp_path, check=True, capture_output=True)
    image = next(iter(read_images(str(tmp_path / "t"))))
    found = judge(image, JudgeOptions(64, 128), default_knowledge()).findings
    assert found
    assert not any("calls it" in e.text for finding in found for e in finding.evidence)
