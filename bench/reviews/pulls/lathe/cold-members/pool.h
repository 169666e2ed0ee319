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
  void put(Node *N);
  std::size_t chunks() const { return Chunks; }
  const char *name() const { return Name; }

private:
  alignas(64) std::mutex Guard;
  std::size_t Chunks = 0;
  Node *Free = nullptr;
  const char *Name = "nodes";
  alignas(64) PoolOptions Options;
};

extern Pool Nodes;

} // namespace lathe
