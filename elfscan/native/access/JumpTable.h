//===- JumpTable.h - The targets of a switch --------------------*- C++ -*-===//
//
// Owns the recognition of the compilers' jump-table idioms.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_JUMPTABLE_H
#define LINEMATE_ACCESS_JUMPTABLE_H

#include "Op.h"
#include "Plan.h"

#include <span>
#include <vector>

namespace linemate {

/// Appends the op numbers that the indirect jump \p Jump can reach.  Entries
/// are read until one leaves [Begin, End): that may add edges that the
/// program never takes, which only makes the data flow more careful.
void readJumpTable(const Plan &P, std::span<const Op> Ops, uint32_t Jump,
                   uint64_t Begin, uint64_t End,
                   std::vector<uint32_t> &Targets);

} // namespace linemate

#endif // LINEMATE_ACCESS_JUMPTABLE_H
