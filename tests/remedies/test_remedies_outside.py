"""Which edits change what code that is built apart sees: those that make a variable larger that it may use by name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from elfscan.image import read_images
from reports.wording import terms
from sharing.judge.remedies.editedlayout import Edit, Kind
from sharing.judge.remedies.paths import Paths
from sharing.judge.remedy import Style, remedy
from sharing.model.profile import Actor, Role

MODULE = """
static const char license[] __attribute__((section(".modinfo"), used)) = "license=GPL";
struct lock { int value; };
struct lock exported_locks[32] = {{1}}, shared_locks[32] = {{1}};
static struct lock own_locks[32] = {{1}};
__asm__(".section __ksymtab,\\"a\\"\\n__ksymtab_exported_locks: .long 0, 0, 0\\n.previous");
void lock(int at) { exported_locks[at].value++; shared_locks[at].value++; own_locks[at].value++; }
"""
LIBRARY = """
struct lock { int value; };
struct lock shared_locks[32] = {{1}};
__attribute__((visibility("hidden"))) struct lock hidden_locks[32] = {{1}};
static struct lock own_locks[32] = {{1}};
void lock(int at) { shared_locks[at].value++; hidden_locks[at].value++; own_locks[at].value++; }
"""


@pytest.mark.parametrize(
    ("text", "flags", "outside"),
    [
        # Modules see what is exported to them; the rest of a kernel or module is built in one go.
        (MODULE, "-c", {"exported_locks": True, "shared_locks": False, "own_locks": False}),
        (LIBRARY, "-shared -fPIC", {"shared_locks": True, "hidden_locks": False, "own_locks": False}),
        (LIBRARY + "int main(void) { lock(1); return 0; }", "-no-pie", {"shared_locks": False, "own_locks": False}),
    ],
)
def test_larger_elements_change_the_abi_of_what_others_use(
    text: str, flags: str, outside: dict[str, bool], tmp_path: Path
) -> None:
    (tmp_path / "one.c").write_text(text)
    subprocess.run(["gcc", "-g", "-O1", *flags.split(), "-o", "one", "one.c"], cwd=tmp_path, check=True)
    (image,) = read_images(str(tmp_path / "one"))
    rows = {image.variable_name(row): row for row in range(len(image.variables))}
    for name, breaks in outside.items():
        start, size = (int(image.variables[rows[name]][field]) for field in ("address", "size"))
        span = (start, start + size)
        actor = Actor(name, name, span, (start, start + 4), ((start, start + 4),), Role.LOCK, language="C11", stride=4)
        paths = Paths(image)
        edit = Edit(Kind.ELEMENTS, actor, steps=paths.steps(actor)[:1])
        made = remedy(edit, Style(64, image.kind), paths)
        assert made.breaks_abi == breaks, name
        # Of what has a name for other files a linked file does not tell whether a header has it.
        unless = not breaks and not name.startswith(("own_", "hidden_"))
        assert ("ABI unchanged unless a header declares it" in terms(made)) == unless, name
