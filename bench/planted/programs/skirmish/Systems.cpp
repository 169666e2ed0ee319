#include "Systems.h"

#include <cmath>

namespace sk {

namespace {

thread_local uint32_t noiseState = 12345;

uint32_t Noise() {
    noiseState = noiseState * 1664525u + 1013904223u;
    return noiseState >> 9;
}

struct alignas(64) FrameTotals {
    uint32_t moved = 0;
    uint32_t thought = 0;
};
FrameTotals frameTotals[8];

}  // namespace

void System::Entry(void* self, uint32_t begin, uint32_t end, const JobContext& ctx) {
    auto* s = static_cast<System*>(self);
    s->calls_.fetch_add(1, std::memory_order_relaxed);
    s->Run(begin, end, ctx);
}

void MovementSystem::Run(uint32_t begin, uint32_t end, const JobContext& ctx) {
    Bodies& b = world_.bodies;
    const Tuning& t = world_.tuning;
    for (uint32_t i = begin; i < end; ++i) {
        float x = b.x[i] + b.vx[i] * t.step;
        float y = b.y[i] + b.vy[i] * t.step;
        if (x < 0.0f || x >= 16.0f) {
            b.vx[i] = -b.vx[i] * t.bounce;
            x = x < 0.0f ? 0.0f : 15.9f;
        }
        if (y < 0.0f || y >= 16.0f) {
            b.vy[i] = -b.vy[i] * t.bounce;
            y = y < 0.0f ? 0.0f : 15.9f;
        }
        b.x[i] = x;
        b.y[i] = y;
        uint32_t cell = Grid::CellOf(x, y);
        world_.grid.Move(b.cell[i], cell);
        b.cell[i] = static_cast<uint16_t>(cell);
    }
    frameTotals[ctx.worker].moved += end - begin;
}

void ThinkSystem::Run(uint32_t begin, uint32_t end, const JobContext& ctx) {
    Bodies& b = world_.bodies;
    auto& out = world_.events[ctx.worker];
    for (uint32_t i = begin; i < end; ++i) {
        AgentMemory& m = *world_.memoryOf[i];
        m.anger = m.anger * 0.9f + static_cast<float>(Noise() & 15) * 0.1f;
        ++m.decisions;
        if (m.anger > 6.0f && m.decisions % m.patience == 0) {
            m.target = Noise() % world_.size;
            b.vx[i] += b.x[i] < 8.0f ? 0.1f : -0.1f;
        }
        if ((m.decisions & 1) == 0) {
            out.push_back(GameEvent{i, m.target & 7});
            telemetry_.Record(i, m.target);
        }
    }
    if (out.size() > 200)
        out.clear();
    frameTotals[ctx.worker].thought += end - begin;
}

void ParticleSystem::Run(uint32_t begin, uint32_t end, const JobContext&) {
    for (uint32_t e = begin; e < end; ++e) {
        Emitter& em = world_.emitters[e];
        for (int k = 0; k < 24; ++k) {
            em.seed = em.seed * 69069u + 1u;
            if (em.seed & 0x10000) {
                ++em.live;
                ++em.spawned;
            } else if (em.live) {
                --em.live;
            }
            em.energy += static_cast<float>(em.live) * world_.tuning.step;
        }
        audio_.Play(world_.assets.SoundFor(em.seed >> 20));
    }
}

}  // namespace sk
