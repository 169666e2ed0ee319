// Queues, locks, pools and counted objects that the engine is made of.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace tx {

constexpr std::size_t line_size = 64;

class SpinLock {
public:
    void lock()
    {
        while (flag_.exchange(1, std::memory_order_acquire))
            while (flag_.load(std::memory_order_relaxed))
                std::this_thread::yield();
    }
    void unlock() { flag_.store(0, std::memory_order_release); }

private:
    std::atomic<std::uint32_t> flag_{0};
};

template <class L>
class Guard {
public:
    explicit Guard(L &l) : lock_(l) { lock_.lock(); }
    ~Guard() { lock_.unlock(); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

private:
    L &lock_;
};

// One thread puts, one takes.
template <class T, std::size_t N>
class SpscQueue {
    static_assert((N & (N - 1)) == 0, "a power of two");

public:
    bool push(T v)
    {
        const auto t = tail_.load(std::memory_order_relaxed);
        if (t - head_.load(std::memory_order_acquire) == N)
            return false;
        cells_[t % N] = std::move(v);
        tail_.store(t + 1, std::memory_order_release);
        return true;
    }
    bool pop(T &v)
    {
        const auto h = head_.load(std::memory_order_relaxed);
        if (h == tail_.load(std::memory_order_acquire))
            return false;
        v = std::move(cells_[h % N]);
        head_.store(h + 1, std::memory_order_release);
        return true;
    }

private:
    std::atomic<std::uint64_t> head_{0};
    std::atomic<std::uint64_t> tail_{0};
    alignas(line_size) std::array<T, N> cells_{};
};

// The same with room between its ends.
template <class T, std::size_t N>
class RoomyQueue {
public:
    bool push(T v)
    {
        const auto t = tail_.load(std::memory_order_relaxed);
        if (t - head_.load(std::memory_order_acquire) == N)
            return false;
        cells_[t % N].value = v;
        tail_.store(t + 1, std::memory_order_release);
        return true;
    }
    bool pop(T &v)
    {
        const auto h = head_.load(std::memory_order_relaxed);
        if (h == tail_.load(std::memory_order_acquire))
            return false;
        v = cells_[h % N].value;
        head_.store(h + 1, std::memory_order_release);
        return true;
    }

private:
    struct alignas(line_size) Cell {
        T value{};
    };
    alignas(line_size) std::atomic<std::uint64_t> head_{0};
    alignas(line_size) std::atomic<std::uint64_t> tail_{0};
    std::array<Cell, N> cells_{};
};

// Objects of one type; given back by another thread than took them.
template <class T>
class SlabPool {
public:
    explicit SlabPool(std::size_t n) : storage_(n)
    {
        for (T &t : storage_) {
            t.next_free = free_;
            free_ = &t;
        }
    }
    T *take()
    {
        Guard<SpinLock> hold(lock_);
        T *t = free_;
        if (t) {
            free_ = t->next_free;
            out_++;
        }
        return t;
    }
    void give(T *t)
    {
        Guard<SpinLock> hold(lock_);
        t->next_free = free_;
        free_ = t;
        out_--;
    }
    // How full it was when somebody last looked; no lock.
    void note_level(std::uint32_t level) { level_.store(level, std::memory_order_relaxed); }
    std::uint32_t level() const { return level_.load(std::memory_order_relaxed); }
    std::uint32_t out() const { return out_; }

private:
    SpinLock lock_;
    std::uint32_t out_ = 0;
    T *free_ = nullptr;
    std::atomic<std::uint32_t> level_{0};
    std::vector<T> storage_;
};

// An object that counts who holds it.
template <class T>
class Counted {
public:
    void hold() const { refs_.fetch_add(1, std::memory_order_acquire); }
    void drop() const
    {
        if (refs_.fetch_sub(1, std::memory_order_release) == 1)
            delete static_cast<const T *>(this);
    }

protected:
    ~Counted() = default;

private:
    mutable std::atomic<std::uint32_t> refs_{1};
};

} // namespace tx

// Counters: one cell per thread, the thread's number is in TLS.

namespace tx {

constexpr std::size_t max_threads = 8;

struct ThreadNumber {
    static void set(unsigned n) { number_ = n; }
    static unsigned get() { return number_; }

private:
    static thread_local unsigned number_;
};

template <class Tag>
class Striped {
public:
    static void add(std::uint64_t n) { cells_[ThreadNumber::get()] += n; }
    static std::uint64_t sum()
    {
        std::uint64_t n = 0;
        for (auto c : cells_)
            n += c;
        return n;
    }

private:
    static std::array<std::uint64_t, max_threads> cells_;
};

template <class Tag>
class PaddedStriped {
public:
    static void add(std::uint64_t n) { cells_[ThreadNumber::get()].n += n; }
    static std::uint64_t sum()
    {
        std::uint64_t n = 0;
        for (const auto &c : cells_)
            n += c.n;
        return n;
    }

private:
    struct alignas(line_size) Cell {
        std::uint64_t n = 0;
    };
    static std::array<Cell, max_threads> cells_;
};

// One value for all; only ever added to.
template <class Tag>
struct Tally {
    static std::atomic<std::uint64_t> value;
};

struct TermTag;
struct ByteTag;
struct IndexTag;
struct SearchTag;

template <class Tag>
alignas(line_size) std::array<std::uint64_t, max_threads> Striped<Tag>::cells_{};
template <class Tag>
std::array<typename PaddedStriped<Tag>::Cell, max_threads> PaddedStriped<Tag>::cells_{};
template <class Tag>
std::atomic<std::uint64_t> Tally<Tag>::value{0};

} // namespace tx
