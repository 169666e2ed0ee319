// Bounded queues: one producer and one consumer, or many of both.
#ifndef FANOUT_QUEUE_H_
#define FANOUT_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace fanout {

// Single producer, single consumer.
template <typename T, size_t N>
class alignas(64) SpscQueue {
 public:
  bool Push(T value) {
    const uint32_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - cached_head_ == N) {
      cached_head_ = head_.load(std::memory_order_acquire);
      if (tail - cached_head_ == N) return false;
    }
    items_[tail % N] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  bool Pop(T* value) {
    const uint32_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    *value = items_[head % N];
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

 private:
  std::atomic<uint32_t> head_{0};
  std::atomic<uint32_t> tail_{0};
  uint32_t cached_head_ = 0;
  alignas(64) T items_[N];
};

// Many producers, many consumers; blocks.
template <typename T, size_t N>
class alignas(64) BlockingQueue {
 public:
  void Push(T value) {
    std::unique_lock<std::mutex> lock(mu_);
    not_full_.wait(lock, [this] { return count_ < N; });
    items_[(first_ + count_++) % N] = value;
    not_empty_.notify_one();
  }

  bool Pop(T* value) {
    std::unique_lock<std::mutex> lock(mu_);
    not_empty_.wait(lock, [this] { return count_ > 0 || closed_; });
    if (count_ == 0) return false;
    *value = items_[first_];
    first_ = (first_ + 1) % N;
    --count_;
    not_full_.notify_one();
    return true;
  }

  void Close() {
    std::lock_guard<std::mutex> lock(mu_);
    closed_ = true;
    not_empty_.notify_all();
  }

 private:
  std::mutex mu_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  size_t first_ = 0;
  size_t count_ = 0;
  bool closed_ = false;
  T items_[N];
};

}  // namespace fanout

#endif  // FANOUT_QUEUE_H_
