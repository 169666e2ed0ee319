// Two stages of a pipeline that count what they did in one object on the heap;
// PAD parts the counts.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#ifdef PAD
#define OWN alignas(64)
#else
#define OWN
#endif

namespace {

class Pipeline {
public:
  void parse(const std::string &text) {
    std::uint64_t value = 0;
    for (int round = 0; round < 4'000'000; ++round) {
      for (char digit : text)
        value = value * 10 + static_cast<unsigned>(digit - '0');
      parsed.fetch_add(1 + (value & 1), std::memory_order_relaxed);
    }
  }
  void render() {
    std::uint64_t state = 88172645463325252u;
    for (int round = 0; round < 8'000'000; ++round) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      written.fetch_add(1 + (state & 1), std::memory_order_relaxed);
    }
  }
  std::uint64_t total() const { return parsed + written; }

private:
  std::string name = "pipeline";
  OWN std::atomic<std::uint64_t> parsed{0};
  OWN std::atomic<std::uint64_t> written{0};
};

[[gnu::noinline]] std::unique_ptr<Pipeline> build_pipeline() {
  return std::make_unique<Pipeline>();
}

} // namespace

int main() {
  auto pipeline = build_pipeline();
  std::thread front([&] { pipeline->parse("31415926"); });
  std::thread back(&Pipeline::render, pipeline.get());
  front.join();
  back.join();
  return pipeline->total() ? 0 : 1;
}
