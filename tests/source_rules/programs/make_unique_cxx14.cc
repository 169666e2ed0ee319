// ARGS: -std=c++14
// Before C++17 std::make_unique asks a `new` that knows only the default alignment.
// expect: aligned-type-from-malloc medium Ring
#include <atomic>
#include <memory>

struct Ring {
  alignas(64) std::atomic<long> head{0};
};

std::unique_ptr<Ring> make() { return std::make_unique<Ring>(); }
