// A packet as it goes through the elements, and small helpers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

constexpr std::size_t kLine = 64;
constexpr int kWorkers = 3;
constexpr int kPorts = 4;

struct Packet {
    std::uint32_t src = 0;
    std::uint32_t dst = 0;
    std::uint16_t sport = 0;
    std::uint16_t dport = 0;
    std::uint16_t length = 0;
    std::uint8_t proto = 0;
    std::uint8_t ttl = 0;
    std::uint8_t payload[16] = {};
    std::uint32_t sum = 0;
    int out = -1;
    bool dropped = false;
};

inline std::uint32_t mix(std::uint32_t h)
{
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ (h >> 16);
}

inline std::uint32_t flow_key(const Packet &p)
{
    return mix(p.src * 31u + mix(p.dst + p.sport) + (std::uint32_t(p.dport) << 3) + p.proto);
}

std::uint32_t payload_sum(const Packet &p);

// Makes the packets of one port; the same seed gives the same packets.
class Generator {
public:
    explicit Generator(std::uint32_t seed) : state_(seed * 2654435761u + 1) {}
    void fill(Packet &p);

private:
    std::uint32_t next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    std::uint32_t state_;
};

// The tables that all workers use: routes, flows, addresses, leases.

struct Route {
    std::uint32_t prefix = 0;
    std::uint32_t mask = 0;
    int port = 0;
};

// What is swapped as a whole; who needs it holds a reference.
struct Policy {
    std::uint32_t generation = 0;
    std::uint32_t default_port = 0;
    std::uint32_t drop_mask = 0;
};

class Fib {
public:
    Fib();
    int lookup(std::uint32_t dst) const;
    void touch(unsigned n);                     // by the control thread
    unsigned version() const { return version_.load(std::memory_order_acquire); }
    std::shared_ptr<const Policy> policy() const { return policy_; }

private:
    Route *routes_ = nullptr;
    std::uint32_t count_ = 0;
    std::atomic<unsigned> version_{0};
    std::unique_ptr<Route[]> owned_;
    std::shared_ptr<const Policy> policy_;
};

struct Flow {
    std::uint32_t key = 0;
    int worker = 0;
    Flow *next = nullptr;
    std::atomic<std::uint64_t> packets{0};      // by the worker
    std::uint32_t bytes = 0;
    std::atomic<std::uint32_t> exported{0};     // by the exporter
};

class FlowTable {
public:
    explicit FlowTable(std::size_t buckets);
    ~FlowTable();
    FlowTable(const FlowTable &) = delete;
    FlowTable &operator=(const FlowTable &) = delete;

    Flow *touch(const Packet &p, int worker);
    Flow *sample(unsigned n);
    std::size_t size() const { return size_.load(); }

private:
    struct Bucket {
        std::mutex mutex;
        Flow *head = nullptr;
    };
    std::vector<Bucket> buckets_;
    alignas(kLine) std::atomic<std::size_t> size_{0};
    static constexpr std::size_t kSamples = 64;
    alignas(kLine) std::array<std::atomic<Flow *>, kSamples> samples_;
};

class NatPool {
public:
    NatPool();
    std::uint16_t take(std::uint32_t key);
    void give(std::uint16_t port);
    void set_hint(std::uint32_t h) { hint_.store(h, std::memory_order_relaxed); }
    std::uint32_t hint() const { return hint_.load(std::memory_order_relaxed); }

private:
    std::mutex mutex_;
    std::uint16_t top_ = 0;
    std::uint16_t low_ = 0;
    std::atomic<std::uint32_t> hint_{0};        // by the control thread
    std::array<std::uint16_t, 512> free_{};
};

// Everything here is used under its lock.
class LeaseBook {
public:
    void renew(std::uint32_t key, std::uint32_t when);
    std::uint64_t renewals() const { return renewals_; }

private:
    std::mutex mutex_;
    std::uint64_t renewals_ = 0;
    std::uint32_t newest_ = 0;
    std::uint32_t oldest_ = 0;
    std::array<std::uint32_t, 32> when_{};
};
