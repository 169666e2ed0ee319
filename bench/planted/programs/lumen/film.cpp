#include "film.hpp"

namespace lumen {

Film::Film(int width, int height)
    : width_(width), height_(height),
      pixels_(static_cast<size_t>(width) * static_cast<size_t>(height)),
      display_(pixels_.size()), rowsDone_(static_cast<size_t>(height)),
      glow_(static_cast<size_t>(width) / 4 + 1)
{
}

void Film::add(int x, int y, const Vec3& c, float weight)
{
    Pixel& p = pixels_[static_cast<size_t>(y * width_ + x)];
    p.r += c.x * weight;
    p.g += c.y * weight;
    p.b += c.z * weight;
    p.weight += weight;
}

void Film::splat(int x, int y, float energy)
{
    (void)y;
    glow_[static_cast<size_t>(x) / 4].fetch_add(static_cast<uint32_t>(energy * 16.0f),
                                                std::memory_order_relaxed);
}

void Film::develop(int y0, int y1)
{
    for (int y = y0; y < y1; y++)
        for (int x = 0; x < width_; x++) {
            const Pixel& p = pixels_[static_cast<size_t>(y * width_ + x)];
            float k = p.weight > 0 ? 31.0f / p.weight : 0.0f;
            auto q = [k](float v) { return static_cast<unsigned>(std::min(31.0f, v * k)); };
            display_[static_cast<size_t>(y * width_ + x)] =
                static_cast<uint16_t>(q(p.r) << 10 | q(p.g) << 5 | q(p.b));
        }
}

uint64_t Film::checksum() const
{
    uint64_t sum = 0;
    for (const Pixel& p : pixels_)
        sum += static_cast<uint64_t>((p.r + p.g + p.b) * 16.0f);
    for (uint16_t d : display_)
        sum = sum * 31 + d;
    for (const auto& g : glow_)
        sum ^= g.load();
    return sum;
}

}  // namespace lumen
