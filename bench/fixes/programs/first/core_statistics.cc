// Counters of a storage engine, one set for each core, chosen by the core that the caller runs on.
// about: StatisticsData
#include <atomic>
#include <cstdint>
#include <memory>
#include <sched.h>
#include <string>
#include <thread>

enum Tickers : uint32_t { BLOCK_CACHE_MISS, BLOCK_CACHE_HIT, BYTES_READ, BYTES_WRITTEN, MEMTABLE_HIT, TICKER_MAX };

template <typename T> class CoreLocalArray {
public:
  CoreLocalArray() {
    int cpus = static_cast<int>(std::thread::hardware_concurrency());
    shift_ = 3;
    while (1 << shift_ < cpus)
      ++shift_;
    data_.reset(new T[static_cast<size_t>(1) << shift_]);
  }
  size_t Size() const { return static_cast<size_t>(1) << shift_; }
  T *Access() const {
    int cpu = sched_getcpu();
    return &data_[static_cast<size_t>(cpu) & ((1 << shift_) - 1)];
  }
  T *AccessAtCore(size_t core) const { return &data_[core]; }

private:
  std::unique_ptr<T[]> data_;
  int shift_;
};

class Statistics {
public:
  void RecordTick(uint32_t ticker, uint64_t count);
  uint64_t GetTickerCount(uint32_t ticker) const;

private:
#ifdef FIXED
  struct alignas(64) StatisticsData {
#else
  struct StatisticsData {
#endif
    std::atomic_uint_fast64_t tickers_[TICKER_MAX] = {};
  };
  CoreLocalArray<StatisticsData> per_core_stats_;
#ifdef EDIT
  std::string name_;
#endif
};

void Statistics::RecordTick(uint32_t ticker, uint64_t count) {
  per_core_stats_.Access()->tickers_[ticker].fetch_add(count, std::memory_order_relaxed);
}

uint64_t Statistics::GetTickerCount(uint32_t ticker) const {
  uint64_t sum = 0;
  for (size_t core = 0; core < per_core_stats_.Size(); ++core)
    sum += per_core_stats_.AccessAtCore(core)->tickers_[ticker].load(std::memory_order_relaxed);
  return sum;
}
