// The engine: sessions hand morsels to scan workers, a merger drains the
// appends, an evictor walks over the blocks.
#pragma once

#include <barrier>
#include <memory_resource>

#include "column.h"

namespace colvault {

struct Query {
  std::uint32_t id;
  std::uint32_t column;
  Value low;
  Value high;
};

/// State of a query that runs: shared by the session and the workers.
struct QueryState {
  explicit QueryState(std::uint32_t blocks) : total_blocks(blocks) {}
  std::uint32_t total_blocks;
  std::uint32_t column = 0;
  Value low = 0;
  Value high = 0;
  std::atomic<std::uint32_t> next_block{0};
  std::atomic<std::uint32_t> blocks_done{0};
  std::array<Value, kMaxWorkers> partial{};
};

/// A filter kernel, registered by name at start.
struct Kernel {
  using Fn = std::uint32_t (*)(const Block&, Value, Value, Value&);
  std::string name;
  Fn fn = nullptr;
  std::uint32_t uses = 0;
};

class KernelRegistry {
 public:
  void Register(std::string name, Kernel::Fn fn);
  Kernel& Choose(const ZoneMap& zone, Value low, Value high) noexcept;
  void Dump() const;

 private:
  std::vector<Kernel> kernels_;
};

struct WorkerStats {
  std::uint32_t morsels = 0;
  std::uint32_t skipped = 0;
  std::uint64_t checksum = 0;
};

/// How long the session waited for its queries, in turns.
struct LatencyHistogram {
  std::array<std::uint32_t, 8> turns_log2{};
  std::uint32_t samples = 0;
};

/// A worker's small scratch area, one heap object each.
struct Scratch {
  std::uint32_t fill = 0;
  std::uint32_t spill = 0;
  std::uint64_t hash = 0;
};

class Engine;

class ScanWorker {
 public:
  ScanWorker(Engine& engine, int index);
  void Run();

 private:
  bool Step(QueryState& q);
  Engine& engine_;
  const int index_;
  std::unique_ptr<Scratch> scratch_;
  std::uint32_t turns_ = 0;
};

class Session {
 public:
  Session(Engine& engine, int index);
  void Run();
  std::uint64_t answer() const noexcept { return answer_; }

 private:
  Query Draw() noexcept;
  Engine& engine_;
  const int index_;
  std::uint32_t seed_;
  std::uint64_t answer_ = 0;
};

class Engine {
 public:
  Engine(const SettingsRegistry& registry, std::shared_ptr<Table> table);
  ~Engine();
  void Run();
  void Report() const;

  struct Slot {
    std::atomic<QueryState*> current{nullptr};
    std::atomic<std::uint32_t> generation{0};
  };

 private:
  friend class ScanWorker;
  friend class Session;
  void VerifyTable();
  void MergeLoop(std::stop_token stop);
  void EvictLoop(std::stop_token stop);

  const SettingsRegistry& registry_;
  std::shared_ptr<Table> table_;
  KernelRegistry kernels_;
  std::vector<std::shared_ptr<QueryState>> states_;
  std::vector<Slot> slots_;
  std::vector<WorkerStats> worker_stats_;
  std::vector<Padded<std::uint64_t>> idle_turns_;
  std::vector<std::uint8_t> busy_;
  std::vector<Padded<LatencyHistogram>> latencies_;
  std::unique_ptr<AppendRing<AppendRow, 64>[]> appends_;
  std::atomic<std::uint32_t> merged_rows_{0};
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<int> sessions_left_{0};
  std::uint32_t evictable_ = 0;
  std::uint32_t merge_runs_ = 0;
  std::vector<std::unique_ptr<ScanWorker>> workers_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace colvault
