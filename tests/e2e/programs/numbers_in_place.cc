// Numbers that a thread puts into a vector beside what others count together:
// the vector's end moves each time.
// expect: independent-writers low Team.done_
#include <atomic>
#include <thread>
#include <vector>

class Team {
  std::atomic<long> done_{0};
  std::vector<long> found_;
  std::vector<std::thread> threads_;

public:
  explicit Team(int n) {
    for (int i = 0; i < n; i++)
      threads_.emplace_back([this] { work(); });
    while (done_.load() < 100000000) {
      if (found_.size() == 1000)
        found_.clear();
      found_.emplace_back(found_.size());
    }
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
