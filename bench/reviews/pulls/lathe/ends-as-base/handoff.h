#pragma once

#include <atomic>
#include <cstddef>

namespace lathe {

struct Node;

/// Where the two ends of a queue are.
struct Ends {
  std::atomic<std::size_t> Head{0};
  std::atomic<std::size_t> Tail{0};
};

/// A bounded queue between two stages: one thread offers, another takes.
class Handoff : private Ends {
public:
  static constexpr std::size_t Room = 1024;

  bool offer(Node *N) {
    std::size_t At = Tail.load(std::memory_order_relaxed);
    if (At - Head.load(std::memory_order_acquire) == Room)
      return false;
    Nodes[At % Room] = N;
    Tail.store(At + 1, std::memory_order_release);
    return true;
  }

  Node *take() {
    std::size_t At = Head.load(std::memory_order_relaxed);
    if (Tail.load(std::memory_order_acquire) == At)
      return nullptr;
    Node *N = Nodes[At % Room];
    Head.store(At + 1, std::memory_order_release);
    return N;
  }

private:
  alignas(64) Node *Nodes[Room] = {};
};

} // namespace lathe
