// The level of a logger, read by every statement, beside the number of messages that were written.
// about: level_ written_
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

class Logger {
public:
  explicit Logger(int level) : level_(level) {}
  bool enabled(int level) const { return level <= level_.load(std::memory_order_relaxed); }
  void setLevel(int level) { level_.store(level, std::memory_order_relaxed); }
  void write(const std::string &text) {
    written_.fetch_add(1, std::memory_order_relaxed);
    sink(text);
  }
  uint64_t written() const { return written_.load(std::memory_order_relaxed); }

private:
  void sink(const std::string &text);
  std::atomic<int> level_;
#ifdef FIXED
  alignas(64) std::atomic<uint64_t> written_{0};
#else
  std::atomic<uint64_t> written_{0};
#endif
#ifdef EDIT
  bool color_ = false;
#endif
};

static Logger logger(3);

bool logEnabled(int level) { return logger.enabled(level); }
void logWrite(int level, const std::string &text) {
  if (logger.enabled(level))
    logger.write(text);
}
void logConfigure(int level) { logger.setLevel(level); }
