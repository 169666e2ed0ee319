#include "cluster.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace raft {

namespace {

enum Slot : std::size_t { kLeaderSlot = 0, kApplySlot = 3, kClientSlot = 6, kTickSlot = 8, kSnapSlot = 9, kSlots = 10 };

std::uint32_t next_random(std::uint32_t& state) noexcept
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

}  // namespace

Cluster::Cluster(Ref<Options> options)
    : options_(options), stats_(kSlots), lanes_(std::make_unique<LaneCounters[]>(kSlots)),
      sessions_(std::make_unique<ClientSession[]>(kClients)),
      snapshot_(std::make_unique<Snapshot>()),
      names_(kSlots), ready_(kSlots)
{
    for (std::uint32_t n = 0; n < kNodes; ++n)
        nodes_[n] = std::make_unique<Node>(*this, n);
    backoffs_.reserve(kSlots);
    for (std::uint32_t n = 0; n < kSlots; ++n)
        backoffs_.push_back(std::make_unique<Backoff>(n * 7919u + 1));
    for (std::uint32_t n = 0; n < kClients; ++n)
        sessions_[n].id = n;
}

template <class Fn>
void Cluster::spawn(std::size_t slot, Fn&& fn)
{
    threads_.emplace_back([this, slot, fn = std::forward<Fn>(fn)] {
        ThreadSlot::enter(slot);
        names_[slot] = "thread-" + std::to_string(slot);
        ready_.arrive_and_wait();
        fn();
    });
}

void Cluster::client_loop(std::uint32_t id, std::uint32_t count)
{
    auto& session = sessions_[id];
    std::uint32_t state = 88172645u + id;
    std::uint64_t sum = 0;
    const auto& machine = nodes_[0]->machine();
    for (std::uint32_t n = 1; n <= count; ++n) {
        const auto draw = next_random(state);
        const Command command{id, n, draw >> 7, draw & 255};
        while (n - session.acked.load(std::memory_order_acquire) > 32)
            backoff().idle();
        if (nodes_[0]->role() != Role::leader)
            log_line("leader has changed");
        while (!proposals[id].try_push(command))
            backoff().idle();
        session.sent.store(n, std::memory_order_relaxed);
        sum += next_request_id() & 1;
        const auto held = options();
        for (std::uint32_t r = 0; r < held->read_every * 3; ++r)
            sum += machine.lookup(next_random(state) >> 9);
        snapshot_->readers.fetch_add(1, std::memory_order_relaxed);
        Metrics<MessagesTag>::add();
        backoff().worked();
        ++stat().items;
        ++lane().turns;
    }
    while (session.acked.load(std::memory_order_acquire) != count)
        backoff().idle();
    stat().largest = static_cast<std::uint32_t>(sum & 0xffff);
}

void Cluster::ticker_loop()
{
    std::array<std::uint32_t, 16> wheel{};
    std::uint32_t at = 1;
    while (!stopping()) {
        const auto now = ticks_.fetch_add(1, std::memory_order_relaxed) + 1;
        for (int i = 0; i < 24; ++i)
            at = at * 1664525u + wheel[at >> 28]++;
        for (std::size_t n = 0; n < kNodes; ++n) {
            if (heard_[n].load(std::memory_order_relaxed))
                heard_[n].store(false, std::memory_order_relaxed);
            nodes_[n]->tick();
        }
        if ((now & 0x1fff) == 0)
            report(now);
        if ((now & 15) == 0)
            backoff().idle();
        backoff().worked();
    }
}

void Cluster::snapshot_loop()
{
    std::uint64_t sum = 0;
    std::size_t turn = 0;
    while (!stopping()) {
        auto& node = *nodes_[turn++ % kNodes];
        const Index applied = node.applied_index();
        const Index first = node.log().first();
        if (applied < first + options_->compact_after / 4) {
            backoff().idle();
            continue;
        }
        if (applied - first > max_lag_)
            ++snapshot_->failures;
        for (Index i = first; i < first + 4; ++i) {
            sum += node.log().at(i).digest;
            node.log().compact_to(i + 1);
            snapshot_->last_included.store(i, std::memory_order_relaxed);
        }
        backoff().worked();
        ++stat().items;
        ++lane().turns;
    }
    snapshot_->checksum = sum;
}

void Cluster::report(std::uint64_t at)
{
    char text[96];
    std::snprintf(text, sizeof text, "tick %llu: commit %llu applied %llu", static_cast<unsigned long long>(at),
                  static_cast<unsigned long long>(nodes_[0]->commit_index()),
                  static_cast<unsigned long long>(nodes_[0]->applied_index()));
    log_line(text);
}

void Cluster::run(std::uint32_t proposals_each)
{
    spawn(kLeaderSlot, [this] { nodes_[0]->lead(); });
    for (std::size_t n = 1; n < kNodes; ++n)
        spawn(kLeaderSlot + n, [this, n] { nodes_[n]->follow(); });
    for (std::size_t n = 0; n < kNodes; ++n)
        spawn(kApplySlot + n, [this, n] { nodes_[n]->apply_loop(); });
    spawn(kTickSlot, [this] { ticker_loop(); });
    spawn(kSnapSlot, [this] { snapshot_loop(); });
    for (std::uint32_t c = 0; c < kClients; ++c)
        spawn(kClientSlot + c, [this, c, proposals_each] { client_loop(c, proposals_each); });
    for (std::size_t c = 0; c < kClients; ++c)
        threads_[kSlots - kClients + c].join();
    stop_.flag.store(true, std::memory_order_relaxed);
    for (std::size_t t = 0; t < kSlots - kClients; ++t)
        threads_[t].join();
    const auto items = std::accumulate(stats_.begin(), stats_.end(), std::uint64_t{0},
                                       [](auto sum, const auto& stat) { return sum + stat.items; });
    for (std::size_t s = 0; s < kSlots; ++s)
        std::printf("%s: %llu turns, %u waits\n", names_[s].c_str(), static_cast<unsigned long long>(lanes_[s].turns),
                    backoffs_[s]->waits());
    std::printf("%llu items, %llu messages, %llu retries, %u elections, snapshot at %llu, %zu lines\n",
                static_cast<unsigned long long>(items),
                static_cast<unsigned long long>(Metrics<MessagesTag>::total()),
                static_cast<unsigned long long>(Metrics<RetriesTag>::total()), nodes_[0]->elections(),
                static_cast<unsigned long long>(snapshot_->last_included.load()), log_lines());
}

}  // namespace raft
