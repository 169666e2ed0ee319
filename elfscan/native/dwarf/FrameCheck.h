//===- FrameCheck.h - Whether LLVM may read a frame section -----*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the walk over the entries of .eh_frame and .debug_frame that looks for
// what LLVM's reader takes on trust.  What the entries say is LLVM's.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_FRAMECHECK_H
#define LINEMATE_DWARF_FRAMECHECK_H

#include "llvm/DebugInfo/DWARF/DWARFDataExtractor.h"

namespace linemate::dwarf {

/// Whether no entry of the section leads LLVM's reader out of its bounds.  True
/// also for what it refuses itself.
bool isSafeToRead(const llvm::DWARFDataExtractor &Data, bool IsEh);

} // namespace linemate::dwarf

#endif
