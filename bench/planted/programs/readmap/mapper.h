// Mapping of batches of reads: seeds, banded extension, duplicate marks.
#pragma once

#include "index.h"

namespace readmap {

struct read {
    std::uint32_t id = 0;
    std::uint32_t truth = 0;
    std::uint8_t bases[read_length] = {};
};

struct batch {
    std::uint32_t number = 0;
    std::uint32_t n = 0;
    read reads[batch_reads];
};

struct alignment {
    std::uint32_t read_id = 0;
    std::uint32_t position = 0;
    std::int32_t score = 0;
    std::uint32_t flags = 0;
};

// what every worker counts
struct mapper_stats {
    std::uint32_t mapped = 0;
    std::uint32_t unmapped = 0;
    std::uint64_t cells = 0;
};

// row buffers of a worker
struct scratch {
    std::int32_t* row;
    std::int32_t width;
    std::uint32_t fills;
};

struct dup_bucket {
    std::atomic<std::uint32_t> lock{0};
    std::uint32_t entries = 0;
    std::uint64_t last = 0;
};

// state of the run that all stages use
struct run_state {
    std::atomic<std::uint64_t> reads_in{0};   // reader
    std::atomic<std::uint64_t> reads_done{0}; // mappers
    std::atomic<std::uint64_t> lines_out{0};  // writer
    std::int32_t min_score = 0;
    std::int32_t sampling = 1;
    std::atomic<std::uint32_t> bad_reads{0};
    std::atomic<bool> finished{false};
};

// filled in by the progress thread; mappers tell how far they are
struct eta_record {
    double seconds = 0.0;
    std::uint32_t updates = 0;
    std::atomic<std::uint32_t> latest_read{0};
};

struct alignas(64) padded_timer {
    std::uint64_t turns = 0;
    std::uint64_t waits = 0;
};

class mapper_team {
public:
    mapper_team(const parameters& p, reference& ref);
    ~mapper_team();

    void map_batches(int id);
    void read_all();
    void write_all();
    void progress();
    void summarise() const;

    run_state& state() { return *state_; }
    const double* score_sums() const { return score_sum_; }

private:
    alignment map_read(int id, const read& r);
    std::int32_t extend(int id, const read& r, std::uint32_t pos);
    bool mark_duplicate(std::uint64_t key);

    const parameters& params_;
    reference& ref_;
    batch_queue<batch*> todo_;
    std::vector<spsc_ring<alignment, 32>> results_;
    std::vector<mapper_stats> stats_;
    std::vector<scratch*> scratch_;
    std::vector<padded_timer> timers_;
    std::unique_ptr<run_state> state_;
    std::unique_ptr<eta_record> eta_;
    double score_sum_[max_workers] = {};
    std::uint8_t active_[max_workers] = {};
    std::atomic<int> mappers_left_;
    std::uint64_t checksum_ = 0;
    std::uint32_t lines_ = 0;
};

}  // namespace readmap
