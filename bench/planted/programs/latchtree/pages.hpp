#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace lt {

constexpr int fanout = 12;
using page_id = std::uint32_t;
constexpr page_id no_page = ~page_id{0};

// A node of the tree.
struct alignas(64) page {
    std::uint16_t count = 0;
    std::uint16_t leaf = 1;
    std::atomic<std::uint32_t> touches{0};
    page_id next = no_page;
    std::uint32_t high = ~0u;
    std::array<std::uint32_t, fanout> keys{};
    std::array<std::uint32_t, fanout + 1> values{};

    int lower_bound(std::uint32_t key) const;
    bool full() const { return count == fanout; }
    void insert_at(int pos, std::uint32_t key, std::uint32_t value);
    void touch();
};

// What the checkpointer knows of a page.
struct frame {
    page* data = nullptr;
    std::atomic<std::uint32_t> writes{0};
    std::uint32_t flushed = 0;
};

class page_store {
public:
    explicit page_store(std::size_t capacity);

    page_id allocate(bool leaf);
    page& at(page_id id) { return *frames_[id].data; }
    void mark_dirty(page_id id);
    std::uint32_t flush_some(page_id from, int n);
    std::size_t used() const { return used_.load(std::memory_order_acquire); }

private:
    std::vector<frame> frames_;
    std::unique_ptr<page[]> pages_;
    std::size_t capacity_;
    alignas(64) std::atomic<std::size_t> used_{0};
};

} // namespace lt
