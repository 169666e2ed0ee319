// A bounded queue of many producers and consumers: where they write and read is counted in two atomics.
// about: enqueue_pos_ dequeue_pos_
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

template <typename T> class BoundedQueue {
  struct Cell {
    std::atomic<size_t> sequence;
    T data;
  };

public:
  explicit BoundedQueue(size_t size) : buffer_(new Cell[size]), mask_(size - 1) {
    for (size_t i = 0; i < size; ++i)
      buffer_[i].sequence.store(i, std::memory_order_relaxed);
    enqueue_pos_.store(0, std::memory_order_relaxed);
    dequeue_pos_.store(0, std::memory_order_relaxed);
  }
  bool enqueue(const T &data) {
    size_t pos = enqueue_pos_.load(std::memory_order_relaxed);
    Cell *cell;
    for (;;) {
      cell = &buffer_[pos & mask_];
      intptr_t difference = intptr_t(cell->sequence.load(std::memory_order_acquire)) - intptr_t(pos);
      if (difference == 0) {
        if (enqueue_pos_.compare_exchange_weak(pos, pos + 1, std::memory_order_relaxed))
          break;
      } else if (difference < 0) {
        return false;
      } else {
        pos = enqueue_pos_.load(std::memory_order_relaxed);
      }
    }
    cell->data = data;
    cell->sequence.store(pos + 1, std::memory_order_release);
    return true;
  }
  bool dequeue(T &data) {
    size_t pos = dequeue_pos_.load(std::memory_order_relaxed);
    Cell *cell;
    for (;;) {
      cell = &buffer_[pos & mask_];
      intptr_t difference = intptr_t(cell->sequence.load(std::memory_order_acquire)) - intptr_t(pos + 1);
      if (difference == 0) {
        if (dequeue_pos_.compare_exchange_weak(pos, pos + 1, std::memory_order_relaxed))
          break;
      } else if (difference < 0) {
        return false;
      } else {
        pos = dequeue_pos_.load(std::memory_order_relaxed);
      }
    }
    data = cell->data;
    cell->sequence.store(pos + mask_ + 1, std::memory_order_release);
    return true;
  }

private:
  std::unique_ptr<Cell[]> buffer_;
  size_t mask_;
#ifdef EDIT
  size_t limit_ = 0;
#endif
#ifdef FIXED
  alignas(64) std::atomic<size_t> enqueue_pos_;
  alignas(64) std::atomic<size_t> dequeue_pos_;
#else
  std::atomic<size_t> enqueue_pos_;
  std::atomic<size_t> dequeue_pos_;
#endif
};

struct LogEntry {
  int level;
  const char *text;
};

class AsyncLog {
public:
  AsyncLog() : queue_(8192) {}
  bool write(int level, const char *text) { return queue_.enqueue({level, text}); }
  void drain();

private:
  BoundedQueue<LogEntry> queue_;
};

void emit(const LogEntry &entry);

void AsyncLog::drain() {
  LogEntry entry;
  while (queue_.dequeue(entry))
    emit(entry);
}

bool logTo(AsyncLog &log, int level, const char *text) { return log.write(level, text); }
