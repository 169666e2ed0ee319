#include "World.h"

#include <cmath>

namespace sk {

uint32_t Grid::CellOf(float x, float y) {
    auto cx = static_cast<uint32_t>(x) % kSide;
    auto cy = static_cast<uint32_t>(y) % kSide;
    return cy * kSide + cx;
}

void Grid::Move(uint32_t from, uint32_t to) {
    if (from != to) {
        Cell& f = cells_[from];
        f.lock.lock();
        --f.count;
        f.lock.unlock();
    }
    Cell& t = cells_[to];
    t.lock.lock();
    if (from != to)
        ++t.count;
    ++t.heat;
    t.lock.unlock();
}

void Grid::Enter(uint32_t cell) { ++cells_[cell].count; }

void Grid::Build(uint32_t seed) {
    for (Cell& c : cells_) {
        seed = seed * 1664525u + 1013904223u;
        c.terrain = static_cast<uint8_t>(seed >> 28);
    }
}

int64_t Grid::Population() const {
    int64_t n = 0;
    for (const Cell& c : cells_)
        n += c.count;
    return n;
}

static void PlaceRange(World& w, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
        w.bodies.x[i] = static_cast<float>((i * 7) % 160) * 0.1f;
        w.bodies.y[i] = static_cast<float>((i * 13) % 160) * 0.1f;
        w.bodies.vx[i] = std::sin(static_cast<float>(i)) * 4.0f;
        w.bodies.vy[i] = std::cos(static_cast<float>(i)) * 4.0f;
        w.bodies.team[i] = static_cast<uint8_t>(i & 1);
        w.bodies.cell[i] = static_cast<uint16_t>(Grid::CellOf(w.bodies.x[i], w.bodies.y[i]));
    }
}

World::World(uint32_t count, uint32_t workers, const Assets& a) : events(workers), assets(a), size(count) {
    bodies.x.resize(count);
    bodies.y.resize(count);
    bodies.vx.resize(count);
    bodies.vy.resize(count);
    bodies.cell.resize(count);
    bodies.team.resize(count);
    grid.Build(tuning.seed);
    // the two halves of the map, one loader after the other
    std::thread first([&] { PlaceRange(*this, 0, count / 2); });
    first.join();
    std::thread second([&] { PlaceRange(*this, count / 2, count); });
    second.join();
    for (uint32_t i = 0; i < count; ++i) {
        memoryOf.push_back(&memory[i]);
        memoryOf[i]->patience = 3 + i % 5;
        grid.Enter(bodies.cell[i]);
    }
    for (auto& list : events)
        list.reserve(256);
    for (uint32_t e = 0; e < emitters.size(); ++e)
        emitters[e].seed = 101 + e * 17;
}

}  // namespace sk
