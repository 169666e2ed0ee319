#include "Desk.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
    cabdesk::DeskOptions options;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "-v") == 0) {
            options.chatty = true;
        } else if (std::atoi(argv[i]) > 0) {
            options.rides = static_cast<unsigned>(std::atoi(argv[i]));
        } else {
            std::fprintf(stderr, "usage: cabdesk [-v] [rides]\n");
            return 2;
        }
    }
    const auto desk = std::make_unique<cabdesk::Desk>(options);
    desk->open();
    std::thread caller([&desk] { desk->takeCalls(); });
    caller.join();
    desk->close();
    desk->report();
    return 0;
}
