// ARGS: -std=c++17
// The items of a queue begin a line to keep away from its indexes: a producer stores one after the other.  Of the slots
// that a worker stores at its own number, which are aligned as a whole as well, several share a line.
// expect: array-aligned-not-element medium states
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

struct Event {
  int kind;
  float value;
};
template <typename T, std::size_t N> class Ring {
public:
  bool push(const T &v) {
    auto at = write_.load(std::memory_order_relaxed);
    if (at - read_.load(std::memory_order_acquire) == N)
      return false;
    items_[at % N] = v;
    names_[at % N].kind = v.kind;
    write_.store(at + 1, std::memory_order_release);
    return true;
  }
  bool pop(T &v) {
    auto at = read_.load(std::memory_order_relaxed);
    if (at == write_.load(std::memory_order_acquire))
      return false;
    v = items_[at % N];
    v.kind = names_[at % N].kind;
    read_.store(at + 1, std::memory_order_release);
    return true;
  }

private:
  alignas(64) std::atomic<std::size_t> write_{0};
  alignas(64) std::atomic<std::size_t> read_{0};
  alignas(64) std::array<T, N> items_{};
  alignas(64) T names_[N];
};
static Ring<Event, 64> events;

struct State {
  long step;
};
alignas(64) static State states[16];

static void work(int worker_id) {
  for (long i = 0; i < 1000000; ++i) {
    states[worker_id].step = i;
    events.push({worker_id, 1.0f});
  }
}
static void drain() {
  for (Event e{};;)
    events.pop(e);
}
int main() {
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back(work, i);
  drain();
}
