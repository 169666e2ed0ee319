// lumen: a small ray tracer with tiles, adaptive statistics and a live preview
#include "film.hpp"
#include "render.hpp"
#include "scene.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

using namespace lumen;

namespace {

struct CommandLine {
    RenderOptions render;
    SceneOptions scene;
    int frames = 40;
    bool verbose = false;
};

int toInt(const char* name, const char* value)
{
    char* end = nullptr;
    long n = value ? std::strtol(value, &end, 10) : 0;
    if (!value || *end || n < 1 || n > 100000)
        throw std::invalid_argument(std::string("bad value for ") + name);
    return static_cast<int>(n);
}

CommandLine parse(int argc, char** argv)
{
    CommandLine c;
    for (int i = 1; i < argc; i++) {
        const char* a = argv[i];
        const char* v = i + 1 < argc ? argv[i + 1] : nullptr;
        if (!std::strcmp(a, "--width")) c.render.width = toInt(a, v), i++;
        else if (!std::strcmp(a, "--height")) c.render.height = toInt(a, v), i++;
        else if (!std::strcmp(a, "--passes")) c.render.passes = toInt(a, v), i++;
        else if (!std::strcmp(a, "--threads")) c.render.threads = toInt(a, v), i++;
        else if (!std::strcmp(a, "--frames")) c.frames = toInt(a, v), i++;
        else if (!std::strcmp(a, "--spheres")) c.scene.spheres = static_cast<unsigned>(toInt(a, v)), i++;
        else if (!std::strcmp(a, "--no-preview")) c.render.preview = false;
        else if (!std::strcmp(a, "--verbose")) c.verbose = true;
        else throw std::invalid_argument(std::string("unknown option ") + a);
    }
    return c;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        CommandLine cl = parse(argc, argv);
        unsigned previews = 0;
        uint64_t sum = 0;
        ThreadStats total;

        Scene scene(cl.scene);
        for (int frame = 0; frame < cl.frames; frame++) {
            Film film(cl.render.width, cl.render.height);
            Renderer renderer(scene, film, cl.render);
            total += renderer.run();
            previews += renderer.previews();
            sum ^= film.checksum() + static_cast<uint64_t>(frame);
            if (cl.verbose)
                std::fprintf(stderr, "frame %d done\n", frame);
        }
        std::printf("%u rays, %u bounces, %u misses, %u tiles, %u previews, checksum %llx\n",
                    total.rays, total.bounces, total.misses, total.tiles, previews,
                    static_cast<unsigned long long>(sum));
        std::printf("%lu samples, %u texture look-ups, cache %u/%u\n", Renderer::samplesTotal(),
                    scene.textureLookups(), scene.cache().hits(), scene.cache().misses());
        for (const auto& s : scene.shapes())
            std::printf("%s: about %u hits\n", s->kind(), s->hits());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "lumen: %s\n", e.what());
        return 1;
    }
    return 0;
}
