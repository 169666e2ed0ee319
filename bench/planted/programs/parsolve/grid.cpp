#include "grid.hpp"

#include <cmath>

namespace par {

namespace {

// The heat that each worker moved in all; added up at the end.
double moved[kMaxWorkers];

struct alignas(64) Scratch {
    double widest;
    std::uint64_t rows;
};

Scratch scratch[kMaxWorkers];

}  // namespace

Grid::Grid(std::uint32_t rows, std::uint32_t width)
    : rows_(rows), width_(width), cells_(static_cast<std::size_t>(rows) * width, 0.0) {
    for (std::uint32_t i = 0; i < width; ++i) at(0, i) = 100.0;
    for (std::uint32_t r = 1; r < rows; ++r) at(r, 0) = static_cast<double>(r % 7);
}

double RelaxTask::run(unsigned worker, Range range) {
    double change = 0.0;
    Scratch& own = scratch[worker];
    for (std::uint32_t r = range.first; r < range.last; ++r) {
        if (r == 0 || r + 1 == from_.rows()) continue;
        const double* above = from_.row(r - 1);
        const double* here = from_.row(r);
        const double* below = from_.row(r + 1);
        double* out = to_.row(r);
        for (std::uint32_t c = 1; c + 1 < from_.width(); ++c) {
            const double next = 0.25 * (above[c] + below[c] + here[c - 1] + here[c + 1]);
            const double step = omega_ * (next - here[c]);
            out[c] = here[c] + step;
            moved[worker] += step;
            change += std::fabs(step);
        }
        if (std::isnan(change)) ++clamped_;
        own.rows++;
        if (change > own.widest) own.widest = change;
    }
    return change;
}

double RowSumTask::run(unsigned, Range range) {
    for (std::uint32_t r = range.first; r < range.last; ++r) {
        const double* row = grid_.row(r);
        sums_[r] = 0.0f;
        for (std::uint32_t c = 0; c < grid_.width(); ++c) sums_[r] += static_cast<float>(row[c]);
        cells_.fetch_add(grid_.width(), std::memory_order_relaxed);
    }
    return 0.0;
}

double checksum(const std::vector<float>& sums) {
    double all = 0.0;
    for (float sum : sums) all += sum;
    return all;
}

double heat() {
    double all = 0.0;
    for (double one : moved) all += one;
    return all;
}

}  // namespace par
