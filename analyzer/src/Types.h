//===- Types.h - Types where they are used ------------------------*- C++
//-*-===//
//
// Owns TypeTree as JSON, each type written once a unit.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_TYPES_H
#define LINEMATE_ANALYZER_TYPES_H

#include "Facts.h"
#include "UnitBuilder.h"

#include "clang/AST/Type.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"

namespace linemate {

class TypeTrees {
public:
  explicit TypeTrees(UnitBuilder &Unit);

  TypeJson tree(clang::QualType Type);

  /// "redisServer", "ns::queue<int>", or "owner::(anonymous)".
  std::string recordName(const clang::RecordDecl &R);

private:
  std::string make(clang::QualType Type, unsigned Depth);
  std::string unqualified(clang::QualType Type, unsigned Depth);
  std::string declName(const clang::NamedDecl &D);
  std::string shown(clang::QualType Type);

  UnitBuilder &Unit;
  clang::PrintingPolicy Policy;
  llvm::BumpPtrAllocator Memory;
  llvm::StringSaver Saved{Memory};
  llvm::DenseMap<void *, llvm::StringRef> Known;
};

} // namespace linemate

#endif
