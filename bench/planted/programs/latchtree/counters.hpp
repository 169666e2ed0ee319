#pragma once

#include <atomic>
#include <cstdint>

namespace lt {

struct put_tag {};
struct get_tag {};
struct scan_tag {};
struct corrupt_tag {};

// One counter per kind of operation.
template <typename Tag>
struct counter {
    static std::atomic<std::uint64_t> value;
    static void bump() { value.fetch_add(1, std::memory_order_relaxed); }
    static std::uint64_t read() { return value.load(std::memory_order_relaxed); }
};

template <typename Tag>
std::atomic<std::uint64_t> counter<Tag>::value{0};

} // namespace lt
