#include "wal.h"

namespace lsmkv {

std::uint64_t Wal::Append(std::uint32_t key, std::string_view value) {
  std::lock_guard<std::mutex> guard(mu_);
  if (segment_.size() + value.size() + 4 > segment_size_)
    segment_.clear();
  segment_.push_back(static_cast<char>(key));
  segment_.push_back(static_cast<char>(value.size()));
  segment_.append(value.substr(0, 8));
  return appended_.fetch_add(value.size() + 4, std::memory_order_relaxed);
}

bool Wal::SyncOnce() {
  const std::uint64_t target = appended_.load(std::memory_order_relaxed);
  std::uint64_t done = synced_.load(std::memory_order_relaxed);
  if (done == target) return false;
  while (done < target) {
    done += 64;
    if (done > target) done = target;
    synced_.store(done, std::memory_order_relaxed);
  }
  sync_calls_++;
  return true;
}

}  // namespace lsmkv
