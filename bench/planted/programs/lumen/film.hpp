#pragma once

#include "vec.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace lumen {

// radiance per pixel, and what the viewer shows of it
class Film {
public:
    Film(int width, int height);

    void add(int x, int y, const Vec3& c, float weight);
    void splat(int x, int y, float energy);
    void develop(int y0, int y1);
    void rowFinished(int y) { rowsDone_[static_cast<size_t>(y)]++; }
    int rowPasses(int y) const { return rowsDone_[static_cast<size_t>(y)].load(); }
    uint64_t checksum() const;
    int width() const { return width_; }
    int height() const { return height_; }

private:
    struct Pixel {
        float r = 0, g = 0, b = 0;
        float weight = 0;
    };

    int width_, height_;
    std::vector<Pixel> pixels_;
    std::vector<uint16_t> display_;
    std::vector<std::atomic<uint8_t>> rowsDone_;
    std::vector<std::atomic<uint32_t>> glow_;  // by columns of 4 pixels
};

}  // namespace lumen
