//===- Workers.h - Units in processes of their own ----------------*- C++
//-*-===//
//
// Owns isolation: a unit that crashes, hangs or eats memory costs only itself.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_WORKERS_H
#define LINEMATE_ANALYZER_WORKERS_H

#include "Unit.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace linemate {

struct WorkerLimits {
  unsigned Jobs = 1;
  unsigned TimeoutSeconds = 300;     ///< a unit; machines under load take long
  uint64_t MemoryBytes = 2ULL << 30; ///< a worker
};

/// What a worker does with a unit; runs in the worker.
using UnitWork = std::function<UnitResult(size_t Index)>;
/// Takes the results, in the order of the units; runs in the caller.
using UnitSink = std::function<void(size_t Index, UnitResult Result)>;

/// Runs \p Work on each of \p Units (indexes, ascending) in forked processes.
/// \p Finished is called with the number of units done so far.
void runWorkers(const std::vector<size_t> &Units, const WorkerLimits &Limits,
                const UnitWork &Work, const UnitSink &Sink,
                const std::function<void(size_t)> &Finished);

/// In a worker and what it forks: the process ends itself when the unit takes
/// longer than its parent would wait, in case that one is not there to end it.
void startUnitClock();
void stopUnitClock();

} // namespace linemate

#endif
