// A queue with its mutex and its condition in one object: whoever comes for the one has the other.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
class Inbox {
 public:
  void put(int letter) {
    std::lock_guard<std::mutex> held(mutex_);
    letters_.push_back(letter);
    filled_.notify_one();
  }
  int take() {
    std::unique_lock<std::mutex> held(mutex_);
    filled_.wait(held, [this] { return !letters_.empty(); });
    int letter = letters_.front();
    letters_.pop_front();
    return letter;
  }

 private:
  std::mutex mutex_;
#ifdef PAD
  alignas(128)
#endif
  std::condition_variable filled_;
#ifdef PAD
  alignas(128)
#endif
  std::deque<int> letters_;
};
int main() {
  Inbox inbox;
  const int letters = 1500000;
  std::thread writer([&] {
    for (int i = 0; i < letters; i++) inbox.put(i);
  });
  long sum = 0;
  for (int i = 0; i < letters; i++) sum += inbox.take();
  writer.join();
  std::printf("%ld\n", sum);
}
