// fanout - a chat server without a network: authors post into rooms,
// dispatchers screen the messages, deliverers hand them to the members.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "hub.h"

namespace {

using fanout::Hub;
using fanout::Options;

struct Tally {
  uint64_t posted_bytes = 0;
  std::atomic<uint64_t> posts{0};
  std::atomic<uint64_t> deliveries{0};
  std::atomic<uint64_t> longest{0};
};

bool ParseInt(const char* text, int* out) {
  char* end = nullptr;
  const long v = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || v < 1) return false;
  *out = static_cast<int>(v);
  return true;
}

bool Parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (std::strcmp(argv[i], "--messages") == 0 && more) {
      if (!ParseInt(argv[++i], &options->messages)) return false;
    } else if (std::strcmp(argv[i], "--text") == 0 && more) {
      if (!ParseInt(argv[++i], &options->text) || options->text > 32) return false;
    } else if (std::strcmp(argv[i], "--verbose") == 0) {
      options->verbose = true;
    } else {
      return false;
    }
  }
  return true;
}

void Report(const Hub& hub, const Tally& tally, const fanout::Worker& watchdog) {
  uint64_t posted = 0;
  uint64_t bytes = 0;
  for (const auto& room : hub.rooms) {
    posted += room.posted();
    bytes += room.bytes();
  }
  uint64_t unread = 0;
  for (const auto& u : hub.unread) unread += u.load();
  std::printf("posted %llu bytes %llu dispatched %llu\n",
              static_cast<unsigned long long>(posted), static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(fanout::Traffic::dispatched.load()));
  std::printf("unread %llu present %llu fanned out %llu\n",
              static_cast<unsigned long long>(unread),
              static_cast<unsigned long long>(hub.presence.Total()),
              static_cast<unsigned long long>(fanout::Traffic::fanned_out.load()));
  std::printf("posts %llu deliveries %llu longest %llu\n",
              static_cast<unsigned long long>(tally.posts.load()),
              static_cast<unsigned long long>(tally.deliveries.load()),
              static_cast<unsigned long long>(tally.longest.load()));
  std::printf("%s: %s\n", watchdog.name().c_str(), hub.roster.sweeps() ? "ran" : "did not run");
  for (const auto& t : hub.totals) {
    std::printf("deliverer: %llu messages, %llu characters\n",
                static_cast<unsigned long long>(t.messages),
                static_cast<unsigned long long>(t.characters));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, &options)) {
    std::fprintf(stderr, "usage: fanout [--messages N] [--text N] [--verbose]\n");
    return 2;
  }

  auto hub = std::make_unique<Hub>(options);
  alignas(64) Tally tally;
  hub->on_post = [&tally](const fanout::Message& m) {
    tally.posts.fetch_add(1, std::memory_order_relaxed);
    uint64_t seen = tally.longest.load(std::memory_order_relaxed);
    if (m.length() > seen) tally.longest.store(m.length());
  };
  hub->on_deliver = [&tally](int, const fanout::Message&) {
    tally.deliveries.fetch_add(1, std::memory_order_relaxed);
  };

  std::vector<std::unique_ptr<fanout::Worker>> workers;
  for (int i = 0; i < fanout::kDispatchers; ++i) {
    workers.push_back(std::make_unique<fanout::Author>(hub.get(), i));
    workers.push_back(std::make_unique<fanout::Dispatcher>(hub.get(), i));
  }
  for (int i = 0; i < fanout::kDeliverers; ++i) {
    workers.push_back(std::make_unique<fanout::Deliverer>(hub.get(), i));
  }
  std::vector<fanout::Worker*> watched;
  for (auto& w : workers) watched.push_back(w.get());
  fanout::Watchdog watchdog(hub.get(), watched);

  for (auto& w : workers) w->Start();
  watchdog.Start();
  for (auto& w : workers) w->Join();
  hub->stopping.store(true);
  watchdog.Join();
  Report(*hub, tally, watchdog);
  return 0;
}
