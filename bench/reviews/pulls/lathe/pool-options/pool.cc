#include "pool.h"

namespace lathe {

Pool Nodes{PoolOptions{}};

Node *Pool::get() {
  std::lock_guard<std::mutex> Hold(Guard);
  if (!Free) {
    if (Options.Limit && Chunks == Options.Limit)
      return nullptr;
    Node *Made = new Node[Options.Chunk];
    for (std::size_t I = 0; I < Options.Chunk; ++I) {
      Made[I].Next = Free;
      Free = &Made[I];
    }
    ++Chunks;
  }
  Node *N = Free;
  Free = N->Next;
  return N;
}

void Pool::put(Node *N) {
  std::lock_guard<std::mutex> Hold(Guard);
  N->Next = Free;
  Free = N;
}

} // namespace lathe
