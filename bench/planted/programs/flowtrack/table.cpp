#include "flow.hpp"

namespace ft {

std::uint32_t hash_seed = 0x5bd1e995;
std::atomic<std::uint64_t> coarse_clock{1};

std::size_t FlowKeyHash::operator()(const FlowKey& k) const noexcept {
    std::uint64_t h = hash_seed;
    for (std::uint64_t part : {std::uint64_t{k.a}, std::uint64_t{k.b}, std::uint64_t{k.pa} << 16 | k.pb}) {
        h ^= part;
        h *= 0xff51afd7ed558ccdull;
        h ^= h >> 33;
    }
    return h;
}

void Flow::account(const Packet& p) {
    if (p.dir == Direction::Original) {
        orig_bytes += p.length;
        ++orig_packets;
    } else {
        reply_bytes += p.length;
        ++reply_packets;
    }
    if (state == State::New && p.flags) state = State::Established;
}

FlowTable::FlowTable(std::size_t limit) : limit_(limit) { flows_.reserve(limit * 2); }

void FlowTable::pin(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        pinned_.push_back(std::make_unique<Flow>(FlowKey{static_cast<std::uint32_t>(i), 1, 80, 80}));
    for (auto& f : pinned_) f->state = State::Established;
}

std::shared_ptr<Flow> FlowTable::lookup(const FlowKey& key) {
    std::lock_guard<std::mutex> hold(mutex_);
    auto it = flows_.find(key);
    if (it != flows_.end()) return it->second;
    if (flows_.size() >= limit_) {
        ++dropped_;
        return nullptr;
    }
    return flows_.emplace(key, std::make_shared<Flow>(key)).first->second;
}

// called by the ager all the time: a new generation, without the table's lock
std::uint64_t FlowTable::age() {
    return generation_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ft
