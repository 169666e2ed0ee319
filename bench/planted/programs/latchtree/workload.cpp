#include "workload.hpp"

#include <cstdio>
#include <functional>

#include "counters.hpp"

namespace lt {

namespace {
thread_local std::uint64_t steps_here = 0;
// Gives the others a chance every few operations.
inline void pause(int i)
{
    if ((i & 7) == 7)
        std::this_thread::yield();
}

enum phase : std::uint8_t { idle, working, finished };
} // namespace

workload::workload(btree& tree, page_store& store, epoch_domain& epochs, const options& o)
    : tree_(tree), store_(store), epochs_(epochs), options_(o),
      random_(o.writers + o.readers), cursors_(2), sums_(o.writers + o.readers),
      phase_(o.writers + o.readers + 1, idle)
{
    for (std::size_t i = 0; i < random_.size(); ++i)
        random_[i].seed(static_cast<unsigned>(i + 3));
    // Filled before there are any threads.
    for (std::uint32_t k = 0; k < o.keys; ++k)
        tree_.put((k * 37) % o.keys, k);
}

void workload::arrive()
{
    waiting_.fetch_sub(1);
    while (waiting_.load() > 0)
        std::this_thread::yield();
}

std::uint32_t workload::next_key(int tid)
{
    ++steps_here;
    return static_cast<std::uint32_t>(random_[tid]()) % options_.keys;
}

void workload::write_loop(int tid)
{
    arrive();
    for (int i = 0; i < options_.operations; ++i) {
        epoch_guard guard(epochs_, tid);
        phase_[tid] = working;
        tree_.put(next_key(tid), static_cast<std::uint32_t>(i));
        if ((i & 3) == 0)
            epochs_.retire();
        ++sums_[tid].operations;
        pause(i);
        phase_[tid] = idle;
    }
    phase_[tid] = finished;
    sums_[tid].steps = steps_here;
}

void workload::read_loop(int tid)
{
    std::uint64_t found = 0;
    arrive();
    for (int i = 0; i < options_.operations; ++i) {
        epoch_guard guard(epochs_, tid);
        phase_[tid] = working;
        if (tree_.get(next_key(tid)))
            ++found;
        ++sums_[tid].operations;
        pause(i);
        phase_[tid] = idle;
    }
    phase_[tid] = finished;
    sums_[tid].steps = steps_here + found;
}

void workload::scan_loop(int tid)
{
    cursor& c = cursors_[0];
    arrive();
    while (!control_.stop.load(std::memory_order_acquire)) {
        epoch_guard guard(epochs_, tid);
        const std::uint64_t sum = tree_.scan(c.position % options_.keys, 6);
        c.position += 5;
        c.digest = c.digest * 3 + sum;
        ++c.rounds;
        std::this_thread::yield();
    }
}

void workload::checkpoint_loop()
{
    cursor& c = cursors_[1];
    arrive();
    while (!control_.stop.load(std::memory_order_acquire)) {
        const std::uint32_t dirty = store_.flush_some(c.position, 4);
        c.position += 4;
        c.digest += dirty;
        ++c.rounds;
        control_.checkpoints.fetch_add(1, std::memory_order_relaxed);
        control_.dirty_seen = dirty;
        std::this_thread::yield();
    }
}

void workload::reclaim_loop()
{
    arrive();
    while (!control_.stop.load(std::memory_order_acquire)) {
        epochs_.try_advance();
        std::this_thread::yield();
    }
}

void workload::run()
{
    const int clients = options_.writers + options_.readers;
    std::vector<std::thread> threads;
    std::vector<std::thread> services;
    waiting_ = clients + 3;
    for (int t = 0; t < clients; ++t) {
        auto body = t < options_.writers ? &workload::write_loop : &workload::read_loop;
        threads.emplace_back(std::mem_fn(body), this, t);
    }
    services.emplace_back(&workload::scan_loop, this, clients);
    services.emplace_back(&workload::checkpoint_loop, this);
    services.emplace_back(&workload::reclaim_loop, this);
    for (auto& t : threads)
        t.join();
    control_.stop.store(true, std::memory_order_release);
    for (auto& t : services)
        t.join();
}

void workload::print() const
{
    std::uint64_t operations = 0;
    for (const auto& s : sums_)
        operations += s.operations;
    std::printf("operations %llu puts %llu gets %llu corrupt %llu\n",
                static_cast<unsigned long long>(operations),
                static_cast<unsigned long long>(counter<put_tag>::read()),
                static_cast<unsigned long long>(counter<get_tag>::read()),
                static_cast<unsigned long long>(counter<corrupt_tag>::read()));
    std::printf("pages %zu splits %u modifications %u scans %s checkpoints %s epochs %s\n",
                store_.used(), tree_.splits(), tree_.modifications(),
                cursors_[0].rounds ? "yes" : "no",
                control_.checkpoints.load() ? "yes" : "no", epochs_.epochs() > 1 ? "moved" : "still");
}

} // namespace lt
