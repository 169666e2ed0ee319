// Smoothing of the coverage once all reads are mapped.
#pragma once

#include "index.h"

namespace readmap {

struct smoothing {
    std::vector<double> front;
    std::vector<double> back;
    std::vector<double> residual;      // by worker
    std::vector<std::uint8_t> settled; // by worker
    int sweeps = 0;

    smoothing(const reference& ref, int n_workers);
    double sweep(thread_pool& pool, double weight);
};

}  // namespace readmap
