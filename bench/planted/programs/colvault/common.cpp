#include "common.h"

#include <cstdarg>
#include <charconv>

namespace colvault {

LogLevel g_log_level = LogLevel::kInfo;
std::atomic<std::uint32_t> g_snapshot_version{1};
std::atomic<std::uint32_t> g_queries_done{0};
std::atomic<bool> g_stop{false};
ScanTotals g_scan_totals;

namespace {
std::mutex log_mutex;
int log_lines = 0;

const char* LevelName(LogLevel l) {
  switch (l) {
    case LogLevel::kError: return "E";
    case LogLevel::kWarn: return "W";
    case LogLevel::kInfo: return "I";
    case LogLevel::kTrace: return "T";
  }
  return "?";
}
}  // namespace

void LogLine(LogLevel level, const char* fmt, ...) {
  std::lock_guard<std::mutex> guard(log_mutex);
  std::fprintf(stderr, "%s ", LevelName(level));
  va_list ap;
  va_start(ap, fmt);
  std::vfprintf(stderr, fmt, ap);
  va_end(ap);
  std::fputc('\n', stderr);
  ++log_lines;
}

void SpinLock::Relax() noexcept {
  int turns = 0;
  while (held_.load(std::memory_order_relaxed)) {
    if (++turns > 40) {
      std::this_thread::yield();
      turns = 0;
    }
  }
}

bool SettingsRegistry::Apply(std::string_view key, std::string_view value) {
  int n = 0;
  std::from_chars(value.data(), value.data() + value.size(), n);
  if (key == "scan_workers") {
    settings_.scan_workers = n;
  } else if (key == "sessions") {
    settings_.sessions = n;
  } else if (key == "rounds") {
    settings_.rounds = n;
  } else if (key == "merge_threshold") {
    settings_.merge_threshold = static_cast<std::uint32_t>(n);
  } else if (key == "data_dir") {
    settings_.data_dir = std::string(value);
  } else {
    ++unknown_keys_;
    return false;
  }
  return true;
}

}  // namespace colvault
