#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "latch.hpp"
#include "pages.hpp"

namespace lt {

struct log_slot {
    std::uint32_t key;
    std::uint32_t value;
    std::uint32_t lsn;
};

// Puts reserve a slot of the ring and fill it in.
class redo_log {
public:
    explicit redo_log(std::size_t slots);
    void append(std::uint32_t key, std::uint32_t value);
    std::uint64_t sum() const;

private:
    std::vector<log_slot> ring_;
    std::uint32_t mask_;
    alignas(64) std::atomic<std::uint32_t> tail_{0};
};

// A two-level tree: one inner root over linked leaves.
class btree {
public:
    btree(page_store& store, latch_table& latches, redo_log& log);

    void put(std::uint32_t key, std::uint32_t value);
    std::optional<std::uint32_t> get(std::uint32_t key);
    std::uint64_t scan(std::uint32_t from, int n);
    std::uint32_t modifications() const { return modifications_.load(); }
    std::uint32_t splits() const { return splits_ + grown_; }

private:
    page_id find_leaf(std::uint32_t key);
    void split(page_id leaf);

    alignas(64) page_store* store_;
    latch_table* latches_;
    redo_log* log_;
    page_id root_;
    std::atomic<std::uint32_t> modifications_{0};
    std::uint32_t splits_ = 0;
    std::uint32_t grown_ = 0;
    alignas(64) std::shared_mutex structure_;
};

} // namespace lt
