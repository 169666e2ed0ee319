//===- Atomics.h - Calls that are atomic accesses ----------------*- C++
//-*-===//
//
// Owns which calls, builtins and methods access an object atomically, how, and
// with which memory order.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_ATOMICS_H
#define LINEMATE_ANALYZER_FUNCTION_ATOMICS_H

#include "Facts.h"

#include "clang/AST/ExprCXX.h"

#include <optional>

namespace linemate {

/// sharing.model.image.AccessKind.
enum class AccessKind : uint8_t { Load = 1, Store = 2, Rmw = 3, Address = 4 };

struct AtomicUse {
  const clang::Expr *Target; ///< a pointer to the object, or the object
  AccessKind Kind;
  MemoryOrder Order;
  const clang::Expr *Stored = nullptr; ///< by a store
};

std::optional<AtomicUse> atomicUse(const clang::AtomicExpr &E,
                                   const clang::ASTContext &Context);
std::optional<AtomicUse> atomicUse(const clang::CallExpr &Call,
                                   const clang::ASTContext &Context);

/// Is it std::atomic or a base of it, std::atomic_flag, or std::atomic_ref?
bool isStdAtomic(const clang::RecordDecl *R);
bool isAtomicRef(const clang::RecordDecl *R);

} // namespace linemate

#endif
