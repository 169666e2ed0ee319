#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "Assets.h"

namespace sk {

struct Voice {
    SoundRef sound;
    uint32_t at = 0;
};

// Mixes on a thread of its own; Play may be called from everywhere.
class Audio {
public:
    static uint32_t mixedBlocks;
    static uint32_t lateBlocks;

    explicit Audio(const Assets& assets);
    void Start();
    void Stop();
    void Play(const SoundRef& sound);
    uint32_t Dropped() const { return dropped_; }

private:
    void Loop();
    void MixBlock();

    const Assets& assets_;
    // what the game sees of the mixer
    struct Desk {
        int master = 90;
        uint32_t maxVoices = 6;
        std::atomic<uint32_t> requests{0};
        uint32_t blocks = 0;
        int32_t level = 0;
    };
    alignas(64) Desk desk_;
    alignas(64) std::mutex mutex_;
    std::vector<Voice> starting_;
    uint32_t dropped_ = 0;
    alignas(64) std::vector<Voice> voices_;
    std::vector<int32_t> block_;
    std::thread thread_;
    alignas(64) std::atomic<bool> quit_{false};
};

}  // namespace sk
