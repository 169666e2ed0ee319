//===- SleepsAgain.h - Loops that only sleep again ---------------*- C++
//-*-===//
//
// Owns which loops do nothing but repeat a sleep that a signal has ended, as
// elfscan/native/access/SleepsAgain.cpp has them for machine code.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_SLEEPSAGAIN_H
#define LINEMATE_ANALYZER_FUNCTION_SLEEPSAGAIN_H

#include "clang/Analysis/CFG.h"

#include <vector>

namespace linemate {

/// Does the loop of these blocks only sleep again?  What it asks is what the
/// sleep returned and the number of the error, and it changes locals alone.
bool sleepsAgain(const std::vector<unsigned> &Body,
                 const std::vector<const clang::CFGBlock *> &ById);

} // namespace linemate

#endif
