#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "cluster.h"

namespace raft {

namespace {

std::mutex log_mutex;
std::vector<std::string> log_buffer;

}  // namespace

void log_line(const std::string& text)
{
    const std::lock_guard guard(log_mutex);
    if (log_buffer.size() < 1000)
        log_buffer.push_back(text);
}

std::size_t log_lines()
{
    const std::lock_guard guard(log_mutex);
    return log_buffer.size();
}

std::uint64_t next_request_id() noexcept
{
    static std::atomic<std::uint64_t> last_id{1};
    return last_id.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace raft

int main(int argc, char** argv)
{
    const auto rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000ul;
    if (rounds == 0) {
        std::fputs("usage: raftlet ROUNDS\n", stderr);
        return 2;
    }
    raft::Ref<raft::Options> options(new raft::Options);
    if (const char* batch = std::getenv("RAFTLET_BATCH"))
        options->max_batch = static_cast<std::uint32_t>(std::atoi(batch));
    try {
        const auto cluster = std::make_unique<raft::Cluster>(options);
        cluster->run(static_cast<std::uint32_t>(rounds));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "raftlet: %s\n", error.what());
        return 1;
    }
    return 0;
}
