// The replicated log and the state machine that it drives.
#pragma once

#include "base.h"

namespace raft {

struct Command {
    std::uint32_t client = 0;
    std::uint32_t seq = 0;
    std::uint32_t key = 0;
    std::uint32_t value = 0;
};

struct Entry {
    Index index = 0;
    Term term = 0;
    std::uint32_t digest = 0;
    Command command;
};

class Log {
public:
    explicit Log(std::size_t capacity);

    bool append(Term term, const Command& command) noexcept;
    const Entry& at(Index index) const noexcept { return entries_[index & mask_]; }
    Index last() const noexcept { return last_.load(std::memory_order_acquire); }
    Index first() const noexcept { return first_.load(std::memory_order_acquire); }
    void compact_to(Index index) noexcept { first_.store(index, std::memory_order_release); }

private:
    std::unique_ptr<Entry[]> entries_;
    Index mask_;
    std::atomic<Index> last_{0};
    std::atomic<Index> first_{1};
};

class StateMachine {
public:
    explicit StateMachine(std::size_t cells);

    void apply(const Entry& entry) noexcept;
    std::uint32_t lookup(std::uint32_t key) const noexcept;
    std::uint64_t ops() const noexcept { return ops_; }
    std::uint64_t rejected() const noexcept { return rejected_; }

private:
    std::unique_ptr<std::atomic<std::uint32_t>[]> cells_;
    std::uint32_t mask_;
    std::uint32_t version_ = 1;
    std::uint64_t ops_ = 0;
    std::uint64_t rejected_ = 0;
};

struct Snapshot {
    std::atomic<Index> last_included{0};
    std::atomic<std::uint64_t> readers{0};
    std::uint64_t checksum = 0;
    std::uint64_t failures = 0;
};

/// A client's place in the table of sessions: what it sent, and what was applied of it.
struct ClientSession {
    std::atomic<std::uint32_t> sent{0};
    std::atomic<std::uint32_t> acked{0};
    std::uint32_t expired = 0;
    std::uint32_t id = 0;
};

}  // namespace raft
