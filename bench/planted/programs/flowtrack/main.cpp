#include <cstdlib>

#include "engine.hpp"

int main(int argc, char** argv) {
    ft::Engine::Options o;
    if (argc > 1) o.packets = std::atol(argv[1]);
    if (const char* s = std::getenv("FT_NAME")) o.name = s;
    if (const char* s = std::getenv("FT_SEED")) ft::hash_seed = static_cast<std::uint32_t>(std::strtoul(s, nullptr, 0));
    auto engine = std::make_unique<ft::Engine>(o);
    engine->run();
    engine->report();
    return 0;
}
