// A vector makes its threads in place beside what they count together: where
// nothing is inlined, ten functions of its library stand between the loop and
// the start, and what they write is written once for each thread.
// no-finding
#include <atomic>
#include <thread>
#include <vector>

class Team {
  std::atomic<long> done_{0};
  std::vector<std::thread> threads_;

public:
  explicit Team(int n) {
    for (int i = 0; i < n; i++)
      threads_.emplace_back([this] { work(); });
  }
  void work() {
    while (done_.fetch_add(1) < 100000000) {
    }
  }
  ~Team() {
    for (auto &thread : threads_)
      thread.join();
  }
};

int main(int argc, char **) { Team team(argc + 3); }
