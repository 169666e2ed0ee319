//===- ZeroTests.h - Code behind a test for zero ----------------*- C++ -*-===//
//
// Owns which blocks of a function run only where a variable of static storage
// was just found to be zero, or not to be, which is how most programs do a
// thing once.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_ZEROTESTS_H
#define LINEMATE_ANALYZER_FUNCTION_ZEROTESTS_H

#include "Facts.h"
#include "Location.h"
#include "Shape.h"
#include "UnitBuilder.h"

#include "clang/Analysis/CFG.h"

namespace linemate {

/// Appends a row of ZERO_TEST_COLUMNS for each run of blocks that such a test
/// leads to, and nothing else.
void zeroTests(const clang::CFG &Graph, const Shape &Blocks, Locations &At,
               UnitBuilder &Unit, Rows &Out);

} // namespace linemate

#endif
