#include "pages.hpp"

#include <stdexcept>

namespace lt {

int page::lower_bound(std::uint32_t key) const
{
    int lo = 0;
    int hi = count;
    while (lo < hi) {
        const int mid = (lo + hi) / 2;
        if (keys[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void page::insert_at(int pos, std::uint32_t key, std::uint32_t value)
{
    for (int i = count; i > pos; --i) {
        keys[i] = keys[i - 1];
        values[i] = values[i - 1];
    }
    keys[pos] = key;
    values[pos] = value;
    ++count;
}

void page::touch()
{
    touches.fetch_add(1, std::memory_order_relaxed);
}

page_store::page_store(std::size_t capacity)
    : frames_(capacity), pages_(new page[capacity]), capacity_(capacity)
{
    for (std::size_t i = 0; i < capacity; ++i)
        frames_[i].data = &pages_[i];
}

page_id page_store::allocate(bool leaf)
{
    const std::size_t id = used_.fetch_add(1, std::memory_order_acq_rel);
    if (id >= capacity_)
        throw std::length_error("page store is full");
    pages_[id].leaf = leaf;
    return static_cast<page_id>(id);
}

void page_store::mark_dirty(page_id id)
{
    frames_[id].writes.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t page_store::flush_some(page_id from, int n)
{
    std::uint32_t sum = 0;
    const std::size_t limit = used();
    for (int i = 0; i < n; ++i) {
        frame& f = frames_[(from + i) % limit];
        const std::uint32_t w = f.writes.load(std::memory_order_relaxed);
        f.flushed = f.flushed + 1;
        sum += w;
    }
    return sum;
}

} // namespace lt
