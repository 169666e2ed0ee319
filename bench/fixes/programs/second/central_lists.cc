// Free lists of an allocator's size classes, each with a lock, in an array of a type that is no multiple of a line.
// about: CentralFreeList
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

constexpr int kNumClasses = 86;

class SpinLock {
public:
  void lock() {
    while (word_.exchange(1, std::memory_order_acquire))
      ;
  }
  void unlock() { word_.store(0, std::memory_order_release); }

private:
  std::atomic<uint32_t> word_{0};
};

#ifdef FIXED
class alignas(64) CentralFreeList {
#else
class CentralFreeList {
#endif
public:
  int InsertRange(void **batch, int n);
  int RemoveRange(void **batch, int n);

private:
  SpinLock lock_;
  uint32_t size_class_ = 0;
  size_t num_spans_ = 0;
  size_t counter_ = 0;
  void *head_ = nullptr;
#ifdef EDIT
  size_t objects_per_span_ = 0;
#endif
};

int CentralFreeList::InsertRange(void **batch, int n) {
  std::lock_guard<SpinLock> guard(lock_);
  for (int i = 0; i < n; ++i) {
    *static_cast<void **>(batch[i]) = head_;
    head_ = batch[i];
  }
  counter_ += n;
  return n;
}

int CentralFreeList::RemoveRange(void **batch, int n) {
  std::lock_guard<SpinLock> guard(lock_);
  int got = 0;
  while (got < n && head_) {
    batch[got++] = head_;
    head_ = *static_cast<void **>(head_);
  }
  counter_ -= got;
  return got;
}

class TransferManager {
public:
  int Insert(int size_class, void **batch, int n) { return lists_[size_class].InsertRange(batch, n); }
  int Remove(int size_class, void **batch, int n) { return lists_[size_class].RemoveRange(batch, n); }

private:
  CentralFreeList lists_[kNumClasses];
};

static TransferManager manager;

int insert_batch(int size_class, void **batch, int n) { return manager.Insert(size_class, batch, n); }
int remove_batch(int size_class, void **batch, int n) { return manager.Remove(size_class, batch, n); }
