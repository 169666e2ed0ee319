#include "index.h"

namespace readmap {

namespace {

// bases of every kind by worker: filled while the index is made, summed after
std::size_t base_counts[max_workers][4];

}  // namespace

std::unique_ptr<reference> build_reference(thread_pool& pool)
{
    auto ref = std::make_unique<reference>(genome_length);
    pool.parallel_for(genome_length, 1024, [&](std::size_t first, std::size_t last) {
        std::size_t local[4] = {};
        for (std::size_t i = first; i < last; ++i) {
            ref->bases[i] = static_cast<std::uint8_t>(mix(i * 31 + 7) & 3);
            ++local[ref->bases[i]];
        }
        for (int b = 0; b < 4; ++b)
            base_counts[worker_id()][b] += local[b];
    });
    auto index = std::make_unique<kmer_index>();
    const std::size_t n_kmers = std::size_t{1} << (2 * kmer);
    index->mask = static_cast<std::uint32_t>(n_kmers - 1);
    index->offsets = new std::uint32_t[n_kmers + 1]();
    index->n_positions = genome_length - kmer;
    index->positions = new std::uint32_t[index->n_positions];
    for (std::size_t i = 0; i < index->n_positions; ++i)
        ++index->offsets[kmer_at(&ref->bases[i]) + 1];
    for (std::size_t k = 0; k < n_kmers; ++k)
        index->offsets[k + 1] += index->offsets[k];
    std::vector<std::uint32_t> at(index->offsets, index->offsets + n_kmers);
    for (std::size_t i = 0; i < index->n_positions; ++i)
        index->positions[at[kmer_at(&ref->bases[i])]++] = static_cast<std::uint32_t>(i);
    ref->index = std::move(index);
    std::size_t total = 0;
    for (const auto& counts : base_counts)
        for (const auto count : counts)
            total += count;
    if (total != genome_length)
        warn("bases are missing");
    return ref;
}

}  // namespace readmap
