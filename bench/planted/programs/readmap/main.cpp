#include <cstdio>
#include <cstdlib>

#include "mapper.h"
#include "smooth.h"

namespace readmap {

namespace {

std::mutex warn_mutex;
std::vector<std::string> warn_texts;

parameters from_environment(int argc, char** argv)
{
    parameters p;
    if (argc > 1)
        p.n_reads = std::strtoul(argv[1], nullptr, 10);
    if (const char* sample = std::getenv("READMAP_SAMPLE"))
        p.sample = sample;
    return p;
}

}  // namespace

void warn(const std::string& what)
{
    std::lock_guard<std::mutex> guard(warn_mutex);
    warn_texts.push_back(what);
}

std::size_t warnings()
{
    std::lock_guard<std::mutex> guard(warn_mutex);
    return warn_texts.size();
}

}  // namespace readmap

int main(int argc, char** argv)
{
    using namespace readmap;
    const parameters params = from_environment(argc, argv);
    if (params.n_reads == 0) {
        std::fputs("readmap: no reads\n", stderr);
        return 2;
    }
    thread_pool pool(params.n_mappers);
    auto ref = build_reference(pool);
    const auto team = std::make_unique<mapper_team>(params, *ref);
    std::thread reader([&team] { team->read_all(); });
    std::thread writer([&team] { team->write_all(); });
    std::thread reporter([&team] { team->progress(); });
    pool.run_on_all([&team](int id) { team->map_batches(id); });
    reader.join();
    writer.join();
    reporter.join();

    smoothing smooth(*ref, pool.size());
    double change = 0.0;
    for (std::size_t s = 0; s < 20 + params.n_reads / 60; ++s)
        change = smooth.sweep(pool, 0.4);
    team->summarise();
    double total = 0.0;
    for (int i = 0; i < pool.size(); ++i)
        total += team->score_sums()[i];
    std::printf("score %.1f, change %.4f after %d sweeps, drift %d, %zu warnings\n", total, change, smooth.sweeps,
                drift_estimate > 0.0, warnings());
    return team->state().bad_reads.load() == 0 ? 0 : 1;
}
