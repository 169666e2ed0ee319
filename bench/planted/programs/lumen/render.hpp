#pragma once

#include "film.hpp"
#include "scene.hpp"
#include "tiles.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace lumen {

struct RenderOptions {
    int width = 96;
    int height = 64;
    int tile = 4;
    int passes = 8;
    int threads = 3;
    int depth = 2;
    bool preview = true;
};

struct ThreadStats {
    uint32_t rays = 0;
    uint32_t bounces = 0;
    uint32_t misses = 0;
    uint32_t tiles = 0;

    ThreadStats& operator+=(const ThreadStats& o);
};

class Renderer {
public:
    Renderer(Scene& scene, Film& film, const RenderOptions& options);
    ~Renderer();

    ThreadStats run();
    unsigned previews() const { return previews_; }
    static unsigned long samplesTotal();

private:
    void work(unsigned index);
    Vec3 radiance(const Ray& ray, int depth, unsigned index);
    void renderTile(Tile& tile, unsigned index);
    void preview();
    void report(const char* what, unsigned value);

    static std::atomic<uint32_t> samples_;
    static std::atomic<uint32_t> shadedPoints_;
    static std::atomic<uint32_t> clippedPoints_;

    Scene& scene_;
    Film& film_;
    RenderOptions options_;
    TileQueue queue_;
    std::vector<ThreadStats> stats_;
    std::vector<std::unique_ptr<Rng>> rngs_;
    std::vector<std::thread> threads_;

    std::atomic<int> active_{0};
    unsigned previews_ = 0;
    unsigned previewRow_ = 0;
    float exposure_ = 1.0f;
    std::mutex doneMutex_;
    std::condition_variable done_;
    std::mutex logMutex_;
    std::string lastMessage_;
};

}  // namespace lumen
