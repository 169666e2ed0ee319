// A map and its counts under one mutex: whoever counts has the lock.
#include <mutex>
#include <thread>
#include <unordered_map>
class Lru {
  std::mutex guard;
  unsigned long hits = 0, misses = 0;
  std::unordered_map<unsigned, unsigned> map;

public:
  unsigned get(unsigned key) {
    std::lock_guard<std::mutex> hold(guard);
    const auto found = map.find(key);
    if (found != map.end()) {
      ++hits;
      return found->second;
    }
    ++misses;
    return map[key] = key * 3;
  }
};
alignas(64) static Lru lru;
int main() {
  const auto ask = [](unsigned from) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 2500000; ++i)
      sum += lru.get((from + i) % 1024);
    return sum;
  };
  std::thread other(ask, 512u);
  const unsigned sum = ask(0u);
  other.join();
  return sum == 1;
}
