#include "render.hpp"

#include <chrono>
#include <cstdio>

namespace lumen {

std::atomic<uint32_t> Renderer::samples_{0};
std::atomic<uint32_t> Renderer::shadedPoints_{0};
std::atomic<uint32_t> Renderer::clippedPoints_{0};

ThreadStats& ThreadStats::operator+=(const ThreadStats& o)
{
    rays += o.rays;
    bounces += o.bounces;
    misses += o.misses;
    tiles += o.tiles;
    return *this;
}

Renderer::Renderer(Scene& scene, Film& film, const RenderOptions& options)
    : scene_(scene), film_(film), options_(options),
      queue_(options.width, options.height, options.tile, options.passes),
      stats_(static_cast<size_t>(options.threads))
{
    for (int i = 0; i < options.threads; i++)
        rngs_.push_back(std::make_unique<Rng>(static_cast<uint32_t>(i) + 17));
}

Renderer::~Renderer()
{
    queue_.cancel();
    for (auto& t : threads_)
        if (t.joinable())
            t.join();
}

unsigned long Renderer::samplesTotal()
{
    return samples_.load() + 0ul + clippedPoints_.load();
}

Vec3 Renderer::radiance(const Ray& ray, int depth, unsigned index)
{
    Hit hit;
    stats_[index].rays++;
    Shape* shape = scene_.trace(ray, hit);
    if (!shape) {
        stats_[index].misses++;
        return scene_.background(ray);
    }
    shape->countHit();
    shadedPoints_.fetch_add(1, std::memory_order_relaxed);
    MaterialPtr m = shape->material();
    uint32_t texel = scene_.cache().fetch(*m->texture, m->texture->size(), hit.u, hit.v);
    Vec3 base = m->color * (0.5f + static_cast<float>(texel & 0xff) / 512.0f);
    float light = std::max(0.1f, dot(hit.normal, Vec3{0.5f, 0.7f, -0.5f}));
    Vec3 color = base * (light * exposure_);
    if (depth > 1 && m->reflect > 0.05f) {
        stats_[index].bounces++;
        Vec3 d = ray.dir - hit.normal * (2 * dot(ray.dir, hit.normal));
        color = color + radiance({hit.point, d}, depth - 1, index) * m->reflect;
    }
    return color;
}

void Renderer::renderTile(Tile& tile, unsigned index)
{
    float sum = 0, sum2 = 0;
    Rng& rng = *rngs_[index];

    for (int y = tile.y0; y < tile.y1; y++) {
        for (int x = tile.x0; x < tile.x1; x++) {
            float sx = (static_cast<float>(x) + rng.uniform()) / static_cast<float>(options_.width);
            float sy = (static_cast<float>(y) + rng.uniform()) / static_cast<float>(options_.height);
            Ray ray{{0, 0.3f, -2}, normalize({sx * 2 - 1, 1 - sy * 2, 1.6f})};
            Vec3 c = radiance(ray, options_.depth, index);
            float l = c.x + c.y + c.z;
            film_.add(x, y, c, 1.0f);
            if (l > 2.2f)
                film_.splat(x, y, l - 2.2f);
            sum += l;
            sum2 += l * l;
            samples_.fetch_add(1, std::memory_order_relaxed);
        }
        film_.rowFinished(y);
    }
    float n = static_cast<float>((tile.x1 - tile.x0) * (tile.y1 - tile.y0));
    tile.variance = (sum2 - sum * sum / n) / n;
    tile.owner = static_cast<uint16_t>(index);
    tile.passes++;
}

void Renderer::work(unsigned index)
{
    while (Tile* tile = queue_.take()) {
        renderTile(*tile, index);
        stats_[index].tiles++;
    }
    if (active_.fetch_sub(1) == 1) {
        std::lock_guard<std::mutex> lock(doneMutex_);
        done_.notify_all();
    }
    report("thread ends", index);
}

// the viewer: develops a few rows at a time while the others render
void Renderer::preview()
{
    unsigned rows = static_cast<unsigned>(film_.height());
    std::unique_lock<std::mutex> lock(doneMutex_);

    while (active_.load() > 0) {
        done_.wait_for(lock, std::chrono::microseconds(300));
        lock.unlock();
        for (int i = 0; i < 4; i++) {
            int y = static_cast<int>(previewRow_++ % rows);
            if (film_.rowPasses(y) > 0)
                film_.develop(y, y + 1);
        }
        previews_++;
        lock.lock();
    }
}

void Renderer::report(const char* what, unsigned value)
{
    std::lock_guard<std::mutex> lock(logMutex_);
    lastMessage_ = what;
    lastMessage_ += ' ';
    lastMessage_ += std::to_string(value);
}

ThreadStats Renderer::run()
{
    active_ = options_.threads;
    for (unsigned i = 0; i < static_cast<unsigned>(options_.threads); i++)
        threads_.emplace_back(&Renderer::work, this, i);
    std::thread viewer;
    if (options_.preview)
        viewer = std::thread(&Renderer::preview, this);
    for (auto& t : threads_)
        t.join();
    if (viewer.joinable())
        viewer.join();
    film_.develop(0, film_.height());
    ThreadStats total;
    for (const auto& s : stats_)
        total += s;
    return total;
}

}  // namespace lumen
