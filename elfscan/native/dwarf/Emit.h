//===- Emit.h - The document that goes to standard output -------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the msgpack form; elfscan/debug/dwarf.py is its reader.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_EMIT_H
#define LINEMATE_DWARF_EMIT_H

#include "Locals.h"
#include "Merge.h"
#include "llvm/Support/raw_ostream.h"

namespace linemate::dwarf {

/// Writes [version, units, files, types, variables, problems, locals, pointees,
/// functions, parameters].  With \p AllRecords the types of Merged.Records too.
void emit(Merged &M, bool AllRecords, llvm::raw_ostream &OS);

/// Writes [[instruction, register, offset, return register, [[register,
/// offset], ...]], ...]: the frame is at register + offset, and what it holds
/// at its address + offset.
void emitUnwind(llvm::ArrayRef<UnwindStep> Steps, llvm::raw_ostream &OS);

} // namespace linemate::dwarf

#endif
