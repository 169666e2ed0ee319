"""Where objects begin is known by what another unit's function promises that allocates them."""

from __future__ import annotations

from pathlib import Path

import pytest

from elfscan.tools import tool_path
from linemate.options import CheckOptions, FactsRequest
from sharing.model.errors import LinemateError

PROGRAM = Path(__file__).parent / "programs" / "ends_of_pages.c"
OTHER = """\
#include <stdlib.h>
void *line_alloc(size_t size) {{
  void *p = 0;
  {made}
  return p;
}}
"""


def pairs(folder: Path, made: str) -> set[str]:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    text = PROGRAM.read_text()
    declared = text.replace("static struct ends *ends;", "void *line_alloc(unsigned long);\nstatic struct ends *ends;")
    (folder / "main.c").write_text(declared.replace("memory(sizeof *ends)", "line_alloc(sizeof *ends)"))
    (folder / "memory.c").write_text(OTHER.format(made=made))
    request = FactsRequest(sources=(str(folder / "main.c"), str(folder / "memory.c")), flags=("-O2",))
    return {
        finding.rule for finding in check_program(read_program(CheckOptions(facts=request)), CheckOptions()).findings
    }


def test_of_an_allocator_of_lines(tmp_path: Path) -> None:
    assert pairs(tmp_path, "if (posix_memalign(&p, 64, size)) return 0;") == set()


@pytest.mark.parametrize(
    "made",
    [
        "p = malloc(size);",
        "if (posix_memalign(&p, 32, size)) return 0;",
        "if (size > 4096) p = malloc(size); else if (posix_memalign(&p, 64, size)) return 0;",
    ],
)
def test_of_one_that_promises_less(tmp_path: Path, made: str) -> None:
    assert pairs(tmp_path, made) == {"independent-writers"}


TABLE = """\
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
struct zone {{ void *addr; size_t size; }};
struct queue {{
  _Alignas(64) atomic_long head;
  _Alignas(64) atomic_long tail;
}};
void *{declared};
const struct zone *zone_reserve(const char *name, size_t size, unsigned flags);
const struct zone *zone_find(const char *name);
static struct queue *queue;
static void *work(void *unused) {{
  for (;;) {{
    atomic_fetch_add(&queue->head, 1);
    atomic_fetch_add(&queue->tail, 1);
  }}
}}
int main(int argc, char **argv) {{
  pthread_t threads[4];
  (void)argv;
  {made}
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
  return argc;
}}
"""


@pytest.mark.parametrize(
    ("declared", "made", "found"),
    [
        pytest.param(
            "pool_get(struct zone *, size_t)", "queue = pool_get(0, sizeof *queue);", {"medium"}, id="by its size"
        ),
        pytest.param(
            "pool_get(struct zone *, size_t)",
            "queue = (struct queue *)(((uintptr_t)pool_get(0, sizeof *queue + 63) + 63) & ~(uintptr_t)63);",
            set(),
            id="rounded up by hand",
        ),
        pytest.param(
            "pool_get(struct zone *, size_t, size_t align)",
            "queue = pool_get(0, sizeof *queue, _Alignof(struct queue));",
            set(),
            id="told the alignment",
        ),
        pytest.param(
            "table_at(struct zone *, size_t, int index)",
            "queue = table_at(0, sizeof *queue, argc);",
            set(),
            id="one of those that there are",
        ),
        pytest.param(
            "unused(void)",
            'const struct zone *zone = zone_reserve("queue", sizeof *queue, 0); queue = zone->addr;',
            {"medium"},
            id="in what tells of it",
        ),
        pytest.param(
            "unused(void)",
            'const struct zone *zone = zone_find("queue"); queue = zone->addr;',
            set(),
            id="found by name",
        ),
    ],
)
def test_of_functions_that_are_not_known_to_allocate(tmp_path: Path, declared: str, made: str, found: set[str]) -> None:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    (tmp_path / "queue.c").write_text(TABLE.format(declared=declared, made=made))
    options = CheckOptions(facts=FactsRequest(sources=(str(tmp_path / "queue.c"),), flags=("-O2",)))
    findings = check_program(read_program(options), options).findings
    assert {f.severity.value for f in findings if f.rule == "aligned-type-from-malloc"} == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return take(p, size);", {"medium"}),
        ("return take_aligned(p, size, 64);", set()),
        ("return mem_of(p, size);", set()),
    ],
    ids=["of what is not seen", "told the alignment", "told by what it calls"],
)
def test_of_one_whose_definition_is_seen(tmp_path: Path, body: str, found: set[str]) -> None:
    try:
        tool_path("linemate-facts")
    except LinemateError as error:
        pytest.skip(str(error))
    from linemate.pipeline import check_program
    from linemate.source import read_program

    other = (
        "#include <stddef.h>\nstruct zone;\nvoid *take(struct zone *, size_t);\n"
        "void *take_aligned(struct zone *, size_t, size_t);\n"
        "static __attribute__((noinline)) void *mem_of(struct zone *p, size_t size) {\n"
        "  return size > 4096 ? take(p, size) : take_aligned(p, size, 64);\n}\n"
        f"void *mem_get(struct zone *p, size_t size) {{ {body} }}\n"
    )
    made = TABLE.format(declared="mem_get(struct zone *, size_t)", made="queue = mem_get(0, sizeof *queue);")
    (tmp_path / "queue.c").write_text(made)
    (tmp_path / "memory.c").write_text(other)
    files = (str(tmp_path / "queue.c"), str(tmp_path / "memory.c"))
    options = CheckOptions(facts=FactsRequest(sources=files, flags=("-O2",)))
    findings = check_program(read_program(options), options).findings
    assert {f.severity.value for f in findings if f.rule == "aligned-type-from-malloc"} == found
