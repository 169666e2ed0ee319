"""What is counted behind a message of an error, where the message comes back."""

from __future__ import annotations

import pytest

from sharing.basics.numbers import SELDOM
from tests.sharing.conftest import Compile
from tests.sharing.test_sharing_rare import COMPILERS, rarities

COUNTED_BEHIND = """
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>
long noted, warned, told, ended, served;
__attribute__((noinline)) static void complain(const char *why) { syslog(LOG_ERR, "%s", why); }
int main(int n, char **v) {
  char b[64];
  while (read(n, b, sizeof b) > 0) {
    if (b[0] == 1) { syslog(LOG_ERR, "one"); noted++; continue; }
    if (b[0] == 2) { warnx("two"); warned ^= b[1]; continue; }
    if (b[0] == 3) { complain(v[0]); told |= b[2]; continue; }
    if (b[0] == 5) { complain(v[1]); ended = b[3]; exit(5); }
    if (b[0] == 6) { puts(b); served -= b[4]; }
  }
  return 0;
}
"""


@pytest.mark.parametrize(("tool", "level"), COMPILERS)
def test_what_is_counted_behind_a_message_is_as_rare_as_in_front_of_it(
    compiled: Compile, tool: str, level: str
) -> None:
    program = compiled(tool, "c", COUNTED_BEHIND, level)
    found = rarities(program, "noted", "warned", "told", "ended", "served")
    assert min(found[name] for name in ("noted", "warned", "told", "ended")) >= SELDOM
    assert found["served"] < SELDOM
    assert max(found.values()) < 255
