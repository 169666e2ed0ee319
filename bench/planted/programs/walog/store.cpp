#include "store.hpp"
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace walog {

void Shard::bump(uint32_t page, uint32_t value) {
    std::lock_guard<std::mutex> guard(lock);
    version++;
    cells[page / kShards] = value;
}

Store::Store(Log &log, unsigned clients)
    : log_(log), stats_(clients), shards_(kShards), dirty_(kPages), latency_(clients) {
    for (auto &s : shards_)
        s.cells = new uint32_t[64]();
    started_ns_ = std::chrono::steady_clock::now().time_since_epoch().count();
}

Store::~Store() {
    for (auto &s : shards_)
        delete[] s.cells;
}

void Store::client(unsigned id, long rounds) {
    uint32_t r = 77 + id * 7919;
    unsigned n = static_cast<unsigned>(stats_.size());
    for (long i = 0; i < rounds; i++) {
        r = r * 1103515245u + 12345u;
        uint32_t page = ((r >> 10) % (kPages / n - 1)) * n + id;
        Record rec;
        rec.page = page;
        rec.length = 32 + (r >> 20 & 255);
        shards_[page % kShards].bump(page, r);
        dirty_[page] = 1;
        uint64_t lsn = log_.append(rec);
        stats_[id].commits++;
        stats_[id].bytes += rec.length;
        latency_[id].bins[rec.length >> 5 & 15]++;
        while (lsn > log_.durable() + 256) {
            stats_[id].waits++;
            std::this_thread::yield();
        }
    }
}

void Store::flusher() {
    for (;;) {
        if (!log_.flush_group()) {
            if (log_.closed())
                break;
            std::this_thread::yield();
        }
    }
}

void Store::checkpointer() {
    unsigned at = 0;
    while (!done_.load(std::memory_order_acquire)) {
        for (unsigned k = 0; k < 16; k++) {
            at = (at + 1) % kPages;
            if (dirty_[at]) {
                dirty_[at] = 0;
                cleaned_++;
            }
        }
        checkpoint_at.store(log_.durable(), std::memory_order_relaxed);
        checkpoints_++;
        std::this_thread::yield();
    }
}

void Store::start(long rounds) {
    flusher_ = std::thread(&Store::flusher, this);
    checkpointer_ = std::thread([this] { checkpointer(); });
    for (unsigned i = 0; i < stats_.size(); i++)
        clients_.emplace_back(&Store::client, this, i, rounds);
}

void Store::finish() {
    for (auto &c : clients_)
        c.join();
    done_.store(true);
    log_.close();
    flusher_.join();
    checkpointer_.join();
}

void Store::report() const {
    for (unsigned i = 0; i < stats_.size(); i++)
        std::printf("client %u: %lu commits %lu bytes %lu waits\n", i, stats_[i].commits, stats_[i].bytes,
                    stats_[i].waits);
    std::printf("%lu checkpoints, %lu pages cleaned, at %lu\n", checkpoints_, cleaned_, checkpoint_at.load());
}

void Store::probe() const {
#ifdef TRUTH_PROBE
    PROBE("W2.a", &stats_[2].commits);
    PROBE("W2.b", &stats_[1].commits);
    PROBE("W5.a", &shards_[0].cells);
    PROBE("W5.b", &shards_[1].lock);
    PROBE("W6.a", &dirty_[0]);
    PROBE("W6.b", &dirty_[1]);
#endif
}

} // namespace walog
