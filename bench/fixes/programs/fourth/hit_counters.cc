// A cache of compiled expressions: looked up by all threads, with the number of hits beside the table they look in.
// about: hits_ misses_
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

struct Entry {
  uint64_t key;
  void *code;
  Entry *next;
};

class ExpressionCache {
public:
  explicit ExpressionCache(size_t size) : mask_(size - 1), buckets_(new Entry *[size]()) {}

  void *find(uint64_t key) {
    std::atomic_thread_fence(std::memory_order_acquire);
    for (const Entry *entry = buckets_[key & mask_]; entry; entry = entry->next)
      if (entry->key == key) {
        hits_.fetch_add(1, std::memory_order_relaxed);
        return entry->code;
      }
    misses_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }

  void insert(Entry *entry) {
    std::unique_lock<std::shared_mutex> guard(mutex_);
    entry->next = buckets_[entry->key & mask_];
    buckets_[entry->key & mask_] = entry;
  }

private:
#ifdef EDIT
  const char *name_ = "expressions";
#endif
  const size_t mask_;
  Entry **const buckets_;
#ifdef FIXED
  alignas(64) std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
  alignas(64) std::shared_mutex mutex_;
#else
  std::atomic<uint64_t> hits_{0};
  std::atomic<uint64_t> misses_{0};
  std::shared_mutex mutex_;
#endif
};

static ExpressionCache cache(4096);
void *compiled(uint64_t key) { return cache.find(key); }
void add_compiled(Entry *entry) { cache.insert(entry); }
