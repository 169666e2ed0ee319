#pragma once
#include "types.h"

namespace ferry {

// Bounded queue for many senders and one receiver; each cell has its own turn.
template <typename T, uint32_t N>
class Mailbox {
 public:
  Mailbox() {
    for (uint32_t i = 0; i < N; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
  }

  bool TrySend(const T& item) {
    uint32_t pos = send_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[pos % N];
      uint32_t turn = cell.turn.load(std::memory_order_acquire);
      if (turn == pos) {
        if (send_.compare_exchange_weak(pos, pos + 1, std::memory_order_relaxed)) {
          cell.item = item;
          cell.turn.store(pos + 1, std::memory_order_release);
          return true;
        }
      } else if (static_cast<int32_t>(turn - pos) < 0) {
        return false;
      } else {
        pos = send_.load(std::memory_order_relaxed);
      }
    }
  }

  bool TryReceive(T& out) {
    uint32_t pos = receive_;
    Cell& cell = cells_[pos % N];
    if (cell.turn.load(std::memory_order_acquire) != pos + 1) return false;
    out = cell.item;
    cell.turn.store(pos + N, std::memory_order_release);
    receive_ = pos + 1;
    return true;
  }

 private:
  struct Cell {
    std::atomic<uint32_t> turn;
    T item;
  };
  alignas(64) std::atomic<uint32_t> send_{0};
  alignas(64) uint32_t receive_ = 0;
  alignas(64) Cell cells_[N];
};

}  // namespace ferry
