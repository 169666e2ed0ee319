// Spin locks of a lock table, chosen by hash, a word each side by side.
// about: SpinLock locks_
#include <atomic>
#include <cstddef>
#include <cstdint>

#ifdef FIXED
class alignas(64) SpinLock {
#else
class SpinLock {
#endif
public:
  void lock() {
    while (flag_.exchange(true, std::memory_order_acquire))
      while (flag_.load(std::memory_order_relaxed))
        __builtin_ia32_pause();
  }
  void unlock() { flag_.store(false, std::memory_order_release); }

private:
  std::atomic<bool> flag_{false};
};

class LockTable {
public:
  void with(const void *object, void (*run)(void *), void *data) {
    SpinLock &lock = locks_[slot(object)];
    lock.lock();
    run(data);
    lock.unlock();
  }

private:
  static constexpr size_t kLocks = 64;
  static size_t slot(const void *object) {
    return (reinterpret_cast<uintptr_t>(object) * 0x9E3779B97F4A7C15ull) >> 58;
  }
#ifdef EDIT
  const char *name_ = "objects";
#endif
  SpinLock locks_[kLocks];
};

static LockTable table;
void synchronized(const void *object, void (*run)(void *), void *data) { table.with(object, run, data); }
