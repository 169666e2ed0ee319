#pragma once

#include "vec.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace lumen {

class Texture {
public:
    Texture(unsigned size, uint32_t seed);

    uint32_t texel(float u, float v);
    unsigned lookups() const { return lookups_; }
    unsigned size() const { return size_; }

private:
    unsigned size_;
    uint32_t tint_;
    std::atomic<unsigned> lookups_{0};
    std::vector<uint32_t> pixels_;
};

struct Material {
    Material(Vec3 c, float r, std::shared_ptr<Texture> t)
        : color(c), reflect(r), texture(std::move(t)) {}

    Vec3 color;
    float reflect;
    std::shared_ptr<Texture> texture;
};

using MaterialPtr = std::shared_ptr<const Material>;

// small tiles of textures, decoded when they are needed
class TextureCache {
public:
    explicit TextureCache(size_t entries);

    uint32_t fetch(Texture& t, unsigned id, float u, float v);
    unsigned hits() const;
    unsigned misses() const;

private:
    struct Entry {
        std::atomic<uint32_t> tag{0};
        uint32_t value = 0;
    };

    size_t mask_;
    std::unique_ptr<Entry[]> entries_;
    std::atomic<unsigned> hits_{0};
    std::atomic<unsigned> misses_{0};
};

}  // namespace lumen
