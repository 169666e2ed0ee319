#pragma once

#include "material.hpp"
#include "vec.hpp"

#include <memory>

namespace lumen {

struct Hit {
    float t = 1e30f;
    Vec3 point, normal;
    float u = 0, v = 0;
};

class Shape {
public:
    explicit Shape(MaterialPtr m) : material_(std::move(m)) {}
    virtual ~Shape() = default;

    virtual bool intersect(const Ray& ray, Hit& hit) const = 0;
    virtual const char* kind() const = 0;

    MaterialPtr material() const { return material_; }
    void countHit() { hits_++; }
    unsigned hits() const { return hits_; }

protected:
    MaterialPtr material_;
    unsigned hits_ = 0;  // approximate; feeds the heat map of the editor
};

class Sphere final : public Shape {
public:
    Sphere(Vec3 c, float r, MaterialPtr m) : Shape(std::move(m)), center_(c), radius2_(r * r) {}
    bool intersect(const Ray& ray, Hit& hit) const override;
    const char* kind() const override { return "sphere"; }

private:
    Vec3 center_;
    float radius2_;
};

class Floor final : public Shape {
public:
    Floor(float y, MaterialPtr m) : Shape(std::move(m)), y_(y) {}
    bool intersect(const Ray& ray, Hit& hit) const override;
    const char* kind() const override { return "floor"; }

private:
    float y_;
};

}  // namespace lumen
