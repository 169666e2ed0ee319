//===- Confine.cpp - Both layers, and an end in time ----------------------===//
//
// Owns what does not depend on the kernel's confinement: the end with the
// parent and the end after a time.
//
//===----------------------------------------------------------------------===//

#include "Confine.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace linemate {

namespace {

constexpr unsigned ToolSeconds = 1800; // where nobody says how long
constexpr unsigned MaxSeconds = 7 * 86'400;

/// A positive number in the environment, 0 for none.
unsigned long environmentNumber(const char *Name) {
  const char *Text = std::getenv(Name);
  if (!Text)
    return 0;
  char *End = nullptr;
  unsigned long Value = std::strtoul(Text, &End, 10);
  return End != Text && !*End ? Value : 0;
}

unsigned processors() {
  cpu_set_t Set;
  return ::sched_getaffinity(0, sizeof Set, &Set)
             ? 64
             : unsigned(std::max(CPU_COUNT(&Set), 1));
}

} // namespace

std::string Confinement::text() const {
  if (isNone())
    return "none: the kernel offers neither Landlock nor seccomp here";
  std::string Out;
  if (Landlock)
    Out = "Landlock (version " + std::to_string(Landlock) + ")";
  if (Filter)
    Out += std::string(Out.empty() ? "" : " and ") + "a system call filter";
  if (!Landlock)
    Out += ", no Landlock";
  if (!Filter)
    Out += ", no system call filter";
  return Out;
}

void dieWithParent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  unsigned long Parent = environmentNumber("LINEMATE_PARENT_PID");
  if (Parent && pid_t(Parent) != ::getppid())
    ::_exit(1);
}

void dieWithParent(pid_t Parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != Parent)
    ::_exit(1);
}

void limitLifetime(unsigned DefaultSeconds) {
  unsigned long Asked = environmentNumber("LINEMATE_LIMIT_S");
  auto Seconds = unsigned(
      std::min<unsigned long>(Asked ? Asked : DefaultSeconds, MaxSeconds));
  ::alarm(Seconds);
  rlimit Limit{};
  if (::getrlimit(RLIMIT_CPU, &Limit))
    return;
  Limit.rlim_max =
      std::min<rlim_t>(Limit.rlim_max, rlim_t(Seconds) * processors());
  Limit.rlim_cur = std::min(Limit.rlim_cur, Limit.rlim_max);
  ::setrlimit(RLIMIT_CPU, &Limit);
}

Confinement confine(const Allowed &Rights) {
  Confinement Out;
  Out.Landlock = restrictFiles(Rights.WritableFolder);
  Out.Filter = filterCalls(Rights);
  return Out;
}

Confinement confineTool(const char *Name) {
  dieWithParent();
  limitLifetime(ToolSeconds);
  Confinement Now = confine({});
  if (Now.isNone())
    std::fprintf(stderr, "%s: note: confinement: %s\n", Name,
                 Now.text().c_str());
  return Now;
}

} // namespace linemate
