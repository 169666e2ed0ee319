//===- Calls.cpp - The system calls that are left -------------------------===//
//
// Owns the list.  What is not on it answers ENOSYS, at which the C library
// takes the older way where there is one; what is on it with other arguments
// answers EPERM.
//
//===----------------------------------------------------------------------===//

#include "Confine.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <initializer_list>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace linemate {

namespace {

// A sanitizer's runtime starts a process that traces its own at the end, and
// more; a build with it is for finding mistakes in the parsers.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool IsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool IsSanitized = true;
#else
constexpr bool IsSanitized = false;
#endif
#else
constexpr bool IsSanitized = false;
#endif

constexpr int Always[] = {
    // what is open already
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv),
    SCMP_SYS(preadv2), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(close_range),
    SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(poll),
    SCMP_SYS(ppoll), SCMP_SYS(fadvise64), SCMP_SYS(pipe), SCMP_SYS(pipe2),
    // what there is
    SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(fstat), SCMP_SYS(newfstatat),
    SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(fstatfs), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getdents), SCMP_SYS(getdents64),
    SCMP_SYS(getcwd), SCMP_SYS(chdir), SCMP_SYS(fchdir),
    // memory; see also below
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk),
    SCMP_SYS(membarrier),
    // threads
    SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(set_tid_address),
    SCMP_SYS(arch_prctl), SCMP_SYS(exit), SCMP_SYS(exit_group),
    // signals to this process, time, and who it is
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(times),
    SCMP_SYS(getrusage), SCMP_SYS(getrlimit), SCMP_SYS(getpid),
    SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
    SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(uname), SCMP_SYS(sysinfo),
    SCMP_SYS(getrandom)};

constexpr int WhereForked[] = {SCMP_SYS(fork),      SCMP_SYS(wait4),
                               SCMP_SYS(waitid),    SCMP_SYS(alarm),
                               SCMP_SYS(setitimer), SCMP_SYS(setrlimit)};

constexpr int WhereFilesAreMade[] = {
    SCMP_SYS(open),   SCMP_SYS(openat),    SCMP_SYS(rename),
    SCMP_SYS(unlink), SCMP_SYS(renameat),  SCMP_SYS(renameat2),
    SCMP_SYS(mkdir),  SCMP_SYS(mkdirat),   SCMP_SYS(unlinkat),
    SCMP_SYS(fsync),  SCMP_SYS(fdatasync), SCMP_SYS(utimensat),
    SCMP_SYS(flock),  SCMP_SYS(umask),     SCMP_SYS(ftruncate)};

/// Rules that are gathered until they are in force.
class Rules {
public:
  Rules() : Filter(seccomp_init(SCMP_ACT_ERRNO(ENOSYS))) {
    IsGood = Filter && seccomp_attr_set(Filter, SCMP_FLTATR_ACT_BADARCH,
                                        SCMP_ACT_KILL_PROCESS) == 0;
  }
  Rules(const Rules &) = delete;
  Rules &operator=(const Rules &) = delete;
  ~Rules() {
    if (Filter)
      seccomp_release(Filter);
  }

  void allow(int Call) { add(SCMP_ACT_ALLOW, Call, {}); }
  void allowIf(int Call, scmp_arg_cmp Condition) {
    add(SCMP_ACT_ALLOW, Call, {Condition});
  }
  /// Allowed where none of \p Bits is set in an argument, else refused.
  void allowWithout(int Call, unsigned Argument, uint64_t Bits) {
    add(SCMP_ACT_ALLOW, Call,
        {SCMP_CMP(Argument, SCMP_CMP_MASKED_EQ, Bits, 0)});
    for (uint64_t Bit = 1; Bit && Bit <= Bits; Bit <<= 1)
      if (Bits & Bit)
        add(SCMP_ACT_ERRNO(EPERM), Call,
            {SCMP_CMP(Argument, SCMP_CMP_MASKED_EQ, Bit, Bit)});
  }
  bool load() { return IsGood && seccomp_load(Filter) == 0; }

private:
  void add(uint32_t Action, int Call,
           std::initializer_list<scmp_arg_cmp> Conditions) {
    // A call that this architecture has not got cannot be made either.
    if (IsGood && Call > -1)
      IsGood = seccomp_rule_add_array(Filter, Action, Call,
                                      unsigned(Conditions.size()),
                                      Conditions.begin()) == 0;
  }

  scmp_filter_ctx Filter;
  bool IsGood;
};

void allowProcesses(Rules &R, const Allowed &Rights) {
  constexpr uint64_t Spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                              CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                              CLONE_NEWNET;
  // Flags of clone3 lie in memory, where a filter cannot see them; the C
  // library goes on to clone.
  if (!Rights.Forks) {
    R.allowIf(SCMP_SYS(clone),
              SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    R.allowIf(SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, uint64_t(::getpid())));
    // Asked, never set: the second argument but one is the new limit.
    R.allowIf(SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0));
    return;
  }
  R.allowWithout(SCMP_SYS(clone), 0, Spaces);
  for (int Call : WhereForked)
    R.allow(Call);
  // Of other processes only where Kills says so.
  R.allowIf(SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_EQ, 0));
  R.allowIf(SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_PDEATHSIG));
  R.allowIf(SCMP_SYS(socketpair), SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
  // Without an address: to the other end of a pair.
  R.allowIf(SCMP_SYS(sendto), SCMP_A4(SCMP_CMP_EQ, 0));
  R.allow(SCMP_SYS(recvfrom));
  if (Rights.Kills) {
    for (int Call : {SCMP_SYS(kill), SCMP_SYS(tgkill), SCMP_SYS(seccomp),
                     SCMP_SYS(setpgid), 444, 445, 446}) // Landlock's calls
      R.allow(Call);
    R.allowIf(SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NO_NEW_PRIVS));
    R.allowIf(SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
  }
}

} // namespace

bool filterCalls(const Allowed &Rights) {
  if (IsSanitized || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    return false;
  Rules R;
  for (int Call : Always)
    R.allow(Call);
  constexpr uint64_t Writes =
      O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  if (Rights.WritableFolder.empty()) {
    R.allowWithout(SCMP_SYS(open), 1, Writes);
    R.allowWithout(SCMP_SYS(openat), 2, Writes);
  } else {
    for (int Call : WhereFilesAreMade)
      R.allow(Call);
  }
  R.allowWithout(SCMP_SYS(mmap), 2, PROT_EXEC);
  R.allowWithout(SCMP_SYS(mprotect), 2, PROT_EXEC);
  R.allowIf(SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, TCGETS));
  for (int Command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD, F_DUPFD_CLOEXEC})
    R.allowIf(SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, unsigned(Command)));
  R.allowIf(SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
  allowProcesses(R, Rights);
  return R.load();
}

} // namespace linemate
