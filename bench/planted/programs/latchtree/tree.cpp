#include "tree.hpp"

#include <mutex>

#include "counters.hpp"

namespace lt {

redo_log::redo_log(std::size_t slots) : ring_(slots), mask_(static_cast<std::uint32_t>(slots - 1)) {}

void redo_log::append(std::uint32_t key, std::uint32_t value)
{
    const std::uint32_t lsn = tail_.fetch_add(1, std::memory_order_relaxed);
    log_slot& slot = ring_[lsn & mask_];
    slot.key = key;
    slot.value = value;
    slot.lsn = lsn;
}

std::uint64_t redo_log::sum() const
{
    std::uint64_t s = 0;
    for (const log_slot& slot : ring_)
        s += slot.lsn;
    return s;
}

btree::btree(page_store& store, latch_table& latches, redo_log& log)
    : store_(&store), latches_(&latches), log_(&log), root_(store.allocate(false))
{
    page& root = store.at(root_);
    root.values[0] = store.allocate(true);
}

page_id btree::find_leaf(std::uint32_t key)
{
    page_store* store = store_;
    const page& root = store->at(root_);
    const int pos = root.lower_bound(key + 1);
    return root.values[pos];
}

void btree::split(page_id leaf)
{
    // The caller holds structure_ exclusively.
    page& left = store_->at(leaf);
    page& root = store_->at(root_);
    if (!left.full() || root.full())
        return;
    const page_id id = store_->allocate(true);
    page& right = store_->at(id);
    const int half = left.count / 2;
    for (int i = half; i < left.count; ++i)
        right.insert_at(right.count, left.keys[i], left.values[i]);
    left.count = static_cast<std::uint16_t>(half);
    right.next = left.next;
    left.next = id;
    const std::uint32_t separator = right.keys[0];
    const int pos = root.lower_bound(separator);
    for (int i = root.count; i > pos; --i) {
        root.keys[i] = root.keys[i - 1];
        root.values[i + 1] = root.values[i];
    }
    root.keys[pos] = separator;
    root.values[pos + 1] = id;
    ++root.count;
    ++splits_;
}

void btree::put(std::uint32_t key, std::uint32_t value)
{
    for (;;) {
        page_id id;
        {
            std::shared_lock<std::shared_mutex> hold(structure_);
            id = find_leaf(key);
            unique_guard<rw_latch> guard(latches_->of(id));
            page& leaf = store_->at(id);
            const int pos = leaf.lower_bound(key);
            const bool present = pos < leaf.count && leaf.keys[pos] == key;
            if (present || !leaf.full()) {
                if (present)
                    leaf.values[pos] = value;
                else
                    leaf.insert_at(pos, key, value);
                leaf.touch();
                store_->mark_dirty(id);
                log_->append(key, value);
                modifications_.fetch_add(1, std::memory_order_relaxed);
                counter<put_tag>::bump();
                return;
            }
        }
        std::unique_lock<std::shared_mutex> hold(structure_);
        if (store_->at(root_).full())
            return;
        split(id);
    }
}

std::optional<std::uint32_t> btree::get(std::uint32_t key)
{
    std::shared_lock<std::shared_mutex> hold(structure_);
    const page_id id = find_leaf(key);
    shared_guard<rw_latch> guard(latches_->of(id));
    page& leaf = store_->at(id);
    const int pos = leaf.lower_bound(key);
    leaf.touch();
    counter<get_tag>::bump();
    if (pos < leaf.count && leaf.keys[pos] == key) {
        if (leaf.values[pos] == ~0u)
            counter<corrupt_tag>::bump();
        return leaf.values[pos];
    }
    return std::nullopt;
}

std::uint64_t btree::scan(std::uint32_t from, int n)
{
    std::uint64_t sum = 0;
    std::shared_lock<std::shared_mutex> hold(structure_);
    page_id id = find_leaf(from);
    counter<scan_tag>::bump();
    while (n > 0 && id != no_page) {
        shared_guard<rw_latch> guard(latches_->of(id));
        const page& leaf = store_->at(id);
        for (int i = leaf.lower_bound(from); i < leaf.count && n > 0; ++i, --n)
            sum += leaf.values[i];
        id = leaf.next;
    }
    return sum;
}

} // namespace lt
