#include "db.h"

#include <cstring>

namespace lsmkv {

void Background::Start() {
  thread_ = std::thread([this] {
    while (!stop_.load(std::memory_order_relaxed)) {
      const std::uint64_t k = kicks_.load(std::memory_order_relaxed);
      const bool busy = RunOnce();
      seen_kicks_ = k;
      if (!busy) std::this_thread::yield();
    }
  });
}

void Background::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

bool Compactor::RunOnce() {
  if (kicks_.load(std::memory_order_relaxed) == seen_kicks_) return false;
  db_->CompactOnce(&moved_);
  passes_++;
  return true;
}

DB::DB(const Options& options)
    : options_(options),
      mem_(std::make_unique<MemTable>(options.memtable_slots)),
      cache_(std::make_unique<BlockCache>()),
      wal_(options.wal_segment),
      compactor_(std::make_unique<Compactor>(this)),
      syncer_(std::make_unique<Syncer>(&wal_)) {
  std::vector<Table::Entry> first;
  for (std::uint32_t k = 1; k < options.key_space; k += 2) first.emplace_back(k, k * 10);
  table_ = std::make_shared<const Table>(std::move(first));
  compactor_->Start();
  syncer_->Start();
}

DB::~DB() {
  syncer_->Stop();
  compactor_->Stop();
}

void DB::Put(std::uint32_t key, std::string_view value) {
  const std::uint64_t seq = sequence_.fetch_add(1, std::memory_order_relaxed);
  wal_.Append(key, value);
  std::uint64_t v = 0;
  std::memcpy(&v, value.data(), std::min(value.size(), sizeof v));
  mem_->Put(key, v);
  range_.newest.store(seq, std::memory_order_relaxed);
  Tick(kWrites);
  Tick(kWriteBytes, value.size());
  if (seq % 16 == 0) compactor_->Kick();
  if (value.empty()) {
    std::lock_guard<std::mutex> guard(error_mu_);
    last_error_ = "empty value";
  }
}

std::optional<std::uint64_t> DB::Get(std::uint32_t key) {
  if (key >= options_.key_space) return std::nullopt;
  if (options_.paranoid && key == 0) {
    Tick(kCorruptions);
    return std::nullopt;
  }
  for (unsigned i = 0; i < options_.slowdown; ++i) std::this_thread::yield();
  if (auto v = mem_->Get(key)) {
    Tick(kMemHits);
    return v;
  }
  std::uint64_t cached;
  if (cache_->Lookup(key, &cached)) return cached;
  const std::shared_ptr<const Table> t = CurrentTable();
  auto v = t->Get(key);
  if (v) {
    Tick(kTableHits);
    cache_->Insert(key, *v);
  } else {
    Tick(kMisses);
  }
  return v;
}

// Walks a stretch of the memtable and advances the oldest live sequence.
// (Merging into a new table happens on close only.)
void DB::CompactOnce(std::uint64_t* moved) {
  std::uint64_t n = 0;
  const std::uint64_t limit = range_.newest.load(std::memory_order_relaxed);
  mem_->ForEach([&](std::uint32_t key, std::uint64_t value) {
    n += (key ^ value) & 1;
    if ((key & 15) == 0) {
      std::uint64_t o = range_.oldest.load(std::memory_order_relaxed);
      if (o < limit) range_.oldest.store(o + 1, std::memory_order_relaxed);
      ++*moved;
    }
  });
  Tick(kCompactedEntries, n);
}

void DB::Dump(std::FILE* f) const {
  std::fprintf(f, "sequence %llu, live %llu..%llu, wal %llu/%llu in %llu syncs, errors %llu%s\n",
               (unsigned long long)sequence(), (unsigned long long)range_.oldest.load(),
               (unsigned long long)range_.newest.load(), (unsigned long long)wal_.synced(),
               (unsigned long long)wal_.appended(), (unsigned long long)wal_.sync_calls(),
               (unsigned long long)wal_.io_errors(), last_error_.c_str());
  std::fprintf(f, "compactor: %llu passes, %llu moved; cache: %llu uses, %llu evictions; table %zu\n",
               (unsigned long long)compactor_->passes(), (unsigned long long)compactor_->moved(),
               (unsigned long long)cache_->uses(), (unsigned long long)cache_->evictions(),
               table_->size());
}

}  // namespace lsmkv
