// Shards of a cache, padded to a line by hand; a counter was added that the padding does not know of.
// about: Shard pad
#include <array>
#include <cstdint>
#include <pthread.h>

struct Shard {
  pthread_mutex_t lock;
  uint64_t hits;
#ifdef FIXED
  char pad[64 - sizeof(pthread_mutex_t) - sizeof(uint64_t)];
#else
  char pad[64 - sizeof(pthread_mutex_t)];
#endif
};

class Cache {
public:
  bool lookup(uint64_t key);
  uint64_t hits() const;

private:
  alignas(64) std::array<Shard, 64> shards_;
#ifdef EDIT
  unsigned generation_ = 0;
#endif
};

extern bool find_in(unsigned shard, uint64_t key);

bool Cache::lookup(uint64_t key) {
  Shard &shard = shards_[key % shards_.size()];
  pthread_mutex_lock(&shard.lock);
  bool found = find_in(key % shards_.size(), key);
  if (found)
    ++shard.hits;
  pthread_mutex_unlock(&shard.lock);
  return found;
}

uint64_t Cache::hits() const {
  uint64_t sum = 0;
  for (const Shard &shard : shards_)
    sum += shard.hits;
  return sum;
}
