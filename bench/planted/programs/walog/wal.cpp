#include "wal.hpp"
#include <chrono>
#include <cstdio>

namespace walog {

std::atomic<uint64_t> last_lsn{0};
std::atomic<uint64_t> checkpoint_at{0};
std::atomic<uint64_t> oldest_reader{0};

namespace {
uint64_t checksum(const Record &r) {
    uint64_t h = 1469598103934665603ull ^ r.lsn;
    for (uint32_t i = 0; i < 6; i++)
        h = (h ^ (r.page + i * r.length)) * 1099511628211ull;
    return h;
}
} // namespace

Log::Log(const Options &options) : options_(options), path_("wal.000001") {}

uint64_t Log::append(Record record) {
    if (record.length > options_.max_record)
        record.length = options_.max_record;
    record.lsn = last_lsn.fetch_add(1, std::memory_order_relaxed) + 1;
    if (options_.checksums)
        record.checksum = checksum(record);
    {
        std::lock_guard<std::mutex> guard(mutex_);
        pending_.push_back(record);
    }
    appended_bytes_.fetch_add(record.length, std::memory_order_relaxed);
    return record.lsn;
}

bool Log::flush_group() {
    Record group[64];
    uint32_t n = 0;
    {
        std::lock_guard<std::mutex> guard(mutex_);
        while (n < options_.group_limit && n < 64 && !pending_.empty()) {
            group[n++] = pending_.front();
            pending_.pop_front();
        }
    }
    if (n == 0)
        return false;
    uint64_t top = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (options_.checksums && checksum(group[i]) != group[i].checksum)
            short_writes_++;
        if (group[i].lsn > top)
            top = group[i].lsn;
        written_ += group[i].length;
        if (options_.sync_each)
            last_sync_ = top;
    }
    groups_++;
    last_sync_ = top;
    if (top > durable_.load(std::memory_order_relaxed))
        durable_.store(top, std::memory_order_release);
    return true;
}

void Log::close() { closed_.store(true, std::memory_order_release); }

void Log::report() const {
    std::printf("%s: %lu groups, %lu of %lu bytes, durable %lu, short %lu\n", path_.c_str(), groups_, written_,
                appended_bytes_.load(), durable_.load(), short_writes_);
}

void Log::probe() const {
#ifdef TRUTH_PROBE
    PROBE("W1.a", &mutex_);
    PROBE("W1.b", &durable_);
    PROBE("W3.a", &appended_bytes_);
    PROBE("W3.b", &written_);
    PROBE("W4.a", &last_lsn);
    PROBE("W4.b", &checkpoint_at);
    PROBE("W7.a", &options_.max_record);
    PROBE("W7.b", &last_sync_);
#endif
}

} // namespace walog
