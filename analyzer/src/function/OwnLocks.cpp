//===- OwnLocks.cpp - Words of static storage that functions take ---------===//
//
// Owns the step from an exchange that finds zero, or a store of zero, to a lock
// of Lockset.h.  Whether the word is a lock, as nothing else changes it, is
// seen only in the whole program (sharing/source/locksets.py).
//
//===----------------------------------------------------------------------===//

#include "Body.h"
#include "Chance.h"
#include "Columns.h"

#include "clang/Basic/Builtins.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace linemate {

namespace {

constexpr size_t FlagsColumn = 7;
constexpr llvm::StringLiteral RowName = "a spin lock of the program's own";

/// The arguments of an operation behind its object, and its name.
struct Operation {
  StringRef Name;
  llvm::SmallVector<const Expr *, 4> Args;
};

Operation operationOf(const Expr &E) {
  Operation Out;
  if (const auto *A = dyn_cast<AtomicExpr>(&E)) {
    Out.Name = A->getOpAsString();
    bool Compares = A->isCmpXChg();
    if (Out.Name.contains("load") || Out.Name.contains("clear"))
      return Out;
    if (A->getNumSubExprs() > 2)
      Out.Args.push_back(A->getVal1());
    if (Compares)
      Out.Args.push_back(A->getVal2());
    return Out;
  }
  const auto *C = dyn_cast<CallExpr>(&E);
  const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
  if (!F || !F->getIdentifier())
    return Out;
  Out.Name = F->getName();
  unsigned First = isa<CXXMemberCallExpr>(C) ? 0 : 1;
  Out.Args.append(C->arg_begin() + std::min(First, C->getNumArgs()),
                  C->arg_end());
  return Out;
}

/// True where a constant is another number than zero.
bool isOther(const Expr *E, const ASTContext &Context) {
  Expr::EvalResult Result;
  return !E->isValueDependent() &&
         E->getType()->isIntegralOrEnumerationType() &&
         E->EvaluateAsInt(Result, Context) && Result.Val.getInt() != 0;
}

/// What gives a word back without being told that zero is stored.
bool clears(StringRef Name) {
  return Name == "clear" || Name.starts_with("__sync_lock_release") ||
         Name.starts_with("atomic_flag_clear") || Name == "__atomic_clear";
}

bool isWord(QualType T) {
  T = T.getNonReferenceType().getUnqualifiedType();
  if (const auto *A = T->getAs<AtomicType>())
    T = A->getValueType();
  const RecordDecl *R = T->getAsRecordDecl();
  return T->isIntegralOrEnumerationType() ||
         isStdAtomic(dyn_cast_or_null<CXXRecordDecl>(R)) ||
         (R && R->getIdentifier() && R->getName() == "atomic_flag");
}

} // namespace

/// Is it a local number that is zero whenever the function sets it, or zero?
bool Body::isExpectedZero(const Expr *E) const {
  E = E->IgnoreParenCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_AddrOf)
    E = U->getSubExpr()->IgnoreParens();
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V)
    return isZero(E);
  auto Found = Seen.Numbers.find(V);
  return V->hasLocalStorage() && Found != Seen.Numbers.end() &&
         !Found->second.Counts && !Found->second.Values.empty() &&
         llvm::all_of(Found->second.Values,
                      [](const Expr *Value) { return isZero(Value); });
}

/// Whether zero says that an exchange took the word; nothing where it is none
/// that takes one.
std::optional<bool> Body::takenBy(const Expr &E) const {
  Operation Op = operationOf(E);
  bool First = !Op.Args.empty() && isOther(Op.Args[0], Context);
  bool Second = Op.Args.size() > 1 && isOther(Op.Args[1], Context);
  if (Op.Name.contains("compare_")) {
    bool OldValue = Op.Name.starts_with("__sync_val");
    return Second && isExpectedZero(Op.Args[0]) ? std::optional(OldValue)
                                                : std::nullopt;
  }
  if (Op.Name.contains("exchange") ||
      Op.Name.starts_with("__sync_lock_test_and_set"))
    return First ? std::optional(true) : std::nullopt;
  return Op.Name.contains("test_and_set") ? std::optional(true) : std::nullopt;
}

int Body::ownLock(const Location &P) {
  return Locks.lock(P, /*Shared=*/false, Unit.knowledge().lockType(RowName),
                    P.Var->getName());
}

/// A word that an exchange finds zero is held on the way on which it did, until
/// zero is stored.  \p Row is that of the access, which was just added.
void Body::ownLocks(const Expr &E, const Location &P, QualType T,
                    AccessKind Kind, bool StoresZero) {
  if (P.In != Location::Kind::Variable || P.Indexed || !isWord(T))
    return;
  int64_t &Flags =
      Out.Accesses[Out.Accesses.size() - AccessColumns + FlagsColumn];
  if (Kind == AccessKind::Store) {
    if (!StoresZero && !clears(operationOf(E).Name))
      return;
    Flags |= accessflag::Clears;
    if (int Lock = ownLock(P); Lock >= 0)
      step({LockStep::Op::Drop, Lock});
    return;
  }
  std::optional<bool> ZeroIsSuccess = takenBy(E);
  if (Kind != AccessKind::Rmw || !ZeroIsSuccess)
    return;
  Flags |= accessflag::Takes;
  if (int Lock = ownLock(P); Lock >= 0)
    Attempts[&E] = {Lock, -1, *ZeroIsSuccess};
}

} // namespace linemate
