//===- Scan.h - All functions of a plan -------------------------*- C++ -*-===//
//
// Owns the division of the work over threads.  The result does not depend on
// their number.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_SCAN_H
#define LINEMATE_ACCESS_SCAN_H

#include "Plan.h"
#include "Tables.h"

#include <optional>
#include <string>
#include <vector>

namespace linemate {

/// Scans on \p Threads threads.  \p Out receives one part per batch of
/// functions, in address order.  Returns why it failed, or nothing.
std::optional<std::string> scan(const Plan &P, unsigned Threads,
                                std::vector<Tables> &Out);

} // namespace linemate

#endif // LINEMATE_ACCESS_SCAN_H
