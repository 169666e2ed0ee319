//===- OutlinedAtomics.h - Functions that stand for one atomic --*- C++ -*-===//
//
// Owns which functions are an exchange or a compare-and-swap of AArch64 that
// the compiler has called in place of the instruction: they choose by what the
// processor has (-moutline-atomics, the default of gcc and of clang on Linux).
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_OUTLINEDATOMICS_H
#define LINEMATE_ACCESS_OUTLINEDATOMICS_H

#include "Plan.h"

#include <vector>

namespace linemate {

/// What was in the word is returned.
struct OutlinedAtomic {
  uint64_t Function = 0;
  uint32_t Size = 0;     ///< bytes of the word
  uint8_t New = 0;       ///< the argument that is stored
  uint8_t Word = 0;      ///< the argument that leads to the word
  bool Compares = false; ///< stores only where the first argument was there
};

/// Those of the plan, by address.  They are known by their code, since a
/// stripped file has no names of them.
std::vector<OutlinedAtomic> outlinedAtomics(const Plan &P);

} // namespace linemate

#endif // LINEMATE_ACCESS_OUTLINEDATOMICS_H
