#include "series.hpp"

namespace tsdb {

Series::Series(std::string name, std::size_t chunkRows)
    : name_(std::move(name)),
      chunkRows_(chunkRows),
      codec_(makeCodec("delta")),
      open_(std::make_shared<Chunk>(chunkRows)) {}

bool Series::append(Timestamp at, std::int64_t value) {
    Chunk* chunk = open_.get();
    std::uint32_t n = chunk->count.load(std::memory_order_relaxed);
    bool rolled = false;
    if (n == chunkRows_) {
        std::atomic_store(&open_, std::make_shared<Chunk>(chunkRows_));
        chunk = open_.get();
        n = 0;
        ++sealed_;
        rolled = true;
    }
    if (n == 0) chunk->first = at;
    chunk->times.set(n, at);
    chunk->words.set(n, codec_->pack(previous_, value));
    chunk->last = at;
    chunk->count.store(n + 1, std::memory_order_release);
    previous_ = value;
    ++appended_;
    return rolled;
}

std::int64_t Series::scan(std::size_t rows) {
    const std::shared_ptr<Chunk> chunk = current();
    const std::size_t n = chunk->count.load(std::memory_order_acquire);
    const std::size_t first = n > rows ? n - rows : 0;
    const std::int64_t sum = chunk->words.fold(first, n, std::int64_t{0}, [](std::int64_t acc, std::uint64_t word) {
        return acc + static_cast<std::int64_t>(word >> 1);
    });
    scans_.fetch_add(1, std::memory_order_relaxed);
    lastResult_.store(sum, std::memory_order_relaxed);
    return sum;
}

}  // namespace tsdb
