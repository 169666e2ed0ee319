//===- Signs.h - Which way of a branch is that of an error ------*- C++ -*-===//
//
// Owns which of the two ways of a block is taken where what a call returned was
// just found to be below zero, or to be a negative constant: it failed.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_SIGNS_H
#define LINEMATE_ACCESS_SIGNS_H

#include "Graph.h"
#include "Op.h"

#include <optional>
#include <span>

namespace linemate {

/// The chance of such a way: the opcode heuristic is right in 84 of 100
/// branches (Ball and Larus, PLDI 1993).  That of source is in analyzer's
/// Chance.cpp.
inline constexpr float IsNegative = 0.16F;

/// The successor of block number \p B, which has two, that a negative result of
/// a call leads to; \p Result is the register that it is in.  Where \p Below,
/// one that zero does not lead to as well: that is how what was read ends.
std::optional<uint32_t> negativeWay(const Graph &G, std::span<const Op> Ops,
                                    uint32_t B, int8_t Result, bool Below);

} // namespace linemate

#endif // LINEMATE_ACCESS_SIGNS_H
