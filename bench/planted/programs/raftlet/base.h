// Small things that everything else is made of.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace raft {

inline constexpr std::size_t kMaxThreads = 16;
inline constexpr std::size_t kNodes = 3;
inline constexpr std::size_t kClients = 2;

using Index = std::uint64_t;
using Term = std::uint32_t;

/// Objects that count who holds them.
template <class T>
class RefCounted {
public:
    void retain() const noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
    void release() const noexcept
    {
        if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete static_cast<const T*>(this);
    }

protected:
    mutable std::atomic<std::int32_t> refs_{1};
};

template <class T>
    requires std::derived_from<T, RefCounted<T>>
class Ref {
public:
    explicit Ref(T* fresh) noexcept : ptr_(fresh) {}
    Ref(const Ref& other) noexcept : ptr_(other.ptr_) { ptr_->retain(); }
    Ref& operator=(const Ref&) = delete;
    ~Ref() { ptr_->release(); }
    const T* operator->() const noexcept { return ptr_; }
    T* operator->() noexcept { return ptr_; }

private:
    T* ptr_;
};

/// Bounded queue of one producer and one consumer.
template <class T, std::size_t N>
    requires(std::has_single_bit(N))
class Channel {
public:
    bool try_push(const T& value) noexcept
    {
        const auto head = head_.load(std::memory_order_relaxed);
        if (head - tail_.load(std::memory_order_acquire) == N)
            return false;
        slots_[head & (N - 1)] = value;
        head_.store(head + 1, std::memory_order_release);
        return true;
    }

    std::optional<T> try_pop() noexcept
    {
        const auto tail = tail_.load(std::memory_order_relaxed);
        if (head_.load(std::memory_order_acquire) == tail)
            return std::nullopt;
        T value = slots_[tail & (N - 1)];
        tail_.store(tail + 1, std::memory_order_release);
        return value;
    }

private:
    std::atomic<std::uint32_t> head_{0};
    std::atomic<std::uint32_t> tail_{0};
    std::array<T, N> slots_{};
};

/// A thread's place in tables by thread.
class ThreadSlot {
public:
    static void enter(std::size_t slot) noexcept { current_ = slot; }
    static std::size_t current() noexcept { return current_; }

private:
    static inline thread_local std::size_t current_ = 0;
};

/// Counts by thread of whatever ``Tag`` stands for.
template <class Tag>
struct Metrics {
    static inline std::array<std::uint32_t, kMaxThreads> slots{};

    static void add(std::uint32_t n = 1) noexcept { slots[ThreadSlot::current()] += n; }
    static std::uint64_t total() noexcept
    {
        std::uint64_t sum = 0;
        for (const auto slot : slots)
            sum += slot;
        return sum;
    }
};

struct MessagesTag {};
struct RetriesTag {};

/// Counts of a thread's turns, on lines of their own.
struct alignas(64) LaneCounters {
    std::uint64_t turns = 0;
    std::uint64_t idle = 0;
};

/// How long a thread waits that has nothing to do.
class Backoff {
public:
    explicit Backoff(std::uint32_t seed) noexcept : seed_(seed) {}
    void idle() noexcept
    {
        ++waits_;
        std::this_thread::sleep_for(std::chrono::microseconds(20 + (seed_ & 15)));
    }
    void worked() noexcept { seed_ = seed_ * 1664525u + 1013904223u; }
    std::uint32_t draw() const noexcept { return seed_ >> 8; }
    std::uint32_t waits() const noexcept { return waits_; }

private:
    std::uint32_t seed_;
    std::uint32_t waits_ = 0;
};

void log_line(const std::string& text);
std::size_t log_lines();
std::uint64_t next_request_id() noexcept;

}  // namespace raft
