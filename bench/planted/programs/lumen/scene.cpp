#include "scene.hpp"

namespace lumen {

Scene::Scene(const SceneOptions& options) : cache_(32)
{
    Rng rng(options.seed);

    for (unsigned i = 0; i < 3; i++)
        textures_.push_back(std::make_shared<Texture>(16u << i, rng.next()));
    auto ground = std::make_shared<const Material>(Vec3{0.6f, 0.6f, 0.55f}, 0.1f, textures_[0]);
    shapes_.push_back(std::make_unique<Floor>(-1.0f, ground));
    for (unsigned i = 0; i < options.spheres; i++) {
        Vec3 color{rng.uniform(), rng.uniform(), rng.uniform()};
        auto m = std::make_shared<const Material>(color, rng.uniform() * 0.5f,
                                                  textures_[1 + i % 2]);
        Vec3 c{rng.uniform() * 4 - 2, rng.uniform() * 2 - 0.8f, 3 + rng.uniform() * 3};
        shapes_.push_back(std::make_unique<Sphere>(c, 0.4f + rng.uniform() * 0.5f, m));
    }
}

Shape* Scene::trace(const Ray& ray, Hit& hit) const
{
    Shape* best = nullptr;
    for (const auto& s : shapes_)
        if (s->intersect(ray, hit))
            best = s.get();
    return best;
}

Vec3 Scene::background(const Ray& ray) const
{
    float k = 0.5f * (ray.dir.y + 1.0f);
    return Vec3{0.9f, 0.9f, 1.0f} * (1 - k) + Vec3{0.3f, 0.5f, 0.9f} * k;
}

unsigned Scene::textureLookups() const
{
    unsigned n = 0;
    for (const auto& t : textures_)
        n += t->lookups();
    return n;
}

}  // namespace lumen
