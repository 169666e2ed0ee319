#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lumen {

struct Tile {
    uint16_t x0, y0, x1, y1;
    uint16_t passes;     // done
    uint16_t owner;      // thread of the last pass
    float variance;      // guides the adaptive sampling
};

// hands out tiles pass by pass
class TileQueue {
public:
    TileQueue(int width, int height, int tile, int passes);

    Tile* take();
    size_t size() const { return tiles_.size(); }
    const std::vector<Tile>& tiles() const { return tiles_; }
    void cancel() { cancelled_ = true; }
    bool cancelled() const { return cancelled_; }
    unsigned taken() const { return next_; }

private:
    std::vector<Tile> tiles_;
    std::atomic<unsigned> next_{0};
    unsigned limit_;
    std::atomic<bool> cancelled_{false};
};

}  // namespace lumen
