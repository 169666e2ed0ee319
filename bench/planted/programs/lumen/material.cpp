#include "material.hpp"

namespace lumen {

Texture::Texture(unsigned size, uint32_t seed) : size_(size), tint_(seed | 0x101010u)
{
    Rng rng(seed);
    pixels_.reserve(static_cast<size_t>(size) * size);
    for (unsigned i = 0; i < size * size; i++)
        pixels_.push_back(rng.next() & 0xffffffu);
}

uint32_t Texture::texel(float u, float v)
{
    lookups_.fetch_add(1, std::memory_order_relaxed);
    unsigned x = static_cast<unsigned>(u * static_cast<float>(size_)) % size_;
    unsigned y = static_cast<unsigned>(v * static_cast<float>(size_)) % size_;
    return pixels_[y * size_ + x] ^ tint_;
}

TextureCache::TextureCache(size_t entries)
    : mask_(entries - 1), entries_(new Entry[entries])
{
}

uint32_t TextureCache::fetch(Texture& t, unsigned id, float u, float v)
{
    unsigned cu = static_cast<unsigned>(u * 4.0f) & 3u;
    unsigned cv = static_cast<unsigned>(v * 4.0f) & 3u;
    uint32_t tag = 1u + (id << 4 | cv << 2 | cu);
    Entry& e = entries_[(tag * 7u) & mask_];

    if (e.tag.load(std::memory_order_acquire) == tag) {
        hits_.fetch_add(1, std::memory_order_relaxed);
        return e.value;
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
    uint32_t value = t.texel(u, v);
    e.value = value;
    e.tag.store(tag, std::memory_order_release);
    return value;
}

unsigned TextureCache::hits() const { return hits_; }
unsigned TextureCache::misses() const { return misses_; }

}  // namespace lumen
