// readmap: short-read mapper with a thread pool.  Parameters and small helpers.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace readmap {

constexpr int max_workers = 4;
constexpr int read_length = 16;
constexpr int kmer = 6;
constexpr int batch_reads = 4;
constexpr std::size_t genome_length = 1 << 13;

struct parameters {
    std::size_t n_reads = 1000;
    int n_mappers = 3;
    int band = 4;
    int max_candidates = 2;
    double min_identity = 0.6;
    std::string sample = "sample-01";
};

// scoring scheme; tuned by the progress thread from what it sees
extern int match_score;
extern int mismatch_penalty;
extern unsigned progress_ticks;
extern double drift_estimate;

inline void pause_briefly() { std::this_thread::sleep_for(std::chrono::microseconds(30)); }

// 64-bit mixing
inline std::uint64_t mix(std::uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 29;
    return x;
}

void warn(const std::string& what);
std::size_t warnings();

}  // namespace readmap
