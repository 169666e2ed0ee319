// The problem: a bent rod's temperatures, by relaxation.
#pragma once

#include <cstdint>
#include <vector>

#include "pool.hpp"

namespace par {

constexpr unsigned kMaxWorkers = 8;

class Grid {
public:
    Grid(std::uint32_t rows, std::uint32_t width);

    double& at(std::uint32_t row, std::uint32_t column) { return cells_[row * width_ + column]; }
    double* row(std::uint32_t row) { return cells_.data() + row * width_; }
    std::uint32_t rows() const { return rows_; }
    std::uint32_t width() const { return width_; }

private:
    std::uint32_t rows_;
    std::uint32_t width_;
    std::vector<double> cells_;
};

// One sweep from one grid into the other.
class RelaxTask final : public Task {
public:
    RelaxTask(Grid& from, Grid& to, double omega) : from_(from), to_(to), omega_(omega) {}
    double run(unsigned worker, Range range) override;
    const char* label() const override { return "relax"; }
    std::uint64_t clamped() const { return clamped_; }

private:
    Grid& from_;
    Grid& to_;
    double omega_;
    std::uint64_t clamped_ = 0;
};

// The sum of each row, by one thread for each row, into one array of all.
class RowSumTask final : public Task {
public:
    RowSumTask(Grid& grid, std::vector<float>& sums) : grid_(grid), sums_(sums) {}
    double run(unsigned worker, Range range) override;
    const char* label() const override { return "row sums"; }
    std::uint64_t cells() const { return cells_.load(); }

private:
    Grid& grid_;
    std::vector<float>& sums_;
    std::atomic<std::uint64_t> cells_{0};
};

double checksum(const std::vector<float>& sums);
double heat();

}  // namespace par
