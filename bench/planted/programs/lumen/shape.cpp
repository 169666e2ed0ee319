#include "shape.hpp"

namespace lumen {

bool Sphere::intersect(const Ray& ray, Hit& hit) const
{
    Vec3 oc = ray.origin - center_;
    float b = dot(oc, ray.dir);
    float c = dot(oc, oc) - radius2_;
    float d = b * b - c;
    if (d < 0)
        return false;
    float t = -b - std::sqrt(d);
    if (t < 1e-3f || t >= hit.t)
        return false;
    hit.t = t;
    hit.point = ray.origin + ray.dir * t;
    hit.normal = normalize(hit.point - center_);
    hit.u = std::fabs(hit.normal.x);
    hit.v = std::fabs(hit.normal.y);
    return true;
}

bool Floor::intersect(const Ray& ray, Hit& hit) const
{
    if (ray.dir.y > -1e-4f)
        return false;
    float t = (y_ - ray.origin.y) / ray.dir.y;
    if (t < 1e-3f || t >= hit.t)
        return false;
    hit.t = t;
    hit.point = ray.origin + ray.dir * t;
    hit.normal = {0, 1, 0};
    hit.u = hit.point.x - std::floor(hit.point.x);
    hit.v = hit.point.z - std::floor(hit.point.z);
    return true;
}

}  // namespace lumen
