//===- Stream.h - All units to one stream -------------------------*- C++
//-*-===//
//
// Owns what is read, in which order it comes out, and what is said of units
// that could not be read.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_STREAM_H
#define LINEMATE_ANALYZER_STREAM_H

#include "Options.h"

#include "llvm/Support/Error.h"

namespace linemate {

/// Writes the stream to standard output.  An error means that it is cut off.
llvm::Error streamFacts(const Options &Asked);

} // namespace linemate

#endif
