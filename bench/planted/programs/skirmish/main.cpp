#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "Systems.h"

namespace {

struct Options {
    uint32_t frames = 300;
    uint32_t entities = 120;
    uint32_t workers = 2;
};

bool Parse(int argc, char** argv, Options& o) {
    for (int i = 1; i + 1 < argc; i += 2) {
        auto v = static_cast<uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
        if (!std::strcmp(argv[i], "--frames"))
            o.frames = v;
        else if (!std::strcmp(argv[i], "--entities"))
            o.entities = v;
        else if (!std::strcmp(argv[i], "--workers"))
            o.workers = v;
        else
            return false;
    }
    return o.entities >= 16 && o.workers >= 1 && o.workers <= 8;
}

struct Frame {
    uint32_t number = 0;
    uint32_t events = 0;
    uint32_t best = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!Parse(argc, argv, options)) {
        std::fprintf(stderr, "usage: skirmish [--frames n] [--entities n] [--workers n]\n");
        return 2;
    }
    sk::Assets assets;
    assets.Load(6);
    auto audio = std::make_unique<sk::Audio>(assets);
    auto telemetry = std::make_unique<sk::Telemetry>();
    auto world = std::make_unique<sk::World>(options.entities, options.workers, assets);
    std::vector<std::unique_ptr<sk::System>> systems;
    systems.push_back(std::make_unique<sk::MovementSystem>(*world, 10));
    systems.push_back(std::make_unique<sk::ThinkSystem>(*world, 6, *telemetry));
    systems.push_back(std::make_unique<sk::ParticleSystem>(*world, *audio));

    audio->Start();
    telemetry->Start();
    Frame frame;
    {
        sk::JobSystem jobs(options.workers);
        sk::JobCounter counter;
        for (; frame.number < options.frames; ++frame.number) {
            for (auto& s : systems)
                jobs.Dispatch(sk::System::Entry, s.get(), s->Items(), s->Batch(), counter);
            jobs.Wait(counter);
            for (const auto& list : world->events)
                frame.events += static_cast<uint32_t>(list.size());
            frame.best = frame.events > frame.best ? frame.events : frame.best;
        }
        jobs.Shutdown();
        std::printf("frames %u, jobs %u, overflows %u\n", frame.number,
                    sk::JobSystem::jobsRun.load(), jobs.Overflows());
    }
    telemetry->Stop();
    audio->Stop();
    std::printf("population %lld, audio %s, late %u\n",
                static_cast<long long>(world->grid.Population()),
                sk::Audio::mixedBlocks ? "ran" : "silent", sk::Audio::lateBlocks);
    for (size_t i = 0; i < systems.size(); ++i)
        std::printf("system %zu: %u calls\n", i, systems[i]->Calls());
    return 0;
}
