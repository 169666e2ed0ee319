#include "machine.h"

namespace raft {

Log::Log(std::size_t capacity) : entries_(std::make_unique<Entry[]>(capacity)), mask_(capacity - 1) {}

bool Log::append(Term term, const Command& command) noexcept
{
    const Index index = last_.load(std::memory_order_relaxed) + 1;
    if (index - first_.load(std::memory_order_acquire) > mask_)
        return false;
    auto& entry = entries_[index & mask_];
    entry.index = index;
    entry.term = term;
    entry.command = command;
    std::uint32_t digest = term;
    for (int i = 0; i < 8; ++i)
        digest = std::rotl(digest, 5) ^ (command.key + command.value * static_cast<std::uint32_t>(i));
    entry.digest = digest;
    last_.store(index, std::memory_order_release);
    return true;
}

StateMachine::StateMachine(std::size_t cells)
    : cells_(std::make_unique<std::atomic<std::uint32_t>[]>(cells)), mask_(static_cast<std::uint32_t>(cells - 1))
{
}

void StateMachine::apply(const Entry& entry) noexcept
{
    if (entry.term < version_) {
        ++rejected_;
        return;
    }
    auto& cell = cells_[entry.command.key & mask_];
    cell.store(cell.load(std::memory_order_relaxed) + entry.command.value, std::memory_order_relaxed);
    ++ops_;
}

std::uint32_t StateMachine::lookup(std::uint32_t key) const noexcept
{
    return cells_[key & mask_].load(std::memory_order_relaxed);
}

}  // namespace raft
