// latchtree: a small B-tree with latches per page and a mixed workload.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "workload.hpp"

namespace {

[[noreturn]] void usage()
{
    std::fprintf(stderr, "usage: latchtree [operations [keys [writers [readers]]]]\n");
    std::exit(2);
}

int number(const char* text, int low, int high)
{
    try {
        const int v = std::stoi(text);
        if (v >= low && v <= high)
            return v;
    } catch (const std::exception&) {
    }
    usage();
}

} // namespace

int main(int argc, char** argv)
{
    lt::options o;
    if (argc > 1)
        o.operations = number(argv[1], 1, 100000000);
    if (argc > 2)
        o.keys = static_cast<std::uint32_t>(number(argv[2], 8, 128));
    if (argc > 3)
        o.writers = number(argv[3], 1, 3);
    if (argc > 4)
        o.readers = number(argv[4], 1, 3);
    if (argc > 5)
        usage();

    lt::page_store store(64);
    lt::latch_table latches(32);
    lt::redo_log log(32);
    lt::epoch_domain epochs;
    lt::btree tree(store, latches, log);
    lt::workload load(tree, store, epochs, o);
    load.run();
    load.print();
    std::printf("log %s retired %s\n", log.sum() ? "used" : "unused", epochs.retired() ? "some" : "none");
    return 0;
}
