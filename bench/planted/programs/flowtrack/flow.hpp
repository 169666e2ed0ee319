// Connection tracking: flows, the table they live in, and the per-source limiter.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace ft {

enum class Direction : std::uint8_t { Original, Reply };
enum class State : std::uint8_t { New, Established, Closing };

struct Packet {
    std::uint32_t src, dst;
    std::uint16_t sport, dport;
    std::uint16_t length;
    Direction dir;
    std::uint8_t flags;
};

struct FlowKey {
    std::uint32_t a, b;
    std::uint16_t pa, pb;
    bool operator==(const FlowKey& o) const { return a == o.a && b == o.b && pa == o.pa && pb == o.pb; }
};

struct FlowKeyHash {
    std::size_t operator()(const FlowKey& k) const noexcept;
};

// One tracked connection. Both directions are handled by different workers.
struct Flow {
    explicit Flow(const FlowKey& k) : key(k) {}
    FlowKey key;
    State state = State::New;
    std::uint64_t orig_bytes = 0;
    std::uint64_t orig_packets = 0;
    std::uint64_t reply_bytes = 0;
    std::uint64_t reply_packets = 0;

    void account(const Packet& p);
};

class FlowTable {
public:
    explicit FlowTable(std::size_t limit);
    std::shared_ptr<Flow> lookup(const FlowKey& key);
    Flow* pinned(std::size_t i) const { return pinned_[i % pinned_.size()].get(); }
    void pin(std::size_t n);
    std::uint64_t age();
    std::size_t size() const { return flows_.size(); }
    std::uint64_t generation() const { return generation_; }
    std::uint64_t dropped() const { return dropped_; }

private:
    std::size_t limit_;
    std::mutex mutex_;
    std::atomic<std::uint64_t> generation_{1};
    std::uint64_t dropped_ = 0;
    std::unordered_map<FlowKey, std::shared_ptr<Flow>, FlowKeyHash> flows_;
    std::vector<std::unique_ptr<Flow>> pinned_;
};

class Limiter {
public:
    Limiter(std::uint32_t rate, std::uint32_t burst);
    bool admit(std::uint32_t src, std::uint32_t cost);
    void refill(unsigned first, unsigned count);
    std::uint64_t admitted() const { return admitted_.load(); }

private:
    static constexpr unsigned kBuckets = 8;
    struct Bucket {
        std::atomic<std::int64_t> tokens{0};
        std::int64_t debt = 0;
    };
    std::atomic<std::uint64_t> admitted_{0};
    std::uint32_t rate_;
    std::uint32_t burst_;
    std::uint32_t mask_;
    std::array<Bucket, kBuckets> buckets_;
};

// single producer, single consumer
class Channel {
public:
    explicit Channel(std::size_t capacity) : items_(capacity), mask_(capacity - 1) {}
    bool push(const Packet& p);
    bool pop(Packet& p);

private:
    std::vector<Packet> items_;
    std::size_t mask_;
    std::atomic<std::size_t> head_{0};
    std::atomic<std::size_t> tail_{0};
};

extern std::uint32_t hash_seed;
extern std::atomic<std::uint64_t> coarse_clock;
}  // namespace ft
