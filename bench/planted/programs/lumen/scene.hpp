#pragma once

#include "shape.hpp"

#include <vector>

namespace lumen {

struct SceneOptions {
    unsigned spheres = 4;
    uint32_t seed = 9;
};

class Scene {
public:
    explicit Scene(const SceneOptions& options);

    Shape* trace(const Ray& ray, Hit& hit) const;
    Vec3 background(const Ray& ray) const;
    TextureCache& cache() { return cache_; }
    const std::vector<std::unique_ptr<Shape>>& shapes() const { return shapes_; }
    unsigned textureLookups() const;

private:
    std::vector<std::shared_ptr<Texture>> textures_;
    std::vector<std::unique_ptr<Shape>> shapes_;
    TextureCache cache_;
};

}  // namespace lumen
