//===- Callee.h - What calling a function does to locks ----------*- C++
//-*-===//
//
// Owns the effects of a called function on locks, from the knowledge rows, the
// methods that lock types share, thread-safety annotations, and the bodies of
// functions of this unit that were read before.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_CALLEE_H
#define LINEMATE_ANALYZER_FUNCTION_CALLEE_H

#include "Chosen.h"
#include "Fixed.h"
#include "Location.h"
#include "UnitBuilder.h"

#include "clang/AST/ExprCXX.h"

#include <memory>

namespace linemate {

/// One effect, in terms of the callee's own parameters.
struct Effect {
  Location Where;
  LockEffect What = LockEffect::Lock;
  bool Shared = false;
  bool Excludes = true;       ///< false: a companion, nothing is held after it
  bool ZeroIsSuccess = false; ///< of an attempt
  bool OfGuard = false;       ///< what the guard holds, whatever that is
  int Row = -1;
  std::string Param; ///< name of the parameter that Text speaks of
  std::string Text;  ///< as the callee says it; "" where only callers can
};

struct Callee {
  llvm::SmallVector<Effect, 1> Effects;
  llvm::SmallVector<Effect, 1> Requires;
  bool IsPrimitive = false; ///< a lock function itself: no call to follow
  bool IsSystem = false;    ///< its body is in a system header
  bool IsLibrary = false;   ///< of a C++ library there: in a namespace
};

class Callees {
public:
  explicit Callees(UnitBuilder &Unit)
      : Unit(Unit), Fixed(fixedValues(Unit.context())),
        Elements(Unit.knowledge()) {}

  /// What variables of the unit always are.
  const FixedValues &fixed() const { return Fixed; }
  /// What functions return elements of.
  Accessors &elements() { return Elements; }
  /// What members that are pointers to functions are given in this unit.
  MemberFunctions &members() { return Members; }
  const Callee &of(const clang::FunctionDecl &F);
  /// What a body was found to do; callers that are read later see it.
  void learn(const clang::FunctionDecl &F, llvm::ArrayRef<Effect> Effects);

  /// Row of a lock type, -1 none.
  int lockRow(const clang::CXXRecordDecl *R);
  /// Row of the lock type that \p T is or points to, -1 none.
  int lockRowOf(clang::QualType T);
  /// What objects of a class hold while they live; null for other classes.
  const Guard *guard(const clang::CXXRecordDecl *R);
  /// What an argument of that type means to a guard's constructor.
  GuardMode guardMode(const Guard &G, clang::QualType ArgumentType);
  /// The functions that lock and unlock objects of a class of the project.
  const clang::CXXMethodDecl *method(const clang::CXXRecordDecl &R,
                                     llvm::StringRef Name);

private:
  struct RecordInfo {
    int Row = -1;
    const Guard *Holds = nullptr;
  };
  UnitBuilder &Unit;
  FixedValues Fixed;
  Accessors Elements;
  MemberFunctions Members;
  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<Callee>> Known;
  llvm::DenseMap<const clang::RecordDecl *, RecordInfo> Records;

  const RecordInfo &info(const clang::CXXRecordDecl &R);
  void annotated(const clang::FunctionDecl &F, Callee &Out);
  void wrapped(const clang::RecordDecl *R, Locations &At, Effect &E);
  void add(const LockCall &Call, Callee &Out);
  void byName(const clang::FunctionDecl &F, Callee &Out);
  void byConvention(const clang::FunctionDecl &F, Callee &Out);
};

} // namespace linemate

#endif
