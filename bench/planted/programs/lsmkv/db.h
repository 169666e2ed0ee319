#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "cache.h"
#include "statistics.h"
#include "table.h"
#include "wal.h"

namespace lsmkv {

struct Options {
  std::size_t memtable_slots = 512;
  std::size_t wal_segment = 4096;
  std::uint32_t key_space = 1024;
  unsigned slowdown = 0;
  bool paranoid = false;
};

// Range of live sequence numbers.
struct SnapshotRange {
  std::atomic<std::uint64_t> oldest{0};  // compaction
  std::atomic<std::uint64_t> newest{0};  // writers
};

// One background job; the base of the compactor and the syncer.
class Background {
 public:
  virtual ~Background() = default;
  void Start();
  void Stop();
  void Kick() { kicks_.fetch_add(1, std::memory_order_relaxed); }

 protected:
  virtual bool RunOnce() = 0;
  std::atomic<std::uint64_t> kicks_{0};  // by writers
  std::uint64_t seen_kicks_ = 0;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class DB;

class Compactor : public Background {
 public:
  explicit Compactor(DB* db) : db_(db) {}
  std::uint64_t passes() const { return passes_; }
  std::uint64_t moved() const { return moved_; }

 private:
  bool RunOnce() override;
  DB* const db_;
  std::uint64_t passes_ = 0;
  std::uint64_t moved_ = 0;
};

class Syncer : public Background {
 public:
  explicit Syncer(Wal* wal) : wal_(wal) {}

 private:
  bool RunOnce() override { return wal_->SyncOnce(); }
  Wal* const wal_;
};

class DB {
 public:
  explicit DB(const Options& options);
  ~DB();

  void Put(std::uint32_t key, std::string_view value);
  std::optional<std::uint64_t> Get(std::uint32_t key);
  void CompactOnce(std::uint64_t* moved);
  void Dump(std::FILE* f) const;
  std::uint64_t sequence() const { return sequence_.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<const Table> CurrentTable() const { return std::atomic_load(&table_); }

  // Readers look at these for every Get.
  alignas(64) Options options_;
  std::atomic<std::uint64_t> sequence_{0};
  alignas(64) std::shared_ptr<const Table> table_;
  std::unique_ptr<MemTable> mem_;
  std::unique_ptr<BlockCache> cache_;
  alignas(64) Wal wal_;
  alignas(64) SnapshotRange range_;
  alignas(64) std::unique_ptr<Compactor> compactor_;
  std::unique_ptr<Syncer> syncer_;
  std::mutex error_mu_;
  std::string last_error_;
};

}  // namespace lsmkv
