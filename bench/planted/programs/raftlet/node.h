// One member of the cluster: consensus and apply loops, and what they share.
#pragma once

#include <latch>
#include <mutex>
#include <vector>

#include "machine.h"

namespace raft {

enum class Role : std::uint8_t { follower, candidate, leader };

struct Append {
    Term term = 0;
    std::uint32_t sender = 0;
    Index previous = 0;
    Command command;
};

struct Ack {
    Index match = 0;
    Term term = 0;
    std::uint32_t sender = 0;
};

/// What a cluster is told at its start; held by whoever uses it.
class Options : public RefCounted<Options> {
public:
    std::uint32_t max_batch = 16;
    std::uint32_t quorum = 2;
    std::uint32_t compact_after = 64;
    std::uint32_t read_every = 1;
    std::string data_dir = "/var/lib/raftlet";
};

/// What the leader knows of a follower; nobody else looks.
struct Progress {
    Index match = 0;
    Index next = 1;
    std::uint32_t inflight = 0;
};

struct WorkerStat {
    std::uint64_t items = 0;
    std::uint32_t batches = 0;
    std::uint32_t largest = 0;
};

class Cluster;

class Node {
public:
    Node(Cluster& cluster, std::uint32_t id);

    void lead();
    void follow();
    void apply_loop();
    void tick();

    StateMachine& machine() noexcept { return machine_; }
    Log& log() noexcept { return log_; }
    Index commit_index() const noexcept { return commit_index_.load(std::memory_order_acquire); }
    Index applied_index() const noexcept { return applied_index_.load(std::memory_order_acquire); }
    Role role() const noexcept { return role_.load(std::memory_order_relaxed); }
    std::uint32_t elections() const noexcept { return elections_; }

    Channel<Append, 64> appends;
    Channel<Ack, 64> acks;

private:
    std::size_t drain_proposals(std::vector<Progress>& peers, std::size_t& turn);
    std::size_t drain_acks(std::vector<Progress>& peers);

    Cluster& cluster_;
    std::uint32_t id_;
    std::atomic<Role> role_;
    std::mutex state_mutex_;
    Term term_ = 1;
    std::uint32_t elapsed_ = 0;
    std::uint32_t elections_ = 0;
    std::atomic<Index> commit_index_{0};
    std::atomic<Index> applied_index_{0};
    Log log_;
    StateMachine machine_;
};

}  // namespace raft
