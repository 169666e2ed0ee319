#pragma once
#include <array>
#include <cstddef>
#include <unordered_map>

#include "Assets.h"
#include "JobSystem.h"

namespace sk {

class SpinLock {
public:
    void lock() {
        while (held_.exchange(1, std::memory_order_acquire))
            std::this_thread::yield();
    }
    void unlock() { held_.store(0, std::memory_order_release); }

private:
    std::atomic<uint8_t> held_{0};
};

struct Cell {
    SpinLock lock;
    uint8_t terrain = 0;
    int16_t count = 0;
    uint32_t heat = 0;
};

class Grid {
public:
    static constexpr uint32_t kSide = 16;
    static uint32_t CellOf(float x, float y);
    void Move(uint32_t from, uint32_t to);
    uint8_t Terrain(uint32_t cell) const { return cells_[cell].terrain; }
    void Enter(uint32_t cell);
    void Build(uint32_t seed);
    int64_t Population() const;

private:
    alignas(64) std::array<Cell, kSide * kSide> cells_{};
};

// Positions and speeds, one array per component.
struct Bodies {
    std::vector<float> x, y, vx, vy;
    std::vector<uint16_t> cell;
    std::vector<uint8_t> team;
};

struct AgentMemory {
    uint32_t target = 0;
    uint32_t patience = 0;
    uint32_t decisions = 0;
    float anger = 0.0f;
};

struct GameEvent {
    uint32_t entity;
    uint32_t kind;
};

struct Tuning {
    float step = 1.0f / 64.0f;
    float drag = 0.99f;
    float bounce = 0.8f;
    uint32_t seed = 7;
};

struct Emitter {
    uint32_t live = 0;
    uint32_t spawned = 0;
    uint32_t seed = 0;
    float energy = 0.0f;
    uint32_t clipped = 0;
};

struct World {
    explicit World(uint32_t count, uint32_t workers, const Assets& assets);

    Bodies bodies;
    Grid grid;
    Tuning tuning;
    std::unordered_map<uint32_t, AgentMemory> memory;
    std::vector<AgentMemory*> memoryOf;
    std::vector<std::vector<GameEvent>> events;  // one list per worker
    std::array<Emitter, 8> emitters;
    const Assets& assets;
    uint32_t size;
};

}  // namespace sk
