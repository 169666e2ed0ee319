#include "Assets.h"

namespace sk {

Sound::Sound(uint32_t len, int g, uint32_t seed) : length(len), gain(g), storage(new int16_t[len]) {
    for (uint32_t i = 0; i < len; ++i) {
        seed = seed * 1103515245u + 12345u;
        storage[i] = static_cast<int16_t>(seed >> 18);
    }
    samples = storage.get();
}

void Assets::Load(uint32_t sounds) {
    for (uint32_t i = 0; i < sounds; ++i) {
        sounds_.push_back(std::make_shared<Sound>(96 + i * 32, 64 + static_cast<int>(i), i + 1));
        names_.push_back("sound" + std::to_string(i));
    }
}

}  // namespace sk
