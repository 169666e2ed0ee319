//===- Main.cpp - A command that ends with the process that wants it ------===//
//
// Owns what the kernel is told about a child: that it gets SIGTERM when the
// one who asked for it dies (`alone`), or that all of its descendants, those
// in other sessions included, are ended with it (`tree`).
//
//   linemate-spawn alone|tree PARENT FILE ARGV0 [ARGUMENT]...
//
// Exit code: the command's; 126 or 127 where it cannot be executed.  A command
// that a signal ends makes this process end by the same.
//
//===----------------------------------------------------------------------===//

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <set>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int CannotExecute = 126;
constexpr int NotFound = 127;
constexpr int UsageError = 2;
constexpr long GraceMs =
    1500; // between SIGTERM and SIGKILL; its owner waits longer
constexpr long GiveUpMs = 8000; // what survives SIGKILL is not ours to end
constexpr long LookMs = 5;

[[noreturn]] void execute(char **Arguments) {
  execv(Arguments[0], Arguments + 1);
  int Why = errno;
  std::fprintf(stderr, "%s: %s\n", Arguments[0], std::strerror(Why));
  _exit(Why == ENOENT ? NotFound : CannotExecute);
}

/// The parent of a process, 0 for one that is gone or a zombie.
pid_t parentOf(const char *Pid) {
  char Path[280], Text[512];
  std::snprintf(Path, sizeof Path, "/proc/%s/stat", Pid);
  int Descriptor = open(Path, O_RDONLY | O_CLOEXEC);
  if (Descriptor < 0)
    return 0;
  ssize_t Size = read(Descriptor, Text, sizeof Text - 1);
  close(Descriptor);
  if (Size <= 0)
    return 0;
  Text[Size] = '\0';
  // The command's name may hold anything, a parenthesis as well.
  const char *End = std::strrchr(Text, ')');
  char State = 0;
  int Parent = 0;
  if (!End || std::sscanf(End + 1, " %c %d", &State, &Parent) != 2)
    return 0;
  return State == 'Z' || State == 'X' ? 0 : Parent;
}

/// All living processes below this one.  Orphans come to it (subreaper), so
/// that none can leave.
std::set<pid_t> descendants() {
  std::multimap<pid_t, pid_t> Children;
  if (DIR *Folder = opendir("/proc")) {
    while (const dirent *Entry = readdir(Folder))
      if (Entry->d_name[0] >= '1' && Entry->d_name[0] <= '9')
        if (pid_t Parent = parentOf(Entry->d_name))
          Children.emplace(Parent, std::atoi(Entry->d_name));
    closedir(Folder);
  }
  std::set<pid_t> Out, Next = {getpid()};
  while (!Next.empty()) {
    pid_t At = *Next.begin();
    Next.erase(Next.begin());
    for (auto [I, End] = Children.equal_range(At); I != End; ++I)
      if (Out.insert(I->second).second)
        Next.insert(I->second);
  }
  return Out;
}

void signalAll(int Number) {
  for (pid_t Pid : descendants())
    kill(Pid, Number);
}

long nowMs() {
  timespec Now;
  clock_gettime(CLOCK_MONOTONIC, &Now);
  return Now.tv_sec * 1000 + Now.tv_nsec / 1000000;
}

/// Collects ended children; whether any is left.
bool reap(pid_t Command, int &Status) {
  int Its = 0;
  pid_t Pid;
  while ((Pid = waitpid(-1, &Its, WNOHANG)) > 0)
    if (Pid == Command)
      Status = Its;
  return Pid == 0;
}

void endAll(pid_t Command, int &Status, const sigset_t &Signals) {
  long Started = nowMs();
  bool IsAsked = false;
  while (reap(Command, Status)) {
    long Took = nowMs() - Started;
    if (Took > GiveUpMs)
      return;
    if (!IsAsked || Took > GraceMs)
      signalAll(IsAsked ? SIGKILL : SIGTERM);
    IsAsked = true;
    timespec Wait = {0, LookMs * 1000000};
    sigtimedwait(&Signals, nullptr, &Wait);
  }
}

[[noreturn]] void endLike(int Status) {
  if (WIFSIGNALED(Status)) {
    rlimit None = {0, 0};
    setrlimit(RLIMIT_CORE, &None);
    int Number = WTERMSIG(Status);
    signal(Number, SIG_DFL);
    sigset_t Only;
    sigemptyset(&Only);
    sigaddset(&Only, Number);
    raise(Number);
    sigprocmask(SIG_UNBLOCK, &Only, nullptr);
    _exit(128 + Number);
  }
  _exit(WEXITSTATUS(Status));
}

[[noreturn]] void guard(char **Arguments) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t Signals, Before;
  sigemptyset(&Signals);
  for (int Number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP})
    sigaddset(&Signals, Number);
  sigprocmask(SIG_BLOCK, &Signals, &Before);
  pid_t Self = getpid();
  pid_t Command = fork();
  if (Command < 0) {
    std::perror("linemate-spawn: fork");
    _exit(CannotExecute);
  }
  if (Command == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Self)
      _exit(CannotExecute);
    sigprocmask(SIG_SETMASK, &Before, nullptr);
    execute(Arguments);
  }
  int Status = -1;
  while (Status == -1) {
    siginfo_t Which;
    if (sigwaitinfo(&Signals, &Which) < 0)
      continue;
    reap(Command, Status);
    if (Which.si_signo != SIGCHLD)
      break;
  }
  endAll(Command, Status, Signals);
  endLike(Status == -1 ? SIGKILL : Status);
}

} // namespace

int main(int Count, char **Arguments) {
  std::string_view Mode = Count > 4 ? Arguments[1] : "";
  if (Mode != "alone" && Mode != "tree") {
    std::fprintf(stderr, "usage: linemate-spawn alone|tree PARENT FILE ARGV0 "
                         "[ARGUMENT]...\n");
    return UsageError;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // It may have died before that.
  if (getppid() != std::atoi(Arguments[2]))
    return 128 + SIGTERM;
  if (Mode == "alone")
    execute(Arguments + 3);
  guard(Arguments + 3);
}
