// lsmkv_bench: mixed load against an in-memory lsmkv.
#include <getopt.h>

#include <cstdlib>
#include <iostream>

#include "db.h"

namespace {

using namespace lsmkv;

struct Config {
  unsigned writers = 2;
  unsigned readers = 2;
  std::uint64_t ops = 200000;
};

class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed * 2654435761u + 1) {}
  std::uint32_t Uniform(std::uint32_t n) {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) % n;
  }

 private:
  std::uint32_t state_;
};

// Outcome per client, aligned so that clients do not disturb each other.
struct alignas(64) ClientResult {
  std::uint64_t found = 0;
  std::uint64_t digest = 0;
};

struct OpStats {
  std::uint64_t ops = 0;
  std::uint32_t max_key = 0;
  std::uint32_t min_key = ~0u;
};

// Progress line, shown by -v.
struct Progress {
  std::atomic<std::uint64_t> puts{0};
  std::atomic<std::uint64_t> gets{0};
  bool show = false;
};

[[noreturn]] void Usage() {
  std::cerr << "usage: lsmkv_bench [-v] [-w writers] [-r readers] [-n ops] [-k keys]\n";
  std::exit(2);
}

int Run(const Config& cfg, const Options& options, Progress& progress) {
  auto db = std::make_shared<DB>(options);
  const unsigned clients = cfg.writers + cfg.readers;
  std::vector<OpStats> stats(clients);
  std::vector<ClientResult> results(clients);
  std::vector<std::thread> threads;

  // load, before the clients exist
  for (std::uint32_t k = 2; k < 64; k += 2) db->Put(k, "preload!");

  for (unsigned i = 0; i < cfg.writers; ++i)
    threads.emplace_back([&, db, i] {
      Random rnd(i);
      char value[] = "value-00";
      OpStats& st = stats[i];
      for (std::uint64_t n = 0; n < cfg.ops; ++n) {
        const std::uint32_t key = rnd.Uniform(options.key_space / 2);  // hot half
        value[6] = static_cast<char>('0' + key % 10);
        db->Put(key, value);
        st.ops++;
        st.max_key = std::max(st.max_key, key);
        progress.puts.fetch_add(1, std::memory_order_relaxed);
        if (n % 64 == 0) std::this_thread::yield();
      }
    });
  for (unsigned i = 0; i < cfg.readers; ++i)
    threads.emplace_back([&stats, &results, &progress, &cfg, db, i, keys = options.key_space,
                          me = cfg.writers + i] {
      Random rnd(1000 + i);
      OpStats& st = stats[me];
      ClientResult& res = results[me];
      for (std::uint64_t n = 0; n < cfg.ops; ++n) {
        const std::uint32_t key = rnd.Uniform(keys);
        if (auto v = db->Get(key)) {
          res.found++;
          res.digest += *v;
        }
        st.ops++;
        st.min_key = std::min(st.min_key, key);
        progress.gets.fetch_add(1, std::memory_order_relaxed);
        if (n % 64 == 0) std::this_thread::yield();
      }
    });
  for (std::thread& t : threads) t.join();

  std::uint64_t ops = 0, found = 0;
  for (const OpStats& s : stats) ops += s.ops;
  for (const ClientResult& r : results) found += r.found;
  std::printf("%llu ops, %llu found\n", (unsigned long long)ops, (unsigned long long)found);
  if (progress.show)
    std::printf("puts %llu gets %llu\n", (unsigned long long)progress.puts.load(),
                (unsigned long long)progress.gets.load());
  db->Dump(stdout);
  return found == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Config cfg;
  Options options;
  auto progress = std::make_unique<Progress>();

  for (int c; (c = getopt(argc, argv, "w:r:n:k:v")) != -1;) {
    switch (c) {
      case 'w': cfg.writers = std::strtoul(optarg, nullptr, 0); break;
      case 'r': cfg.readers = std::strtoul(optarg, nullptr, 0); break;
      case 'n': cfg.ops = std::strtoull(optarg, nullptr, 0); break;
      case 'k': options.key_space = std::strtoul(optarg, nullptr, 0); break;
      case 'v': progress->show = true; break;
      default: Usage();
    }
  }
  if (cfg.writers + cfg.readers == 0 || cfg.writers + cfg.readers > 64 || options.key_space < 64)
    Usage();
  try {
    const int rc = Run(cfg, options, *progress);
    DumpTickers(stdout);
    return rc;
  } catch (const std::exception& e) {
    std::cerr << "lsmkv_bench: " << e.what() << '\n';
    return 1;
  }
}
