//===- LoopWork.h - What a function does in its loops ------------*- C++
//-*-===//
//
// Owns how many operations there are in loops, whatever they are on: facts tell
// of accesses to what threads may share alone, and a function that only works
// on locals and on what its parameters lead to has none.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_LOOPWORK_H
#define LINEMATE_ANALYZER_FUNCTION_LOOPWORK_H

#include "Facts.h"
#include "Shape.h"

#include "clang/Analysis/CFG.h"

namespace linemate {

/// Appends a row of LOOP_COLUMNS for each depth in loops and each rarity at
/// which something is done.
void loopWork(const Shape &Blocks, Rows &Out);

} // namespace linemate

#endif
