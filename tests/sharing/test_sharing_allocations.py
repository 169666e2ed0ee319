"""What calls ask an allocator for, through functions of the program that return what one made."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.model import Image
from sharing.static import allocations, numbers
from tests.sharing.conftest import Compile

WRAPPERS = """
#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) static void *inner(size_t n) { return malloc(n); }
__attribute__((noinline)) static void *outer_malloc(int kind, size_t n) { return kind ? inner(n) : 0; }
int main(int n, char **v) {
  kept = outer_malloc(1, 48);
  kept = outer_malloc(n, n);
  return 0;
}
"""
LAYERS, WIDE = 5, 12  # 12 to the power of 5 ways from the first to the last


def layers() -> str:
    """Each function of a layer calls all of the next one: nothing that follows each way comes to an end."""
    out = ["#include <stdlib.h>", "void *volatile kept; extern int volatile some;"]
    for at in range(WIDE):
        out.append(
            f"__attribute__((noinline)) static void *f{LAYERS}_{at}(void) {{ some += {at}; return malloc({at + 8}); }}"
        )
    for layer in reversed(range(LAYERS)):
        for at in range(WIDE):
            calls = " ".join(f"if (some == {to}) kept = f{layer + 1}_{to}();" for to in range(WIDE))
            out.append(f"__attribute__((noinline)) static void *f{layer}_{at}_malloc(void) {{ {calls} return kept; }}")
            out.append(f"#define f{layer}_{at} f{layer}_{at}_malloc")
    return "\n".join([*out, "int volatile some; int main(void) { kept = f0_0(); return 0; }"])


def image_of(path: Path) -> Image:
    (image,) = read_images(str(path))
    return image


def test_a_wrapper_asks_for_what_it_is_handed(compiled: Compile) -> None:
    image = image_of(compiled("gcc", "c", WRAPPERS, "-O1", "-g"))
    (main,) = [row for row, f in enumerate(image.functions) if image.names[f["name"]] == "main"]
    calls = image.calls["ip"][image.calls["function"] == main].tolist()
    assert [allocations.allocation(image, ip)[0] for ip in calls] == [48, 0]


@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_each_function_is_followed_once_for_all_that_it_is_handed(
    compiled: Compile, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = image_of(compiled("gcc", "c", layers(), level, "-g"))
    followed: list[int] = []
    within = allocations._Asked._within

    def counted(
        self: allocations._Asked, image: Image, wrapper: int, given: dict[int, int], rounds: int
    ) -> tuple[int, int] | None:
        followed.append(wrapper)
        return within(self, image, wrapper, given, rounds)

    monkeypatch.setattr(allocations._Asked, "_within", counted)
    (main,) = [row for row, f in enumerate(image.functions) if image.names[f["name"]] == "main"]
    (ip,) = image.calls["ip"][image.calls["function"] == main].tolist()
    assert allocations.allocation(image, ip)[0] == 0, "several sizes"
    assert len(followed) <= WIDE * LAYERS * numbers.LOCK_WRAPPERS


def test_what_is_known_of_an_image_goes_with_it(compiled: Compile) -> None:
    image = image_of(compiled("gcc", "c", WRAPPERS, "-O1", "-g"))
    calls = weakref.ref(image.calls)
    allocations.allocation(image, int(image.calls["ip"][0]))
    del image
    gc.collect()
    assert calls() is None
