#include "tiles.hpp"

#include <algorithm>

namespace lumen {

TileQueue::TileQueue(int width, int height, int tile, int passes)
{
    for (int y = 0; y < height; y += tile)
        for (int x = 0; x < width; x += tile) {
            Tile t{};
            t.x0 = static_cast<uint16_t>(x);
            t.y0 = static_cast<uint16_t>(y);
            t.x1 = static_cast<uint16_t>(std::min(width, x + tile));
            t.y1 = static_cast<uint16_t>(std::min(height, y + tile));
            tiles_.push_back(t);
        }
    limit_ = static_cast<unsigned>(tiles_.size()) * static_cast<unsigned>(passes);
}

Tile* TileQueue::take()
{
    if (cancelled_.load(std::memory_order_relaxed))
        return nullptr;
    unsigned n = next_.fetch_add(1, std::memory_order_relaxed);
    if (n >= limit_)
        return nullptr;
    return &tiles_[n % tiles_.size()];
}

}  // namespace lumen
