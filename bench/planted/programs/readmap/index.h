// Reference sequence and its k-mer index.
#pragma once

#include "pool.h"

namespace readmap {

struct kmer_index {
    std::uint32_t* offsets = nullptr;    // by k-mer
    std::uint32_t* positions = nullptr;  // sorted by k-mer
    std::uint32_t mask = 0;
    std::uint32_t n_positions = 0;
    std::atomic<std::uint32_t> lookups{0};
    std::uint32_t overflows = 0;

    ~kmer_index()
    {
        delete[] offsets;
        delete[] positions;
    }
};

struct reference {
    std::vector<std::uint8_t> bases;
    std::unique_ptr<kmer_index> index;
    std::vector<std::atomic<std::uint16_t>> coverage;

    explicit reference(std::size_t n) : bases(n), coverage(n / 16) {}
};

std::unique_ptr<reference> build_reference(thread_pool& pool);

inline std::uint32_t kmer_at(const std::uint8_t* s)
{
    std::uint32_t code = 0;
    for (int i = 0; i < kmer; ++i)
        code = code << 2 | s[i];
    return code;
}

}  // namespace readmap
