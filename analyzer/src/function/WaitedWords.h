//===- WaitedWords.h - Words that loops wait for ----------------*- C++ -*-===//
//
// Owns the same ranges for source that elfscan/native/access/WaitedWords.cpp
// finds in machine code, so that both are judged alike.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_WAITEDWORDS_H
#define LINEMATE_ANALYZER_FUNCTION_WAITEDWORDS_H

#include "Facts.h"
#include "Location.h"
#include "Shape.h"
#include "UnitBuilder.h"

#include "clang/Analysis/CFG.h"

namespace linemate {

/// Appends rows of ZERO_TEST_COLUMNS: runs of blocks behind a loop that goes on
/// until a word has another content; for ever, and until the function sets it.
void waitedWords(const clang::CFG &Graph, const Shape &Blocks, Locations &At,
                 UnitBuilder &Unit, Rows &Out);

} // namespace linemate

#endif
