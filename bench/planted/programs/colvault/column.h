// Columns: immutable encoded blocks plus a small write buffer.
#pragma once

#include <stdexcept>
#include <unordered_map>

#include "common.h"

namespace colvault {

struct ZoneMap {
  Value min = 0;
  Value max = 0;
};

/// One block of kBlockRows values with its statistics.
class Block {
 public:
  Block() = default;
  void Fill(std::uint32_t seed, Value modulus);
  Value at(int i) const noexcept { return base_ + data_[static_cast<std::size_t>(i)]; }
  const ZoneMap& zone() const noexcept { return zone_; }
  void Pin() noexcept { pins_.fetch_add(1, std::memory_order_relaxed); }
  void Unpin() noexcept { pins_.fetch_sub(1, std::memory_order_release); }
  void Touch(std::uint32_t now) noexcept { last_used_.store(now, std::memory_order_relaxed); }
  std::uint32_t Verify() const noexcept;
  std::uint32_t last_used() const noexcept { return last_used_.load(std::memory_order_relaxed); }

 private:
  std::array<std::int16_t, kBlockRows> data_{};
  Value base_ = 0;
  ZoneMap zone_;
  std::atomic<std::uint32_t> pins_{0};
  std::atomic<std::uint32_t> last_used_{0};
  std::uint32_t checksum_ = 0;
};

/// Values that have been appended but not merged yet.
template <typename T, std::size_t N>
class AppendRing {
 public:
  bool Push(const T& v) noexcept {
    const auto w = write_.load(std::memory_order_relaxed);
    if (w - read_.load(std::memory_order_acquire) == N) {
      ++refused_;
      return false;
    }
    items_[w % N] = v;
    write_.store(w + 1, std::memory_order_release);
    return true;
  }
  bool Pop(T& v) noexcept {
    const auto r = read_.load(std::memory_order_relaxed);
    if (r == write_.load(std::memory_order_acquire)) return false;
    v = items_[r % N];
    read_.store(r + 1, std::memory_order_release);
    return true;
  }
  std::uint32_t backlog() const noexcept {
    return write_.load(std::memory_order_relaxed) - read_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint32_t> write_{0};
  std::atomic<std::uint32_t> read_{0};
  std::uint32_t refused_ = 0;
  std::array<T, N> items_{};
};

class Column {
 public:
  Column(std::string name, int blocks, Value modulus);
  const std::string& name() const noexcept { return name_; }
  Block& block(std::size_t i) noexcept { return *blocks_[i]; }
  std::size_t block_count() const noexcept { return blocks_.size(); }
  void CountScan() noexcept { scans_.fetch_add(1, std::memory_order_relaxed); }
  std::uint32_t scans() const noexcept { return scans_.load(); }

 private:
  std::string name_;
  Value modulus_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::atomic<std::uint32_t> scans_{0};
};

struct AppendRow {
  std::uint32_t column;
  std::uint32_t session;
  Value value;
};

class Table {
 public:
  static std::shared_ptr<Table> Create(const std::string& name, int columns, int blocks);
  Table(std::string name, int columns, int blocks);

  Column& column(std::size_t i) noexcept { return *columns_[i]; }
  Column* Find(const std::string& name) noexcept;
  std::size_t column_count() const noexcept { return columns_.size(); }

  void Append(Value v) noexcept {
    std::lock_guard<SpinLock> guard(delta_lock_);
    delta_sum_ += v;
    if (++delta_rows_ > delta_peak_) delta_peak_ = delta_rows_;
  }
  std::uint32_t TakeDelta() noexcept {
    std::lock_guard<SpinLock> guard(delta_lock_);
    const auto n = delta_rows_;
    delta_rows_ = 0;
    merged_sum_ += delta_sum_;
    delta_sum_ = 0;
    return n;
  }
  std::uint32_t row_version() const noexcept { return row_version_; }
  std::uint32_t live_blocks() const noexcept { return live_blocks_; }
  Value merged_sum() const noexcept { return merged_sum_; }

 private:
  std::string name_;
  std::vector<std::unique_ptr<Column>> columns_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::uint32_t row_version_ = 7;
  std::uint32_t live_blocks_ = 0;
  SpinLock delta_lock_;
  std::uint32_t delta_rows_ = 0;
  std::uint32_t delta_peak_ = 0;
  Value delta_sum_ = 0;
  Value merged_sum_ = 0;
};

}  // namespace colvault
