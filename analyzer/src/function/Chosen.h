//===- Chosen.h - Which functions an expression may be ----------*- C++ -*-===//
//
// Owns the functions that a pointer to a function may point to where several
// are to choose from: by a condition, in a local pointer, in a table, or in
// a member that objects of the unit are given.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_CHOSEN_H
#define LINEMATE_ANALYZER_FUNCTION_CHOSEN_H

#include "Scan.h"

#include "llvm/ADT/SetVector.h"

#include <optional>

namespace linemate {

/// What members that are pointers to functions are given anywhere in the unit.
using MemberFunctions =
    llvm::DenseMap<const clang::FieldDecl *,
                   llvm::SmallVector<const clang::Expr *, 1>>;

class Chosen {
public:
  Chosen(const clang::ASTContext &Context, const Scan &Seen,
         const MemberFunctions &Given)
      : Context(Context), Seen(Seen), Given(Given) {}

  /// All functions that \p E may be, as far as is seen; of a name, itself.
  llvm::ArrayRef<const clang::FunctionDecl *> of(const clang::Expr *E);

private:
  /// One step from an object into a part: a field, or an element at an index
  /// that is known or not.
  struct Step {
    const clang::FieldDecl *Field = nullptr;
    std::optional<uint64_t> Index;
  };
  /// The last step first.
  using Path = llvm::SmallVector<Step, 4>;

  const clang::ASTContext &Context;
  const Scan &Seen;
  const MemberFunctions &Given;
  llvm::SmallSetVector<const clang::FunctionDecl *, 4> Found;
  const clang::VarDecl *Asked = nullptr; ///< what is handed over by reference
  unsigned Depth = 0;
  unsigned Looked = 0;

  void value(const clang::Expr *E);
  void object(const clang::Expr *E, Path To);
  void pointee(const clang::Expr *E, Path To);
  void variable(const clang::VarDecl &V, Path To);
  void part(const clang::Expr *Initial, Path To);
  llvm::ArrayRef<const clang::Expr *> values(const clang::VarDecl &V) const;
  Step element(const clang::Expr *Index) const;
};

} // namespace linemate

#endif
