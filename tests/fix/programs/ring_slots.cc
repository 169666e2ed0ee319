// An index beside the slots that it counts: the slots move as a whole, an element stays as small as it is.
#include <atomic>
#include <cstdint>
#include <thread>

struct Request {
  uint32_t op;
  uint32_t key;
  uint64_t value;
};

struct Ring {
  std::atomic<uint32_t> head{0};  // consumer writes
  std::atomic<uint32_t> tail{0};  // producer writes
  Request slots[1024];
};
static_assert(sizeof(Request) == 16);

static Ring *ring;
static std::atomic<bool> running{true};

static void put() {
  for (uint32_t k = 0; running.load(std::memory_order_relaxed); ++k) {
    uint32_t t = ring->tail.load(std::memory_order_relaxed);
    if (t - ring->head.load(std::memory_order_acquire) == 1024)
      continue;
    ring->slots[t % 1024] = Request{k & 1, k & 4095, k};
    ring->tail.store(t + 1, std::memory_order_release);
  }
}

static void get() {
  uint64_t sum = 0;
  while (sum < 100000) {
    uint32_t h = ring->head.load(std::memory_order_relaxed);
    if (h == ring->tail.load(std::memory_order_acquire))
      continue;
    auto [op, key, value] = ring->slots[h % 1024];
    sum += op + key - (value & 4095);
    ring->head.store(h + 1, std::memory_order_release);
  }
  running = false;
}

int main() {
  ring = new Ring();
  std::thread a(put), b(get);
  a.join();
  b.join();
}
