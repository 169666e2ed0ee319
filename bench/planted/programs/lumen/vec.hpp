#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lumen {

struct Vec3 {
    float x = 0, y = 0, z = 0;

    Vec3 operator+(const Vec3& o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec3 operator-(const Vec3& o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec3 operator*(float k) const { return {x * k, y * k, z * k}; }
    Vec3 operator*(const Vec3& o) const { return {x * o.x, y * o.y, z * o.z}; }
};

inline float dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

inline Vec3 normalize(const Vec3& v)
{
    float k = 1.0f / std::sqrt(dot(v, v));
    return v * k;
}

struct Ray {
    Vec3 origin, dir;
};

// xorshift, one per thread
class Rng {
public:
    explicit Rng(uint32_t seed = 1) : state_(seed * 2654435761u | 1u) {}

    uint32_t next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    float uniform() { return static_cast<float>(next() >> 8) * (1.0f / 16777216.0f); }

private:
    uint32_t state_;
};

}  // namespace lumen
