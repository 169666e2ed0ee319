// A search over files by several threads, each of which counts matches and bytes in its element of a vector.
// about: Result results results_ matches bytes
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

#ifdef FIXED
struct alignas(64) Result {
#else
struct Result {
#endif
  std::uint64_t matches = 0;
  std::uint64_t bytes = 0;
};

#ifdef EDIT
bool ignoreCase = false;
#endif

class Search {
 public:
  Search(std::vector<std::string> files, char needle, unsigned threads)
      : files_(std::move(files)), needle_(needle), results_(threads) {}

  std::uint64_t run() {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < results_.size(); ++i) threads.emplace_back(&Search::scan, this, i);
    for (auto& thread : threads) thread.join();
    std::uint64_t sum = 0;
    for (const auto& result : results_) sum += result.matches;
    return sum;
  }

 private:
  void scan(std::size_t self) {
    for (;;) {
      std::size_t at = next_.fetch_add(1);
      if (at >= files_.size()) return;
      std::ifstream in(files_[at], std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      for (char c : text) {
        if (c == needle_) ++results_[self].matches;
        ++results_[self].bytes;
      }
    }
  }

  std::vector<std::string> files_;
  char needle_;
  std::vector<Result> results_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace

int main(int argc, char** argv) {
  Search search({argv + 1, argv + argc}, '\n', 4);
  std::printf("%llu\n", static_cast<unsigned long long>(search.run()));
}
