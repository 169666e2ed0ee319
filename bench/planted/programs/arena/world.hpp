// the simulated arena: entities, systems, sessions
#pragma once
#include "pool.hpp"
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace arena {

constexpr unsigned kEntities = 96;
constexpr unsigned kChunk = 16;
constexpr unsigned kWorkers = 3;

struct Entity {
    float x = 0, y = 0; // physics
    float vx = 1, vy = 1;
    std::int32_t goal = 0; // ai
    std::uint32_t mood = 0;
    std::uint16_t zone = 0; // fixed at spawn
    std::uint16_t kind = 0;
    std::int32_t hp = 100;
};

struct Tally {
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
};

// accounting common to all systems: requests come from the network side
class System {
public:
    virtual ~System() = default;
    virtual void step() = 0;
    void request(std::uint32_t what) {
        requests_++;
        last_request_ = what;
    }
    std::uint64_t requests() const { return requests_; }

protected:
    std::uint64_t requests_ = 0;
    std::uint32_t last_request_ = 0;
};

class World;
class AiSystem final : public System {
public:
    explicit AiSystem(World &w) : world_(w) {}
    void step() override;
    std::uint64_t decisions() const { return decisions_; }

private:
    World &world_;
    std::uint64_t decisions_ = 0;
    std::uint64_t changes_ = 0;
};

struct alignas(64) Status {
    std::string label{"starting......"};
    std::atomic<std::uint32_t> pings{0};
    std::uint32_t reserved = 0;
};

struct alignas(64) Lane {
    std::uint64_t moved = 0;
    std::uint64_t bounced = 0;
};

class World {
public:
    World();
    void physics_chunk(unsigned first, unsigned worker);
    void heat_stripe(unsigned stripe, unsigned worker);
    void receive(const char *data, std::size_t n);
    std::size_t transmit(char *out, std::size_t cap);
    void snapshot();
    void report(std::FILE *f);
    AiSystem &ai() { return ai_; }
    std::vector<Entity> &entities() { return entities_; }
    std::atomic<bool> &failed() { return failed_; }
    Tally &open_tally();

private:
    std::vector<Entity> entities_;
    std::vector<std::uint32_t> heat_;
    std::deque<Tally> tallies_;
    Tally *in_ = nullptr, *out_ = nullptr;
    std::array<Lane, kWorkers> lanes_;
    std::uint64_t bad_packets_ = 0;
    std::uint64_t truncated_ = 0;
    // readers of the map take map_mu_, the physics only looks at the view
    alignas(64) std::shared_mutex map_mu_;
    const std::uint8_t *tiles_ = nullptr;
    alignas(64) std::pair<std::atomic<std::uint64_t>, std::atomic<std::uint64_t>> traffic_{};
    alignas(64) AiSystem ai_;
    Status status_;
    alignas(64) std::atomic<bool> failed_{false};
    alignas(64) std::mutex snap_mu_;
    std::uint64_t snaps_ = 0;
    std::uint64_t snap_bytes_ = 0;
    std::vector<std::uint8_t> map_;
};

// event counts by thread, the cell chosen by the thread's identity
void count_event();
std::uint64_t count_total();

} // namespace arena
