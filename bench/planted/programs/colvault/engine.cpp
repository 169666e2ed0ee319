#include "engine.h"

#include <algorithm>
#include <bit>

namespace colvault {

namespace {

// Statistics by column, for the planner (updated without locks, rough
// numbers are good enough for it).
struct ColumnHeat {
  std::uint32_t lookups;
  std::uint32_t rows;
};
ColumnHeat column_heat[8];

std::atomic<std::uint32_t> next_query_id{1};
std::uint32_t planner_cost_factor = 3;
std::uint32_t evict_after = 6000;
std::atomic<std::uint32_t> failed_queries{0};

constexpr int kMorselBurst = 4;
thread_local int tls_worker = -1;

// What the verifiers have found, one element each; summed up after the join.
std::array<std::uint32_t, 4> verify_errors{};

struct SlowLog {
  std::mutex slow_mutex;
  std::vector<std::uint32_t> slow_ids;
  std::uint32_t slow_overflow = 0;
};
SlowLog slow_log;
constexpr std::uint32_t kSlowTurns = 2000;

void NoteSlow(std::uint32_t id) {
  std::lock_guard<std::mutex> guard(slow_log.slow_mutex);
  if (slow_log.slow_ids.size() < 64) {
    slow_log.slow_ids.push_back(id);
  } else {
    ++slow_log.slow_overflow;
  }
}

std::uint32_t FilterBlock(const Block& b, Value low, Value high, Value& sum) {
  std::uint32_t n = 0;
  for (int i = 0; i < kBlockRows; i += 2) {
    const Value v = b.at(i);
    if (v >= low && v <= high) {
      sum += v;
      ++n;
    }
  }
  return n;
}

std::uint32_t TakeBlock(const Block& b, Value, Value, Value& sum) {
  for (int i = 0; i < kBlockRows; i += 4) sum += b.at(i);
  return kBlockRows;
}

std::uint32_t SkipBlock(const Block&, Value, Value, Value&) { return 0; }

}  // namespace

// ---------------------------------------------------------------- workers

ScanWorker::ScanWorker(Engine& engine, int index)
    : engine_(engine), index_(index), scratch_(std::make_unique<Scratch>()) {}

bool ScanWorker::Step(QueryState& q) {
  const auto block = q.next_block.fetch_add(1, std::memory_order_relaxed);
  if (block >= q.total_blocks) return false;

  auto& stats = engine_.worker_stats_[static_cast<std::size_t>(index_)];
  Column& column = engine_.table_->column(q.column);
  Block& b = column.block(block);
  b.Pin();
  b.Touch(engine_.epoch_.load(std::memory_order_relaxed));
  Value sum = 0;
  Kernel& kernel = engine_.kernels_.Choose(b.zone(), q.low, q.high);
  const auto matched = kernel.fn(b, q.low, q.high, sum);
  b.Unpin();

  q.partial[static_cast<std::size_t>(index_)] += sum;
  scratch_->hash = scratch_->hash * 31 + static_cast<std::uint64_t>(sum);
  if (++scratch_->fill >= 4096) {
    scratch_->fill = 0;
    ++scratch_->spill;
  }
  ++stats.morsels;
  if (matched == 0) ++stats.skipped;
  RowsScanned::Add(index_, kBlockRows);
  RowsMatched::Add(index_, matched);
  g_scan_totals.bytes.fetch_add(matched * sizeof(Value), std::memory_order_relaxed);
  q.blocks_done.fetch_add(1, std::memory_order_release);
  return true;
}

void ScanWorker::Run() {
  tls_worker = index_;
  const auto me = static_cast<std::size_t>(index_);
  while (!g_stop.load(std::memory_order_relaxed)) {
    bool any = false;
    ++turns_;
    for (auto& slot : engine_.slots_) {
      QueryState* q = slot.current.load(std::memory_order_acquire);
      if (q == nullptr) continue;
      engine_.busy_[me] = 1;
      for (int burst = 0; burst < kMorselBurst && Step(*q); ++burst) any = true;
      engine_.busy_[me] = 0;
    }
    if (!any) ++engine_.idle_turns_[me].value;
    std::this_thread::yield();  // leaves the others their share of the query
  }
  engine_.worker_stats_[me].checksum = scratch_->hash;
}

// --------------------------------------------------------------- sessions

Session::Session(Engine& engine, int index)
    : engine_(engine), index_(index), seed_(static_cast<std::uint32_t>(index) * 7919u + 13u) {}

Query Session::Draw() noexcept {
  Query q{};
  seed_ = seed_ * 1664525u + 1013904223u;
  q.id = next_query_id.fetch_add(1, std::memory_order_relaxed);
  q.column = (seed_ >> 12) % static_cast<std::uint32_t>(engine_.table_->column_count());
  q.low = static_cast<Value>((seed_ >> 8) % 600);
  q.high = q.low + static_cast<Value>(seed_ >> 20) * planner_cost_factor;
  return q;
}

void Session::Run() {
  const auto me = static_cast<std::size_t>(index_);
  auto state = engine_.states_[me];
  auto& slot = engine_.slots_[me];
  const int rounds = engine_.registry_.get().rounds;
  for (int r = 0; r < rounds; ++r) {
    const Query q = Draw();
    Column& column = engine_.table_->column(q.column);
    column.CountScan();
    ++column_heat[q.column].lookups;
    state->column = q.column;
    state->low = q.low;
    state->high = q.high;
    state->partial.fill(0);
    state->blocks_done.store(0, std::memory_order_relaxed);
    state->next_block.store(0, std::memory_order_release);
    slot.generation.fetch_add(1, std::memory_order_relaxed);
    slot.current.store(state.get(), std::memory_order_release);

    // feed some appends while the workers scan
    for (std::uint32_t i = 0; i < 4; ++i) {
      AppendRow row{q.column, static_cast<std::uint32_t>(index_), q.low + i};
      if (!engine_.appends_[me].Push(row)) break;
      engine_.table_->Append(row.value);
    }
    std::uint32_t waits = 0;
    while (state->blocks_done.load(std::memory_order_acquire) < state->total_blocks) {
      if (++waits > 1000000) {
        failed_queries.fetch_add(1);
        break;
      }
      std::this_thread::yield();
    }
    slot.current.store(nullptr, std::memory_order_release);
    if (waits > kSlowTurns) NoteSlow(q.id);
    auto& latency = engine_.latencies_[me].value;
    ++latency.samples;
    ++latency.turns_log2[std::min<std::size_t>(7, static_cast<std::size_t>(std::bit_width(waits)))];
    Value total = 0;
    for (auto p : state->partial) total += p;
    answer_ += static_cast<std::uint64_t>(total);
    column_heat[q.column].rows += static_cast<std::uint32_t>(total & 0xff);
    g_queries_done.fetch_add(1, std::memory_order_relaxed);
  }
  engine_.sessions_left_.fetch_sub(1);
}

// ----------------------------------------------------------------- engine

Engine::Engine(const SettingsRegistry& registry, std::shared_ptr<Table> table)
    : registry_(registry), table_(std::move(table)) {
  const auto& s = registry_.get();
  if (s.scan_workers > kMaxWorkers) throw std::invalid_argument("too many scan workers");
  kernels_.Register("filter", FilterBlock);
  kernels_.Register("take", TakeBlock);
  kernels_.Register("skip", SkipBlock);
  slots_ = std::vector<Slot>(static_cast<std::size_t>(s.sessions));
  appends_ = std::make_unique<AppendRing<AppendRow, 64>[]>(static_cast<std::size_t>(s.sessions));
  worker_stats_.resize(static_cast<std::size_t>(s.scan_workers));
  idle_turns_.resize(static_cast<std::size_t>(s.scan_workers));
  busy_.resize(static_cast<std::size_t>(s.scan_workers));
  latencies_.resize(static_cast<std::size_t>(s.sessions));
  for (int i = 0; i < s.scan_workers; ++i) workers_.push_back(std::make_unique<ScanWorker>(*this, i));
  for (int i = 0; i < s.sessions; ++i) {
    states_.emplace_back(new QueryState(table_->live_blocks()));
    sessions_.push_back(std::make_unique<Session>(*this, i));
  }
  sessions_left_ = s.sessions;
}

Engine::~Engine() = default;

void Engine::MergeLoop(std::stop_token stop) {
  const auto threshold = registry_.get().merge_threshold;
  std::uint32_t pending = 0;
  while (!stop.stop_requested()) {
    bool any = false;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      AppendRow row;
      while (appends_[i].Pop(row)) {
        any = true;
        merged_rows_.fetch_add(1, std::memory_order_relaxed);
        column_heat[row.column].rows++;
        if (++pending >= threshold) {
          pending = 0;
          table_->TakeDelta();
          g_snapshot_version.fetch_add(1, std::memory_order_release);
          ++merge_runs_;
        }
      }
    }
    if (!any) std::this_thread::yield();
  }
}

void Engine::EvictLoop(std::stop_token stop) {
  std::uint32_t hand = 0;
  while (!stop.stop_requested()) {
    const auto now = epoch_.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t c = 0; c < table_->column_count(); ++c) {
      Block& b = table_->column(c).block(hand % table_->live_blocks());
      if (now - b.last_used() > evict_after) ++evictable_;
    }
    ++hand;
    std::this_thread::yield();
  }
}

// Before the start: every column is read once, by a thread of its own.
void Engine::VerifyTable() {
  std::vector<std::thread> verifiers;
  for (std::size_t c = 0; c < table_->column_count(); ++c)
    verifiers.emplace_back([this, c] {
      std::uint32_t errors = 0;
      for (std::size_t i = 0; i < table_->column(c).block_count(); ++i) errors += table_->column(c).block(i).Verify();
      verify_errors[c % verify_errors.size()] += errors;
    });
  for (auto& v : verifiers) v.join();
  for (auto e : verify_errors)
    if (e != 0) throw std::runtime_error("checksum error in the table");
}

void Engine::Run() {
  VerifyTable();
  std::jthread merger([this](std::stop_token st) { MergeLoop(st); });
  std::jthread evictor([this](std::stop_token st) { EvictLoop(st); });
  std::vector<std::jthread> scan, clients;
  for (auto& w : workers_) scan.emplace_back([&w] { w->Run(); });
  for (auto& s : sessions_) clients.emplace_back([&s] { s->Run(); });
  for (auto& c : clients) c.join();
  g_stop.store(true);
  for (auto& t : scan) t.join();
}

void Engine::Report() const {
  for (std::size_t i = 0; i < worker_stats_.size(); ++i)
    CV_LOG(kInfo, "worker %zu: %u morsels, %u skipped, %llu idle turns", i, worker_stats_[i].morsels,
           worker_stats_[i].skipped, static_cast<unsigned long long>(idle_turns_[i].value));
  kernels_.Dump();
  std::uint64_t answer = 0;
  for (auto& s : sessions_) answer += s->answer();
  std::printf("queries %u rows %llu matched %llu merged %u answer %llu\n", g_queries_done.load(),
              static_cast<unsigned long long>(RowsScanned::Sum()), static_cast<unsigned long long>(RowsMatched::Sum()),
              merged_rows_.load(), static_cast<unsigned long long>(answer));
  CV_LOG(kInfo, "%llu bytes matched, %zu slow queries, %u not kept",
         static_cast<unsigned long long>(g_scan_totals.bytes.load()), slow_log.slow_ids.size(), slow_log.slow_overflow);
  if (failed_queries.load() != 0) CV_LOG(kWarn, "%u queries failed", failed_queries.load());
}

}  // namespace colvault
