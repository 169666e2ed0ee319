#pragma once

#include <cstddef>
#include <mutex>

namespace lathe {

struct Node {
  Node *Next = nullptr;
  long Value = 0;
  int Stage = 0;
};

struct PoolOptions {
  std::size_t Chunk = 256;
  bool Zero = false;
};

class Pool {
public:
  explicit Pool(const PoolOptions &O) : Options(O) {}
  Node *get();
  bool zeroes() const { return Options.Zero; }
  void put(Node *N);
  std::size_t chunks() const { return Chunks; }

private:
  alignas(64) std::mutex Guard;
  PoolOptions Options;
  Node *Free = nullptr;
  std::size_t Chunks = 0;
};

extern Pool Nodes;

} // namespace lathe
