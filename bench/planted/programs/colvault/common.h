// Common helpers: logging, spin lock, metrics, settings.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace colvault {

using RowId = std::uint32_t;
using Value = std::int64_t;

inline constexpr int kMaxWorkers = 4;
inline constexpr int kBlockRows = 64;
inline constexpr std::size_t kCacheLine = 64;

enum class LogLevel { kError, kWarn, kInfo, kTrace };
extern LogLevel g_log_level;
void LogLine(LogLevel level, const char* fmt, ...) __attribute__((format(printf, 2, 3)));

#define CV_LOG(level, ...)                                             \
  do {                                                                 \
    if (::colvault::LogLevel::level <= ::colvault::g_log_level)        \
      ::colvault::LogLine(::colvault::LogLevel::level, __VA_ARGS__);   \
  } while (0)

/// Test-and-test-and-set lock for the short critical sections.
class SpinLock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) Relax();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }

 private:
  void Relax() noexcept;
  std::atomic<bool> held_{false};
};

struct Settings {
  int scan_workers = 3;
  int sessions = 2;
  int rounds = 60000;
  std::uint32_t merge_threshold = 192;
  std::string data_dir = "/var/lib/colvault";
};

/// Looks after the engine's read-mostly settings and counts how often
/// somebody had to look something up by name.
class SettingsRegistry {
 public:
  explicit SettingsRegistry(const Settings& s) : settings_(s) {}
  const Settings& get() const noexcept { return settings_; }
  bool Apply(std::string_view key, std::string_view value);

 private:
  Settings settings_;
  int unknown_keys_ = 0;
};

/// Counters by worker; Tag only serves to make different sets.
template <typename Tag>
class PerWorker {
 public:
  static void Add(int worker, std::uint32_t n) noexcept { cells[static_cast<std::size_t>(worker)] += n; }
  static std::uint64_t Sum() noexcept {
    std::uint64_t s = 0;
    for (auto c : cells) s += c;
    return s;
  }
  static inline std::array<std::uint32_t, kMaxWorkers> cells{};
};

struct RowsScannedTag {};
struct RowsMatchedTag {};
using RowsScanned = PerWorker<RowsScannedTag>;
using RowsMatched = PerWorker<RowsMatchedTag>;

template <typename T>
struct alignas(kCacheLine) Padded {
  T value{};
};

/// Totals of all scans; on a line of their own, everybody adds to them.
struct alignas(kCacheLine) ScanTotals {
  std::atomic<std::uint64_t> bytes{0};
};
extern ScanTotals g_scan_totals;

extern std::atomic<std::uint32_t> g_snapshot_version;
extern std::atomic<std::uint32_t> g_queries_done;
extern std::atomic<bool> g_stop;

}  // namespace colvault
