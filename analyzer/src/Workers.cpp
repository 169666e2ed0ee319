//===- Workers.cpp - Units in processes of their own ----------------------===//
//
// Owns the protocol between the parent, which hands out one unit at a time,
// and its workers: an index one way, a framed result the other.
//
//===----------------------------------------------------------------------===//

#include "Workers.h"

#include "Confine.h"
#include "Frame.h"

#include "clang/Basic/Stack.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <new>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace linemate {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t MaxWaitingBytes = 256ULL << 20;
constexpr rlim_t StackBytes = 64 << 20;
constexpr unsigned SpareSeconds = 10;

unsigned UnitSeconds = 0; // set in a worker, inherited by what it forks

[[noreturn]] void exitOutOfMemory() { _exit(OutOfMemoryStatus); }

void onBadAlloc(void *, const char *, bool) { exitOutOfMemory(); }

void limit(int Resource, rlim_t Value) {
  rlimit Now{};
  if (getrlimit(Resource, &Now))
    return;
  Now.rlim_cur = std::min(Now.rlim_max, Value);
  setrlimit(Resource, &Now);
}

[[noreturn]] void workerMain(pid_t Parent, int Socket,
                             const WorkerLimits &Limits, const UnitWork &Work) {
  dieWithParent(Parent);
  // With all that it forks, so that they are ended together.
  setpgid(0, 0);
  for (int Signal : {SIGINT, SIGALRM})
    signal(Signal, SIG_DFL);
  UnitSeconds = Limits.TimeoutSeconds + SpareSeconds;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_STACK, StackBytes);
#ifndef LINEMATE_SANITIZED
  limit(RLIMIT_DATA, Limits.MemoryBytes);
#endif
  std::set_new_handler(exitOutOfMemory);
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(onBadAlloc);
  clang::noteBottomOfStack();
  // The stream is the parent's to write.
  close(STDIN_FILENO);
  close(STDOUT_FILENO);
  Allowed Rights;
  Rights.Forks = true;
  confine(Rights);
  for (;;) {
    uint64_t Index = 0;
    ssize_t Got = ::recv(Socket, &Index, sizeof Index, MSG_WAITALL);
    if (Got != ssize_t(sizeof Index))
      _exit(0);
    startUnitClock();
    std::string Out = frame(Work(size_t(Index)));
    stopUnitClock();
    if (!sendAll(Socket, Out.data(), Out.size()))
      _exit(0);
  }
}

struct Worker {
  pid_t Pid = -1;
  int Socket = -1;
  bool Busy = false;
  size_t Unit = 0;
  Clock::time_point Deadline;
  std::string Received;
};

class Pool {
public:
  Pool(const std::vector<size_t> &Units, const WorkerLimits &Limits,
       const UnitWork &Work, const UnitSink &Sink,
       const std::function<void(size_t)> &Finished)
      : Units(Units), Limits(Limits), Work(Work), Sink(Sink),
        Finished(Finished) {}

  void run();

private:
  bool start(Worker &W);
  void stop(Worker &W);
  void hand(Worker &W);
  void receive(Worker &W);
  void expire(Worker &W);
  void done(Worker &W, UnitResult Result);

  const std::vector<size_t> &Units;
  const WorkerLimits &Limits;
  const UnitWork &Work;
  const UnitSink &Sink;
  const std::function<void(size_t)> &Finished;

  std::vector<Worker> Workers;
  size_t NextUnit = 0;    ///< to hand out
  size_t NextWritten = 0; ///< to give to the sink
  size_t Done = 0;
  std::map<size_t, UnitResult> Waiting; ///< by position in Units
  uint64_t WaitingBytes = 0;
};

bool Pool::start(Worker &W) {
  int Ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends))
    return false;
  pid_t Parent = getpid(), Child = fork();
  if (Child == 0) {
    for (Worker &Other : Workers)
      if (Other.Socket >= 0)
        close(Other.Socket);
    close(Ends[0]);
    workerMain(Parent, Ends[1], Limits, Work);
  }
  close(Ends[1]);
  if (Child < 0) {
    close(Ends[0]);
    return false;
  }
  W = Worker();
  W.Pid = Child;
  W.Socket = Ends[0];
  return true;
}

void Pool::stop(Worker &W) {
  if (W.Socket >= 0)
    close(W.Socket);
  if (W.Pid > 0) {
    kill(-W.Pid, SIGKILL);
    kill(W.Pid, SIGKILL); // where it had no time to make its group
    while (waitpid(W.Pid, nullptr, 0) < 0 && errno == EINTR)
      ;
  }
  W = Worker();
}

void Pool::hand(Worker &W) {
  // One slow unit must not let the results of all others pile up.
  if (W.Busy || NextUnit >= Units.size() || WaitingBytes > MaxWaitingBytes)
    return;
  if (W.Socket < 0 && !start(W)) {
    W.Unit = NextUnit++;
    UnitResult Result;
    Result.Failure = std::string("no process for it: ") + strerror(errno);
    done(W, std::move(Result));
    return;
  }
  W.Busy = true;
  W.Unit = NextUnit++;
  W.Received.clear();
  W.Deadline = Clock::now() + std::chrono::seconds(Limits.TimeoutSeconds);
  uint64_t Index = Units[W.Unit];
  // A worker that died meanwhile shows when its answer is read.
  sendAll(W.Socket, reinterpret_cast<const char *>(&Index), sizeof Index);
}

void Pool::done(Worker &W, UnitResult Result) {
  W.Busy = false;
  W.Received.clear();
  WaitingBytes += Result.Json.size();
  Waiting.emplace(W.Unit, std::move(Result));
  while (!Waiting.empty() && Waiting.begin()->first == NextWritten) {
    auto First = Waiting.extract(Waiting.begin());
    WaitingBytes -= First.mapped().Json.size();
    Sink(Units[NextWritten++], std::move(First.mapped()));
  }
  Finished(++Done);
}

void Pool::receive(Worker &W) {
  char Buffer[1 << 16];
  ssize_t Got = ::recv(W.Socket, Buffer, sizeof Buffer, 0);
  if (Got < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  if (Got <= 0) {
    UnitResult Result;
    int Status = 0;
    while (waitpid(W.Pid, &Status, 0) < 0 && errno == EINTR)
      ;
    W.Pid = -1;
    Result.Failure = reasonOfEnd(Status, Limits.MemoryBytes);
    size_t Unit = W.Unit;
    stop(W);
    W.Unit = Unit;
    done(W, std::move(Result));
    return;
  }
  W.Received.append(Buffer, size_t(Got));
  uint64_t Size = 0;
  if (W.Received.size() < sizeof Size)
    return;
  std::memcpy(&Size, W.Received.data(), sizeof Size);
  UnitResult Result;
  if (Size > MaxFrameBytes) {
    Result.Failure = "its facts are too large";
  } else {
    W.Received.reserve(Size + sizeof Size);
    if (W.Received.size() < Size + sizeof Size)
      return;
    if (unframe(llvm::StringRef(W.Received).drop_front(sizeof Size), Result))
      return done(W, std::move(Result));
    Result = {};
    Result.Failure = "the analysis gave a damaged answer";
  }
  size_t Unit = W.Unit;
  stop(W);
  W.Unit = Unit;
  done(W, std::move(Result));
}

void Pool::expire(Worker &W) {
  if (!W.Busy || Clock::now() < W.Deadline)
    return;
  UnitResult Result;
  Result.Failure = "gave no answer in " +
                   std::to_string(Limits.TimeoutSeconds) + " s and was stopped";
  size_t Unit = W.Unit;
  stop(W);
  W.Unit = Unit;
  done(W, std::move(Result));
}

void Pool::run() {
  Workers.resize(
      std::clamp<size_t>(Limits.Jobs, 1, std::max<size_t>(Units.size(), 1)));
  while (NextWritten < Units.size()) {
    for (Worker &W : Workers)
      hand(W);
    std::vector<pollfd> Polled;
    std::vector<size_t> Which;
    auto Nearest = Clock::time_point::max();
    for (size_t I = 0; I < Workers.size(); ++I)
      if (Workers[I].Busy) {
        Polled.push_back({Workers[I].Socket, POLLIN, 0});
        Which.push_back(I);
        Nearest = std::min(Nearest, Workers[I].Deadline);
      }
    if (Polled.empty())
      continue;
    auto Left = std::chrono::duration_cast<std::chrono::milliseconds>(
        Nearest - Clock::now());
    int Wait = int(std::clamp<int64_t>(Left.count() + 1, 0, 60'000));
    if (poll(Polled.data(), Polled.size(), Wait) < 0 && errno != EINTR)
      llvm::report_fatal_error("poll failed");
    for (size_t I = 0; I < Polled.size(); ++I)
      if (Polled[I].revents)
        receive(Workers[Which[I]]);
    for (Worker &W : Workers)
      expire(W);
  }
  for (Worker &W : Workers)
    stop(W);
}

} // namespace

void startUnitClock() { alarm(UnitSeconds); }
void stopUnitClock() { alarm(0); }

void runWorkers(const std::vector<size_t> &Units, const WorkerLimits &Limits,
                const UnitWork &Work, const UnitSink &Sink,
                const std::function<void(size_t)> &Finished) {
  if (!Units.empty())
    Pool(Units, Limits, Work, Sink, Finished).run();
}

} // namespace linemate
