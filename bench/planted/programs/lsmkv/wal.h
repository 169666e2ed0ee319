// Write-ahead log.  Writers append under the mutex, the sync thread "syncs"
// what has been appended.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace lsmkv {

class Wal {
 public:
  explicit Wal(std::size_t segment_size) : segment_size_(segment_size) {
    segment_.reserve(segment_size);
  }

  // Returns the log sequence number behind the record.
  std::uint64_t Append(std::uint32_t key, std::string_view value);

  // Called by the sync thread only; returns true if there was work.
  bool SyncOnce();

  std::uint64_t appended() const { return appended_; }
  std::uint64_t synced() const { return synced_.load(std::memory_order_relaxed); }
  std::uint64_t sync_calls() const { return sync_calls_; }
  std::uint64_t io_errors() const { return io_errors_; }

 private:
  const std::size_t segment_size_;
  std::string segment_;                    // guarded by mu_
  std::mutex mu_;
  std::atomic<std::uint64_t> appended_{0};
  std::atomic<std::uint64_t> synced_{0};   // sync thread
  std::uint64_t sync_calls_ = 0;           // sync thread
  std::uint64_t io_errors_ = 0;
};

}  // namespace lsmkv
