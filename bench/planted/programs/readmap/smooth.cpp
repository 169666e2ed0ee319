#include "smooth.h"

#include <cmath>

namespace readmap {

smoothing::smoothing(const reference& ref, int n_workers)
    : front(ref.coverage.size()), back(ref.coverage.size()), residual(n_workers),
      settled(n_workers)
{
    for (std::size_t i = 0; i < front.size(); ++i)
        front[i] = ref.coverage[i].load(std::memory_order_relaxed);
}

double smoothing::sweep(thread_pool& pool, double weight)
{
    const std::size_t n = front.size();
    for (auto& r : residual)
        r = 0.0;
    pool.parallel_for(n, 16, [&](std::size_t first, std::size_t last) {
        const int id = worker_id();
        for (std::size_t i = first; i < last; ++i) {
            const double left = front[i == 0 ? n - 1 : i - 1];
            const double right = front[i + 1 == n ? 0 : i + 1];
            back[i] = (1.0 - weight) * front[i] + weight * 0.5 * (left + right);
            residual[id] += std::fabs(back[i] - front[i]);
        }
        settled[id] = residual[id] < 1e-3;
    });
    front.swap(back);
    ++sweeps;
    double sum = 0.0;
    for (const double r : residual)
        sum += r;
    return sum;
}

}  // namespace readmap
