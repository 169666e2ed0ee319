#pragma once
#include <memory>
#include <vector>

#include "Audio.h"
#include "Telemetry.h"
#include "World.h"

namespace sk {

// A step of the frame; Run is called for batches, on any worker.
class System {
public:
    System(World& world, uint32_t batch) : world_(world), batch_(batch) {}
    virtual ~System() = default;
    virtual void Run(uint32_t begin, uint32_t end, const JobContext& ctx) = 0;
    virtual uint32_t Items() const { return world_.size; }
    uint32_t Batch() const { return batch_; }
    uint32_t Calls() const { return calls_.load(std::memory_order_relaxed); }

    static void Entry(void* self, uint32_t begin, uint32_t end, const JobContext& ctx);

protected:
    World& world_;
    uint32_t batch_;
    std::atomic<uint32_t> calls_{0};
};

class MovementSystem : public System {
public:
    using System::System;
    void Run(uint32_t begin, uint32_t end, const JobContext& ctx) override;
};

class ThinkSystem : public System {
public:
    ThinkSystem(World& world, uint32_t batch, Telemetry& telemetry)
        : System(world, batch), telemetry_(telemetry) {}
    void Run(uint32_t begin, uint32_t end, const JobContext& ctx) override;

private:
    Telemetry& telemetry_;
};

class ParticleSystem : public System {
public:
    ParticleSystem(World& world, Audio& audio) : System(world, 1), audio_(audio) {}
    void Run(uint32_t begin, uint32_t end, const JobContext& ctx) override;
    uint32_t Items() const override { return static_cast<uint32_t>(world_.emitters.size()); }

private:
    Audio& audio_;
};

}  // namespace sk
