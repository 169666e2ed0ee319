#include "store.hpp"

#include <cstdio>

namespace tsdb {

namespace {

// Rows that each query thread has touched, for the load shown on the console.
std::array<std::uint64_t, 4> touched{};

}  // namespace

std::atomic<std::uint64_t> Store::nextSequence_{0};
std::atomic<std::uint64_t> Store::scannedRows_{0};
std::uint64_t Store::failures_ = 0;
const char* Store::banner_ = "tsdb";

Series* Catalog::add(const std::string& name, std::size_t chunkRows) {
    std::lock_guard<std::mutex> hold(mutex_);
    auto& place = byName_[name];
    place = std::make_unique<Series>(name, chunkRows);
    bySeq_.push_back(place.get());
    generation_.fetch_add(1, std::memory_order_release);
    return place.get();
}

Series* Catalog::find(std::uint32_t key) {
    std::lock_guard<std::mutex> hold(mutex_);
    ++lookups_;
    return bySeq_[key % bySeq_.size()];
}

Store::Store(Options options, unsigned ingesters, unsigned queriers)
    : options_(options),
      catalog_(std::make_unique<Catalog>()),
      ingestSlots_(ingesters),
      querySlots_(queriers) {
    for (unsigned i = 0; i < ingesters * 2; ++i)
        hot_.push_back(catalog_->add("metric." + std::to_string(i), options_.chunkRows));
    for (unsigned i = 0; i < ingesters; ++i) observers_.push_back(makeObserver());
}

std::int64_t Store::sample(unsigned slot, std::uint64_t round) const {
    return static_cast<std::int64_t>((round * 2654435761u) >> 7 & 1023) - 100 + static_cast<std::int64_t>(slot);
}

void Store::ingest(unsigned slot, std::uint64_t rounds) {
    IngestSlot& mine = ingestSlots_[slot];
    for (std::uint64_t round = 0; round < rounds; ++round) {
        // Each ingest thread owns two series.
        Series* series = hot_[slot * 2 + (round & 1)];
        const std::int64_t value = sample(slot, round);
        if (options_.verify && value > 4096) {
            ++failures_;
            continue;
        }
        const auto at = static_cast<Timestamp>(nextSequence_.fetch_add(1, std::memory_order_relaxed));
        if (series->append(at, value)) ++mine.rolled;
        observers_[slot]->onRow(value);
        ++mine.rows;
        mine.latest = value;
        if ((round & 127) == 127) std::this_thread::yield();  // as if the next batch were read
    }
}

void Store::query(unsigned slot) {
    QuerySlot& mine = querySlots_[slot];
    std::uint32_t key = slot;
    while (!stopping_.load(std::memory_order_acquire)) {
        openQueries_.fetch_add(1, std::memory_order_relaxed);
        Series* series = catalog_->find(key++);
        mine.checksum += series->scan(options_.scanRows);
        ++mine.queries;
        touched[slot] += options_.scanRows;
        scannedRows_.fetch_add(options_.scanRows, std::memory_order_relaxed);
        openQueries_.fetch_sub(1, std::memory_order_relaxed);
        if ((mine.queries & 15) == 0) std::this_thread::yield();
    }
}

void Store::watch() {
    std::uint32_t seen = 0;
    while (!stopping_.load(std::memory_order_acquire)) {
        const std::uint32_t now = catalog_->generation();
        if (now != seen) {
            seen = now;
            ++watched_;
        }
        for (const auto& observer : observers_) observer->onTick();
        std::this_thread::yield();
    }
}

void Store::report() const {
    std::uint64_t rows = 0;
    for (const IngestSlot& slot : ingestSlots_) rows += slot.rows;
    std::uint64_t sealed = 0;
    for (const Series* series : hot_) sealed += series->sealed();
    std::uint64_t seen = 0;
    for (const auto& observer : observers_) seen += observer->rows();
    if (seen != rows) std::printf("observers saw %llu rows\n", static_cast<unsigned long long>(seen));
    std::printf("%s: %llu rows, %llu sealed chunks, %llu failures\n", banner_, static_cast<unsigned long long>(rows),
                static_cast<unsigned long long>(sealed), static_cast<unsigned long long>(failures_));
}

}  // namespace tsdb
