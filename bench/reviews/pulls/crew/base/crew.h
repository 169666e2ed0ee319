#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace crew {

constexpr unsigned MaxWorkers = 32;

struct alignas(64) Tally {
  std::uint64_t Done = 0;
  std::uint64_t Failed = 0;
};

using Job = std::function<bool(unsigned)>;

class Queue {
public:
  void push(Job J);
  bool pop(Job &J);
  void close();

private:
  std::mutex Guard;
  std::condition_variable Ready;
  std::deque<Job> Jobs;
  bool Closed = false;
};

class Crew {
public:
  explicit Crew(unsigned Workers);
  ~Crew();
  void submit(Job J) { Jobs.push(std::move(J)); }
  std::uint64_t done() const;

private:
  void work(unsigned Number);

  Queue Jobs;
  std::vector<std::thread> Threads;
};

} // namespace crew
