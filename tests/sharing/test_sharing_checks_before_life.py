"""What a thread does in its loop is as often, whatever checks may end the thread before it comes there."""

from __future__ import annotations

import pytest

from linemate import api
from sharing.model.finding import Severity
from sharing.static import numbers
from tests.sharing.conftest import Compile

SOURCE = """
#include <pthread.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/socket.h>
struct options { int idle, max; };
static struct { struct options *config; unsigned long relayed; } state __attribute__((aligned(64)));
struct peer { int fd, other; };
__attribute__((noinline)) static int denied(int fd, int rule) {
  int found = 0;
  socklen_t size = sizeof found;
  return getsockopt(fd, SOL_SOCKET, rule, &found, &size) ? 0 : found & rule;
}
__attribute__((noinline)) static void relay(struct peer *peer) {
  char buffer[2048];
  for (;;) {
    struct pollfd one = {peer->fd, POLLIN, 0};
    if (poll(&one, 1, state.config->idle) <= 0) break;
    ssize_t n = read(peer->fd, buffer, sizeof buffer);
    if (n <= 0) break;
    __atomic_fetch_add(&state.relayed, n, __ATOMIC_RELAXED);
    if (write(peer->other, buffer, n) < 0) break;
  }
}
static void *serve(void *given) {
  struct peer *peer = given;
  CHECKS
  relay(peer);
done:
  free(peer);
  return 0;
}
int main(int argc, char **argv) {
  state.config = calloc(1, sizeof *state.config);
  state.config->idle = argc * 1000;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  listen(listener, 10);
  for (;;) {
    int fd = accept(listener, 0, 0);
    if (fd < 0) continue;
    struct peer *peer = calloc(1, sizeof *peer);
    peer->fd = peer->other = fd;
    pthread_t thread;
    pthread_create(&thread, 0, serve, peer);
    pthread_detach(thread);
  }
}
"""


def said(compiled: Compile, tool: str, level: str, checks: int) -> list[str]:
    """How severe what is said of the counter of the loop and the options that it reads."""
    lines = " ".join(f"if (denied(peer->fd, {at})) goto done;" for at in range(1, checks + 1))
    program = compiled(tool, "c", SOURCE.replace("CHECKS", lines or "if (!peer) goto done;"), "-g", level)
    found = api.audit(str(program), min_severity=Severity.NOTE).findings
    return [
        f.severity.value for f in found if {"state.relayed", "state.config"} <= {p.full_name for p in f.participants}
    ]


@pytest.mark.parametrize(("tool", "level"), [("gcc", "-O2"), ("clang-19", "-O2"), ("gcc", "-O0")])
@pytest.mark.parametrize("checks", [0, 2, 3])
def test_checks_that_end_a_thread_take_nothing_from_its_loop(
    compiled: Compile, tool: str, level: str, checks: int
) -> None:
    assert said(compiled, tool, level, checks) == said(compiled, tool, level, 0) != []


def test_how_many_is_a_number(compiled: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "LIFE_BEGINS", numbers.EACH_TIME)
    assert said(compiled, "gcc", "-O2", 3) == []
