//===- Awaited.h - Which loads an instruction waits for ---------*- C++ -*-===//
//
// Owns the way back from an instruction that accesses no memory to the loads
// that made its operands.
//
// A processor goes on behind a slow load until something needs its value, so
// that time falls on what is computed from it.  Registers are followed back
// along the one way that leads to the instruction, round its loop once.  What
// else may be waited for is counted: a value that the loop computes from that
// of its last round, one that a call returned, or that several ways set.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_AWAITED_H
#define LINEMATE_ACCESS_AWAITED_H

#include "Body.h"

#include <cstdint>
#include <vector>

namespace linemate {

struct Awaited {
  std::vector<uint32_t> Way;   ///< instructions that came before, in order
  std::vector<uint32_t> Loads; ///< places in Way, ascending
  uint16_t Others = 0;         ///< what else it may have waited for
};

/// What the instruction before \p Row waited for; no loads where it accesses
/// memory itself, or where nothing is known of it.
Awaited awaitedBefore(const Body &B, uint32_t Row);

} // namespace linemate

#endif // LINEMATE_ACCESS_AWAITED_H
