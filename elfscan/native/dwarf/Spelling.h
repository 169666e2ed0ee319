//===- Spelling.h - Names as source spells them -----------------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns what of a name of debug information no source spells: the scope of an
// anonymous namespace.  Names go without it where they leave the helper, as
// those of the analyzer and of demangled symbols do; until then it keeps a
// record apart from one of the same name that another unit only declares.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_SPELLING_H
#define LINEMATE_DWARF_SPELLING_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace linemate::dwarf {

/// What compilers write for an anonymous namespace around a name.
constexpr llvm::StringLiteral UnwrittenScope = "(anonymous namespace)::";

inline std::string asWritten(llvm::StringRef Name) {
  std::string Written;
  for (size_t At; (At = Name.find(UnwrittenScope)) != llvm::StringRef::npos;
       Name = Name.drop_front(At + UnwrittenScope.size()))
    Written += Name.take_front(At);
  return Written += Name;
}

} // namespace linemate::dwarf

#endif // LINEMATE_DWARF_SPELLING_H
