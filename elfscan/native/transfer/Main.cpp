//===- Main.cpp - How long a line takes from processor to processor ------===//
//
// Owns the measurement: two threads, each on a processor of its own, hand one
// word to each other and do nothing else.
//
//   linemate-transfer FIRST SECOND [OTHER]...
//
// Prints a line for each other processor: nanoseconds that the line takes one
// way between it and the first, or "-" where the two never ran at one time.
// Exit code 1 where a thread may not run on its processor, 2 for bad usage.
//
// What disturbs a hand-over makes it longer, so of many short series a quick
// one counts; the very quickest may have gained by chance.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <vector>

namespace {

constexpr int UsageError = 2;
constexpr int Series = 40;
constexpr int Rounds = 100;       // there and back, in one series
constexpr int Least = Series / 4; // series that must have been made
constexpr std::chrono::milliseconds Limit(30); // for one pair
constexpr int LookEvery = 1 << 10; // spins between two looks at the clock

using Clock = std::chrono::steady_clock;

/// The word has a line, and a pair of lines that are fetched together, of its
/// own.
struct alignas(256) Word {
  std::atomic<int> Value{0};
};

bool stayOn(int Processor) {
  cpu_set_t Only;
  CPU_ZERO(&Only);
  CPU_SET(Processor, &Only);
  return sched_setaffinity(0, sizeof Only, &Only) == 0;
}

/// Waits until the word has that value; false once the time is over.
bool waitFor(const std::atomic<int> &Value, int Wanted, Clock::time_point End) {
  for (int Spins = 1;; ++Spins) {
    if (Value.load(std::memory_order_acquire) == Wanted)
      return true;
    if (Spins % LookEvery == 0 && Clock::now() > End)
      return false;
  }
}

/// Nanoseconds one way, negative where a processor is not ours, 0 unknown.
double measure(int First, int Second) {
  Word Shared;
  std::atomic<bool> Refused{false};
  auto End = Clock::now() + Limit;
  std::thread Other([&] {
    if (!stayOn(Second)) {
      Refused = true;
      return;
    }
    for (int Round = 0; Round < Series * Rounds; ++Round) {
      if (!waitFor(Shared.Value, 1, End))
        return;
      Shared.Value.store(0, std::memory_order_release);
    }
  });
  std::vector<double> Found;
  bool Stays = stayOn(First);
  for (int Number = 0; Stays && Number < Series; ++Number) {
    auto Began = Clock::now();
    bool Done = true;
    for (int Round = 0; Done && Round < Rounds; ++Round) {
      Shared.Value.store(1, std::memory_order_release);
      Done = waitFor(Shared.Value, 0, End);
    }
    if (!Done)
      break;
    std::chrono::duration<double, std::nano> Taken = Clock::now() - Began;
    Found.push_back(Taken.count() / (2 * Rounds));
  }
  Other.join();
  if (!Stays || Refused)
    return -1;
  if (Found.size() < Least)
    return 0;
  std::sort(Found.begin(), Found.end());
  return Found[Found.size() / 4];
}

/// A processor's number, -1 for what is none.
int processorOf(const char *Text) {
  char *End = nullptr;
  long Number = std::strtol(Text, &End, 10);
  return *Text && !*End && Number >= 0 && Number < CPU_SETSIZE
             ? static_cast<int>(Number)
             : -1;
}

} // namespace

int main(int Count, char **Arguments) {
  std::vector<int> Processors;
  for (int Number = 1; Number < Count; ++Number)
    Processors.push_back(processorOf(Arguments[Number]));
  if (Processors.size() < 2 ||
      std::count(Processors.begin(), Processors.end(), -1)) {
    std::fprintf(stderr, "usage: linemate-transfer FIRST SECOND [OTHER]...\n");
    return UsageError;
  }
  for (size_t Number = 1; Number < Processors.size(); ++Number) {
    double Taken = measure(Processors[0], Processors[Number]);
    if (Taken < 0)
      return 1;
    if (Taken > 0)
      std::printf("%.1f\n", Taken);
    else
      std::printf("-\n");
  }
  return 0;
}
