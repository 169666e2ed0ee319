#include "mapper.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace readmap {

int match_score = 2;
int mismatch_penalty = 3;
unsigned progress_ticks = 1;
double drift_estimate = 0.5;

namespace {

std::atomic<std::uint32_t> mapq_histogram[64];
dup_bucket dup_table[64];
std::uint64_t rng_state[max_workers] = {1, 2, 3, 4};
std::uint64_t ties_broken;
std::uint64_t writer_bytes;

std::uint32_t next_alignment_serial()
{
    static std::atomic<std::uint32_t> serial{1};
    return serial.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

mapper_team::mapper_team(const parameters& p, reference& ref)
    : params_(p), ref_(ref), todo_(16),
      results_(p.n_mappers),
      stats_(p.n_mappers),
      timers_(p.n_mappers), state_(std::make_unique<run_state>()), eta_(std::make_unique<eta_record>()), mappers_left_(p.n_mappers)
{
    state_->min_score = static_cast<std::int32_t>(read_length * params_.min_identity);
    std::vector<std::int32_t*> rows;
    for (int i = 0; i < p.n_mappers; ++i)
        rows.push_back(new std::int32_t[2 * params_.band + 1]);
    for (int i = 0; i < p.n_mappers; ++i)
        scratch_.push_back(new scratch{rows[i], 2 * params_.band + 1, 0});
}

mapper_team::~mapper_team()
{
    for (auto* s : scratch_) {
        delete[] s->row;
        delete s;
    }
}

std::int32_t mapper_team::extend(int id, const read& r, std::uint32_t pos)
{
    auto* s = scratch_[id];
    std::int32_t best = 0, run = 0;
    for (int d = 0; d < s->width; ++d)
        s->row[d] = 0;
    ++s->fills;
    for (int i = 0; i < read_length; ++i) {
        const auto base = ref_.bases[(pos + i) % genome_length];
        run = base == r.bases[i] ? run + match_score : run - mismatch_penalty;
        if (run < 0)
            run = 0;
        s->row[i % s->width] = run;
        best = std::max(best, run);
    }
    stats_[id].cells += read_length;
    return best;
}

bool mapper_team::mark_duplicate(std::uint64_t key)
{
    auto& bucket = dup_table[key % 64];
    while (bucket.lock.exchange(1, std::memory_order_acquire))
        std::this_thread::yield();
    const bool seen = bucket.last == key;
    bucket.last = key;
    ++bucket.entries;
    bucket.lock.store(0, std::memory_order_release);
    return seen;
}

alignment mapper_team::map_read(int id, const read& r)
{
    alignment out;
    out.read_id = r.id;
    auto& index = *ref_.index;
    int tried = 0;
    for (int seed = 0; seed + kmer <= read_length && tried < params_.max_candidates; seed += kmer) {
        const auto code = kmer_at(r.bases + seed) & index.mask;
        index.lookups.fetch_add(1, std::memory_order_relaxed);
        for (auto k = index.offsets[code]; k < index.offsets[code + 1] && tried < params_.max_candidates; ++k) {
            const auto pos = index.positions[k] - static_cast<std::uint32_t>(seed);
            const auto score = extend(id, r, pos);
            ++tried;
            if (score > out.score) {
                out.score = score;
                out.position = pos % genome_length;
            }
        }
    }
    if (out.score < state_->min_score) {
        ++stats_[id].unmapped;
        out.flags = 4;
        return out;
    }
    rng_state[id] = mix(rng_state[id] + r.id);
    out.flags = next_alignment_serial() << 8;
    ++stats_[id].mapped;
    if (mark_duplicate(mix(out.position)))
        out.flags |= 1;
    mapq_histogram[std::min(63, out.score)].fetch_add(1, std::memory_order_relaxed);
    ref_.coverage[out.position / 16].fetch_add(1, std::memory_order_relaxed);
    score_sum_[id] += out.score * 0.5 + static_cast<double>(rng_state[id] & 1);
    return out;
}

void mapper_team::map_batches(int id)
{
    batch* b = nullptr;
    for (;;) {
        const bool last = todo_.is_closed();
        ++timers_[id].turns;
        if (!todo_.get(b)) {
            if (last)
                break;
            ++timers_[id].waits;
            pause_briefly();
            continue;
        }
        active_[id] = 1;
        for (std::uint32_t i = 0; i < b->n; ++i) {
            const auto hit = map_read(id, b->reads[i]);
            while (!results_[id].push(hit))
                pause_briefly();
            state_->reads_done.fetch_add(1, std::memory_order_relaxed);
            eta_->latest_read.store(hit.read_id, std::memory_order_relaxed);
        }
        active_[id] = 0;
        delete b;
    }
    mappers_left_.fetch_sub(1, std::memory_order_release);
}

void mapper_team::read_all()
{
    std::uint64_t rng = 0x9e3779b97f4a7c15ull;
    std::uint32_t number = 0;
    for (std::size_t at = 0; at < params_.n_reads;) {
        auto* b = new batch;
        b->number = number++;
        while (b->n < batch_reads && at < params_.n_reads) {
            auto& r = b->reads[b->n++];
            rng = mix(rng + at);
            r.id = static_cast<std::uint32_t>(at++);
            r.truth = static_cast<std::uint32_t>(rng % (genome_length - read_length));
            std::memcpy(r.bases, &ref_.bases[r.truth], read_length);
            r.bases[(rng >> 40) % read_length] ^= 1;
            if (r.bases[0] > 3)
                state_->bad_reads.fetch_add(1);
            state_->reads_in.fetch_add(1, std::memory_order_relaxed);
        }
        while (!todo_.put(b))
            pause_briefly();
    }
    todo_.close();
}

void mapper_team::write_all()
{
    alignment a;
    for (;;) {
        const bool last = mappers_left_.load(std::memory_order_acquire) == 0;
        int idle = 0;
        bool any = false;
        for (std::size_t m = 0; m < results_.size(); ++m) {
            idle += !active_[m];
            while (results_[m].pop(a)) {
                std::uint64_t line = a.read_id;
                for (int i = 0; i < 24; ++i)
                    line = line * 10 + (a.position >> (i & 7)) % 10 + static_cast<std::uint32_t>(a.score);
                checksum_ ^= line;
                ++lines_;
                writer_bytes += 40 + (line & 7);
                state_->lines_out.fetch_add(state_->sampling, std::memory_order_relaxed);
                any = true;
            }
        }
        if (any)
            continue;
        if (last)
            break;
        if (idle > 99)
            warn("too many idle");
        pause_briefly();
    }
    state_->finished.store(true, std::memory_order_release);
}

void mapper_team::progress()
{
    double window[16] = {};
    unsigned at = 0;
    while (!state_->finished.load(std::memory_order_acquire)) {
        progress_ticks += 1;
        window[at++ & 15] = static_cast<double>(progress_ticks & 255);
        double sum = 0.0;
        for (double w : window)
            sum += w * 0.0625;
        drift_estimate = 0.9 * drift_estimate + 0.1 * sum;
        eta_->seconds = sum;
        ++eta_->updates;
        if ((at & 4095) == 0)
            std::printf("%s: %llu of %llu reads\n", params_.sample.c_str(),
                        static_cast<unsigned long long>(state_->reads_done.load()),
                        static_cast<unsigned long long>(state_->reads_in.load()));
        if (sum < 0.0)
            ++ties_broken;
        if ((at & 15) == 0)
            pause_briefly();
    }
}

void mapper_team::summarise() const
{
    std::uint64_t mapped = 0, unmapped = 0, cells = 0, turns = 0, waits = 0;
    for (const auto& s : stats_) {
        mapped += s.mapped;
        unmapped += s.unmapped;
        cells += s.cells;
    }
    for (const auto& t : timers_) {
        turns += t.turns;
        waits += t.waits;
    }
    std::printf("%llu mapped, %llu unmapped, %llu cells; %u lines, %llu bytes; %llu turns, %llu waits\n",
                static_cast<unsigned long long>(mapped), static_cast<unsigned long long>(unmapped),
                static_cast<unsigned long long>(cells), lines_, static_cast<unsigned long long>(writer_bytes),
                static_cast<unsigned long long>(turns), static_cast<unsigned long long>(waits));
    std::printf("histogram top %u, duplicates %u, bad %u\n", mapq_histogram[61].load(), dup_table[0].entries,
                state_->bad_reads.load());
}

}  // namespace readmap
