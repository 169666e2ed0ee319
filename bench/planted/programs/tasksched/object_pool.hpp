#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace ts {

template <class T>
struct PoolCounter {
    static inline std::atomic<std::uint64_t> made{0};
};

// Fixed-size objects from chunks. Freed objects go on a list under the lock.
template <class T, std::size_t Chunk = 64>
class ObjectPool {
    union Node {
        Node* next;
        alignas(T) unsigned char raw[sizeof(T)];
    };

public:
    template <class... A>
    T* make(A&&... a) {
        PoolCounter<T>::made.fetch_add(1, std::memory_order_relaxed);
        return new (take()) T(std::forward<A>(a)...);
    }

    void drop(T* p) {
        p->~T();
        Node* n = reinterpret_cast<Node*>(p);
        std::lock_guard<std::mutex> hold(lock_);
        n->next = free_;
        free_ = n;
    }

    // admission control asks without the lock
    bool try_reserve(std::int64_t n) {
        if (reserved_.load(std::memory_order_relaxed) + n > limit_) return false;
        reserved_.fetch_add(n, std::memory_order_relaxed);
        return true;
    }
    void unreserve(std::int64_t n) { reserved_.fetch_sub(n, std::memory_order_relaxed); }
    std::size_t chunks() const { return chunks_.size(); }

private:
    void* take() {
        std::lock_guard<std::mutex> hold(lock_);
        if (!free_) grow();
        Node* n = free_;
        free_ = n->next;
        return n->raw;
    }

    void grow() {
        chunks_.push_back(std::make_unique<Node[]>(Chunk));
        for (std::size_t i = Chunk; i-- > 0;) {
            Node& n = chunks_.back()[i];
            n.next = free_;
            free_ = &n;
        }
    }

    std::int64_t limit_ = 4096;
    std::atomic<std::int64_t> reserved_{0};
    std::mutex lock_;
    Node* free_ = nullptr;
    std::vector<std::unique_ptr<Node[]>> chunks_;
};

}  // namespace ts
