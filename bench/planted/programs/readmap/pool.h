// A pool of workers that runs one function over a range of blocks; and the queues between stages.
#pragma once

#include "config.h"

namespace readmap {

int worker_id();

struct region {
    std::function<void(std::size_t, std::size_t)> body;
    std::size_t n = 0;
    std::size_t block = 1;
    std::atomic<std::size_t> cursor{0};
    std::atomic<int> busy{0};
    std::size_t failed = 0;
};

class thread_pool {
public:
    explicit thread_pool(int n);
    ~thread_pool();
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;

    int size() const { return static_cast<int>(threads_.size()); }

    // body(first, last) for every block of [0, n)
    void parallel_for(std::size_t n, std::size_t block, std::function<void(std::size_t, std::size_t)> body);
    // task(worker) once on every worker
    void run_on_all(const std::function<void(int)>& task);

private:
    void work(int id);

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::function<void(int)> task_;
    unsigned generation_ = 0;
    int running_ = 0;
    bool quit_ = false;
    std::vector<std::thread> threads_;
};

// ring between one producer and one consumer
template <typename T, std::size_t Slots>
class spsc_ring {
public:
    bool push(T value)
    {
        const std::uint32_t w = write_pos.load(std::memory_order_relaxed);
        if (w - read_pos.load(std::memory_order_acquire) == Slots)
            return false;
        items[w % Slots] = value;
        write_pos.store(w + 1, std::memory_order_release);
        return true;
    }

    bool pop(T& value)
    {
        const std::uint32_t r = read_pos.load(std::memory_order_relaxed);
        if (write_pos.load(std::memory_order_acquire) == r)
            return false;
        value = items[r % Slots];
        read_pos.store(r + 1, std::memory_order_release);
        return true;
    }

private:
    std::atomic<std::uint32_t> write_pos{0};
    std::atomic<std::uint32_t> read_pos{0};
    T items[Slots] = {};
};

// reader to all mappers
template <typename T>
class batch_queue {
public:
    explicit batch_queue(std::size_t limit) : slots(limit) {}

    bool put(T item)
    {
        {
            std::lock_guard<std::mutex> guard(lock);
            if (count == slots.size())
                return false;
            slots[(first + count) % slots.size()] = item;
            ++count;
        }
        produced.fetch_add(1, std::memory_order_relaxed);
        return true;
    }

    bool get(T& item)
    {
        std::lock_guard<std::mutex> guard(lock);
        if (count == 0)
            return false;
        item = slots[first];
        first = (first + 1) % slots.size();
        --count;
        return true;
    }

    void close() { closed.store(true, std::memory_order_release); }
    bool is_closed() const { return closed.load(std::memory_order_acquire); }

    std::atomic<std::size_t> produced{0};

private:
    std::mutex lock;
    std::size_t first = 0;
    std::size_t count = 0;
    std::vector<T> slots;
    std::atomic<bool> closed{false};
};

}  // namespace readmap
