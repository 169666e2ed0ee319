#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sk {

// A sound; everyone who plays it holds a reference.
struct Sound {
    Sound(uint32_t length, int gain, uint32_t seed);
    uint32_t length;
    int gain;
    const int16_t* samples;
    std::unique_ptr<int16_t[]> storage;
};

using SoundRef = std::shared_ptr<Sound>;

class Assets {
public:
    void Load(uint32_t sounds);
    const SoundRef& SoundFor(uint32_t kind) const { return sounds_[kind % sounds_.size()]; }
    uint32_t Count() const { return static_cast<uint32_t>(sounds_.size()); }

private:
    std::vector<SoundRef> sounds_;
    std::vector<std::string> names_;
};

}  // namespace sk
