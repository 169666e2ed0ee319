// Memtable and immutable table.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace lsmkv {

// Open hash of versioned slots; the memtable is replaced before it is full.
struct MemSlot {
  std::atomic<std::uint32_t> key{0};
  std::atomic<std::uint32_t> version{0};
  std::atomic<std::uint64_t> value{0};
};

class MemTable {
 public:
  explicit MemTable(std::size_t slots) : mask_(slots - 1), slots_(slots) {}

  void Put(std::uint32_t key, std::uint64_t value) {
    MemSlot& s = slots_[key & mask_];
    s.key.store(key, std::memory_order_relaxed);
    s.value.store(value, std::memory_order_release);
    s.version.fetch_add(1, std::memory_order_relaxed);
  }

  std::optional<std::uint64_t> Get(std::uint32_t key) const {
    const MemSlot& s = slots_[key & mask_];
    if (s.key.load(std::memory_order_acquire) != key) return std::nullopt;
    return s.value.load(std::memory_order_acquire);
  }

  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (const MemSlot& s : slots_)
      if (auto k = s.key.load(std::memory_order_relaxed)) fn(k, s.value.load());
  }

 private:
  const std::size_t mask_;
  std::vector<MemSlot> slots_;
};

// Sorted run.  Shared by readers (shared_ptr) until compaction drops it.
class Table {
 public:
  using Entry = std::pair<std::uint32_t, std::uint64_t>;

  explicit Table(std::vector<Entry> entries) : entries_(std::move(entries)) {
    std::sort(entries_.begin(), entries_.end());
    if (!entries_.empty()) {
      min_ = entries_.front().first;
      max_ = entries_.back().first;
    }
  }

  std::optional<std::uint64_t> Get(std::uint32_t key) const {
    if (key < min_ || key > max_) return std::nullopt;
    auto it = std::lower_bound(entries_.begin(), entries_.end(), Entry{key, 0});
    if (it == entries_.end() || it->first != key) return std::nullopt;
    return it->second;
  }

  std::size_t size() const { return entries_.size(); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::uint32_t min_ = 1;
  std::uint32_t max_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace lsmkv
