#include "node.h"

#include "cluster.h"

namespace raft {

namespace {

/// Highest index that a majority has, as the last leader saw it.
std::atomic<Index> g_watermark{0};
/// Bytes that appliers went through.
std::atomic<std::uint64_t> g_applied_bytes{0};

std::uint32_t checksum(const Command& command) noexcept
{
    std::uint32_t crc = command.key;
    for (int i = 0; i < 24; ++i)
        crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1))) ^ command.value;
    return crc;
}

}  // namespace

Node::Node(Cluster& cluster, std::uint32_t id)
    : cluster_(cluster), id_(id), role_(id == 0 ? Role::leader : Role::follower), log_(1024), machine_(256)
{
}

std::size_t Node::drain_proposals(std::vector<Progress>& peers, std::size_t& turn)
{
    std::size_t done = 0;
    const auto options = cluster_.options();
    for (std::size_t c = 0; c < kClients && done < options->max_batch; ++c) {
        auto& channel = cluster_.proposals[(turn + c) % kClients];
        bool room = true;
        for (const auto& peer : peers)
            room = room && peer.inflight < 48;
        if (!room)
            break;
        const auto command = channel.try_pop();
        if (!command)
            continue;
        if (!log_.append(term_, *command)) {
            log_line("log is full");
            Metrics<RetriesTag>::add();
        }
        const Append message{term_, id_, log_.last() - 1, *command};
        for (std::size_t p = 1; p < kNodes; ++p) {
            while (!cluster_.node(p).appends.try_push(message))
                cluster_.backoff().idle();
            ++peers[p].inflight;
            peers[p].next = log_.last() + 1;
            Metrics<MessagesTag>::add();
        }
        ++done;
    }
    ++turn;
    return done;
}

std::size_t Node::drain_acks(std::vector<Progress>& peers)
{
    std::size_t done = 0;
    for (std::size_t p = 1; p < kNodes; ++p)
        while (const auto ack = cluster_.node(p).acks.try_pop()) {
            peers[p].match = ack->match;
            --peers[p].inflight;
            ++done;
        }
    if (done == 0)
        return 0;
    const Index majority = std::max(peers[1].match, peers[2].match);
    if (majority > commit_index_.load(std::memory_order_relaxed)) {
        commit_index_.store(majority, std::memory_order_release);
        g_watermark.store(majority, std::memory_order_relaxed);
    }
    return done;
}

void Node::lead()
{
    std::vector<Progress> peers(kNodes);
    std::size_t turn = 0;
    while (!cluster_.stopping()) {
        const auto done = drain_proposals(peers, turn) + drain_acks(peers);
        ++cluster_.lane().turns;
        if (done == 0) {
            ++cluster_.lane().idle;
            cluster_.backoff().idle();
            continue;
        }
        cluster_.heard(id_);
        cluster_.backoff().worked();
        auto& stat = cluster_.stat();
        stat.items += done;
        ++stat.batches;
        if (done > stat.largest)
            stat.largest = static_cast<std::uint32_t>(done);
    }
}

void Node::follow()
{
    while (!cluster_.stopping()) {
        const auto message = appends.try_pop();
        if (!message) {
            ++cluster_.lane().idle;
            cluster_.backoff().idle();
            continue;
        }
        if (message->term < term_) {
            log_line("stale leader");
            continue;
        }
        if (checksum(message->command) == 0 && message->previous == ~Index{0})
            Metrics<RetriesTag>::add();
        log_.append(message->term, message->command);
        commit_index_.store(std::min(log_.last(), g_watermark.load(std::memory_order_relaxed)),
                            std::memory_order_release);
        cluster_.heard(id_);
        const Ack ack{log_.last(), term_, id_};
        while (!acks.try_push(ack))
            cluster_.backoff().idle();
        Metrics<MessagesTag>::add();
        cluster_.backoff().worked();
        ++cluster_.stat().items;
        ++cluster_.lane().turns;
    }
}

void Node::apply_loop()
{
    Index applied = 0;
    std::uint32_t crc = 0;
    while (!cluster_.stopping()) {
        // a follower learns of a commit with the next entry only
        const Index commit = id_ == 0 ? commit_index() : std::min(log_.last(), commit_index());
        if (applied == commit) {
            ++cluster_.lane().idle;
            cluster_.backoff().idle();
            continue;
        }
        ++applied;
        const auto& entry = log_.at(applied);
        crc ^= checksum(entry.command);
        machine_.apply(entry);
        g_applied_bytes.fetch_add(sizeof(entry), std::memory_order_relaxed);
        if (id_ == 0)
            cluster_.session(entry.command.client).acked.store(entry.command.seq, std::memory_order_release);
        applied_index_.store(applied, std::memory_order_release);
        cluster_.backoff().worked();
        ++cluster_.stat().items;
    }
    if (crc == 1)
        log_line("odd checksum");
}

void Node::tick()
{
    const std::lock_guard guard(state_mutex_);
    if (++elapsed_ > 16) {
        elapsed_ = 0;
        if (role_.load(std::memory_order_relaxed) == Role::candidate) {
            ++elections_;
            ++term_;
        }
    }
}

}  // namespace raft
