//===- Failures.h - Which way of a branch a failed call takes ---*- C++ -*-===//
//
// Owns which of the two ways of a block is taken where what a known function
// returned says that it failed, or that time ran out while it waited.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_FAILURES_H
#define LINEMATE_ACCESS_FAILURES_H

#include "Graph.h"
#include "Op.h"

#include <optional>
#include <span>

namespace linemate {

/// The chance of such a way: there is memory, and whoever waits for
/// milliseconds does so few times a second.  Many such ways lead to one place,
/// which is as seldom come to as what is done once.  That of source is
/// FailedChance of analyzer's Chance.h.
inline constexpr float HasFailed = 1.0F / 16384;

/// The successor of block number \p B, which has two, that leads to where a
/// call of the block has failed.
std::optional<uint32_t> failedWay(const Graph &G, const Plan &P,
                                  std::span<const Op> Ops, uint32_t B,
                                  const Convention &C);

} // namespace linemate

#endif // LINEMATE_ACCESS_FAILURES_H
