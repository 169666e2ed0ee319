#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace walog {

struct Record {
    uint64_t lsn = 0;
    uint32_t page = 0;
    uint32_t length = 0;
    uint64_t checksum = 0;
};

struct Options {
    bool sync_each = false;
    bool checksums = true;
    uint32_t max_record = 512;
    uint32_t group_limit = 64;
};

extern std::atomic<uint64_t> last_lsn;      // appenders
extern std::atomic<uint64_t> checkpoint_at; // checkpointer
extern std::atomic<uint64_t> oldest_reader; // recovery only

class alignas(64) Log {
public:
    explicit Log(const Options &options);

    uint64_t append(Record record);
    bool flush_group();
    uint64_t durable() const { return durable_.load(std::memory_order_acquire); }
    void close();
    bool closed() const { return closed_.load(std::memory_order_acquire); }
    void report() const;
    void probe() const;

private:
    Options options_;
    uint64_t last_sync_ = 0;            // flusher, after each group
    std::atomic<uint64_t> durable_{0};  // flusher; everybody who commits reads
    std::mutex mutex_;
    std::deque<Record> pending_;
    uint64_t short_writes_ = 0;
    std::atomic<uint64_t> appended_bytes_{0}; // appenders
    uint64_t groups_ = 0;                     // flusher
    uint64_t written_ = 0;                    // flusher
    std::atomic<bool> closed_{false};
    std::string path_;
};

} // namespace walog
