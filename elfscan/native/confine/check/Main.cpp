//===- Main.cpp - linemate-confine-check ----------------------------------===//
//
// Usage: linemate-confine-check none|landlock|filter|both FOLDER
//
// For the tests of the confinement, never installed: confines itself and then
// tries one thing after the other, with one line "NAME done" or "NAME refused"
// on standard output.  FOLDER holds files "old" and "other" and a program
// "canary".
//
//===----------------------------------------------------------------------===//

#include "Confine.h"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

void attempt(const char *Name, const std::function<bool()> &Try) {
  errno = 0;
  bool IsDone = Try();
  std::printf("%s %s\n", Name, IsDone ? "done" : "refused");
  std::fflush(stdout);
}

bool opens(const std::string &Path, int Flags) {
  int File = ::open(Path.c_str(), Flags | O_CLOEXEC, 0600);
  if (File >= 0)
    ::close(File);
  return File >= 0;
}

/// Whether a listener is reached; the socket was made before where it can be.
bool reaches(int Socket, const sockaddr_in &Where) {
  return Socket >= 0 &&
         ::connect(Socket, reinterpret_cast<const sockaddr *>(&Where),
                   sizeof Where) == 0;
}

sockaddr_in loopback(in_port_t Port) {
  sockaddr_in Out{};
  Out.sin_family = AF_INET;
  Out.sin_port = Port;
  Out.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  return Out;
}

/// The other side of the network, opened while that is possible.
struct Listener {
  int Socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in Where = loopback(0);

  Listener() {
    socklen_t Size = sizeof Where;
    auto *Address = reinterpret_cast<sockaddr *>(&Where);
    if (::bind(Socket, Address, sizeof Where) || ::listen(Socket, 4) ||
        ::getsockname(Socket, Address, &Size))
      std::perror("listener"); // nothing can be reached then: a test fails
  }
};

/// A process outside of the confinement, which ends with this one.  Not by
/// dieWithParent: the kernel would send that signal in the name of this
/// process, and Landlock refuses signals to the outside.
pid_t startSleeper() {
  int Ends[2];
  if (::pipe2(Ends, O_CLOEXEC))
    return -1;
  pid_t Child = ::fork();
  if (Child == 0) {
    ::close(Ends[1]);
    char Nothing = 0;
    ssize_t Ignored = ::read(Ends[0], &Nothing, 1);
    ::_exit(Ignored < 0);
  }
  return Child;
}

bool forks() {
  pid_t Child = ::fork();
  if (Child == 0)
    ::_exit(0);
  return Child > 0 && ::waitpid(Child, nullptr, 0) == Child;
}

bool runsThread() {
  bool Ran = false;
  std::thread([&] { Ran = true; }).join();
  return Ran;
}

bool makesCode() {
  void *Page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANON, -1, 0);
  return ::mprotect(Page, 4096, PROT_READ | PROT_EXEC) == 0;
}

void tryFiles(const std::string &Folder) {
  std::string Old = Folder + "/old", Fresh = Folder + "/new";
  attempt("read", [&] { return opens(Old, O_RDONLY); });
  attempt("list", [&] { return opens(Folder, O_RDONLY | O_DIRECTORY); });
  attempt("create",
          [&] { return opens(Folder + "/made", O_WRONLY | O_CREAT); });
  attempt("write", [&] { return opens(Old, O_WRONLY); });
  attempt("append", [&] { return opens(Old, O_RDWR | O_APPEND); });
  attempt("cut", [&] { return opens(Folder + "/other", O_RDONLY | O_TRUNC); });
  attempt("nameless", [&] { return opens(Folder, O_RDWR | O_TMPFILE); });
  attempt("truncate", [&] { return ::truncate(Old.c_str(), 1) == 0; });
  attempt("mkdir", [&] { return ::mkdir(Fresh.c_str(), 0700) == 0; });
  attempt("symlink",
          [&] { return ::symlink("old", (Fresh + "1").c_str()) == 0; });
  attempt("link",
          [&] { return ::link(Old.c_str(), (Fresh + "2").c_str()) == 0; });
  attempt("fifo", [&] { return ::mkfifo((Fresh + "3").c_str(), 0600) == 0; });
  attempt("rename", [&] {
    return ::rename((Folder + "/other").c_str(), (Fresh + "4").c_str()) == 0;
  });
  attempt("remove", [&] { return ::unlink(Old.c_str()) == 0; });
  attempt("chmod",
          [&] { return ::chmod((Folder + "/canary").c_str(), 0700) == 0; });
}

void tryProcesses(pid_t Sleeper) {
  attempt("thread", runsThread);
  attempt("fork", forks);
  attempt("trace", [&] {
    return ::ptrace(PTRACE_SEIZE, Sleeper, nullptr, nullptr) == 0 &&
           ::ptrace(PTRACE_INTERRUPT, Sleeper, nullptr, nullptr) == 0 &&
           ::waitpid(Sleeper, nullptr, 0) == Sleeper &&
           ::ptrace(PTRACE_DETACH, Sleeper, nullptr, nullptr) == 0;
  });
  attempt("kill", [&] { return ::kill(Sleeper, SIGKILL) == 0; });
  attempt("code", makesCode);
  attempt("memfd", [] { return ::memfd_create("x", MFD_CLOEXEC) >= 0; });
}

void tryNetwork(int Made, const Listener &Other) {
  attempt("connect", [&] { return reaches(Made, Other.Where); });
  attempt("socket", [&] {
    return reaches(::socket(AF_INET, SOCK_STREAM, 0), Other.Where);
  });
  attempt("unix", [] {
    sockaddr_un Where{};
    Where.sun_family = AF_UNIX; // an abstract name of the kernel's choice
    int Socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    return Socket >= 0 && ::bind(Socket, reinterpret_cast<sockaddr *>(&Where),
                                 sizeof(sa_family_t)) == 0;
  });
}

} // namespace

int main(int Argc, char **Argv) {
  if (Argc != 3)
    return 2;
  std::string Layers = Argv[1], Folder = Argv[2];
  Listener Other;
  int Made = ::socket(AF_INET, SOCK_STREAM, 0);
  pid_t Sleeper = startSleeper();

  linemate::Confinement Now;
  if (Layers == "landlock" || Layers == "both")
    Now.Landlock = linemate::restrictFiles({});
  if (Layers == "filter" || Layers == "both")
    Now.Filter = linemate::filterCalls({});
  std::printf("landlock %d\nfilter %d\n", Now.Landlock, int(Now.Filter));

  tryFiles(Folder);
  tryNetwork(Made, Other);
  tryProcesses(Sleeper);
  std::fflush(stdout);
  // Last: where it works nothing comes behind it.
  ::execl((Folder + "/canary").c_str(), "canary", nullptr);
  std::printf("exec refused\n");
  return 0;
}
