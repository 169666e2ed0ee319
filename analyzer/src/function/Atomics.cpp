//===- Atomics.cpp - Calls that are atomic accesses -----------------------===//
//
// Owns the names: GCC's __atomic and __sync builtins, C11's generic functions,
// [atomics.types] of C++, and the kernel's atomic_t family
// (Documentation/atomic_t.txt).
//
//===----------------------------------------------------------------------===//

#include "Atomics.h"

#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

/// C11 and C++ number the orders alike, relaxed first.
MemoryOrder orderOf(const Expr *E, const ASTContext &Context) {
  Expr::EvalResult Result;
  if (!E || E->isValueDependent() || E->getType()->isRecordType() ||
      !E->EvaluateAsInt(Result, Context))
    return MemoryOrder::SeqCst;
  int64_t Value = Result.Val.getInt().getExtValue() & 0xffff;
  return Value >= 0 && Value <= 5 ? MemoryOrder(Value + 1)
                                  : MemoryOrder::SeqCst;
}

bool isOrder(QualType T) {
  const auto *E = T.getNonReferenceType()->getAs<EnumType>();
  return E && E->getDecl()->getName() == "memory_order";
}

/// The first argument that is a std::memory_order (the success order of an
/// exchange), or sequential consistency.
MemoryOrder orderAmong(const CallExpr &Call, const ASTContext &Context) {
  for (const Expr *Arg : Call.arguments())
    if (isOrder(Arg->getType()))
      return orderOf(Arg, Context);
  return MemoryOrder::SeqCst;
}

std::optional<AccessKind> kindOfName(StringRef Name) {
  using K = AccessKind;
  if (Name.contains("wait") || Name == "load" || Name == "test" ||
      Name.ends_with("_load") || Name.contains("_load_") ||
      Name.ends_with("flag_test"))
    return K::Load;
  if (Name == "store" || Name == "clear" || Name.ends_with("_store") ||
      Name.contains("_store_") || Name.contains("flag_clear") ||
      Name.ends_with("_init"))
    return K::Store;
  if (Name.contains("exchange") || Name.contains("fetch_") ||
      Name.contains("test_and_set"))
    return K::Rmw;
  return std::nullopt;
}

/// What a call stores, if it does: its argument number \p At.
const Expr *storedBy(const CallExpr &Call, unsigned At, AccessKind Kind) {
  return Kind == AccessKind::Store && Call.getNumArgs() > At ? Call.getArg(At)
                                                             : nullptr;
}

/// Functions of the kernel that take the order from their suffix.
MemoryOrder orderOfSuffix(StringRef Name, bool Returns) {
  if (Name.ends_with("_relaxed"))
    return MemoryOrder::Relaxed;
  if (Name.ends_with("_acquire"))
    return MemoryOrder::Acquire;
  if (Name.ends_with("_release"))
    return MemoryOrder::Release;
  return Returns ? MemoryOrder::SeqCst : MemoryOrder::Relaxed;
}

bool isKernelAtomic(QualType T) {
  if (!T->isPointerType())
    return false;
  const auto *Typedef = T->getPointeeType()->getAs<TypedefType>();
  StringRef Name = Typedef ? Typedef->getDecl()->getName() : StringRef();
  if (const auto *R = T->getPointeeType()->getAsRecordDecl(); Name.empty() && R)
    Name = R->getName();
  return llvm::StringSwitch<bool>(Name)
      .Cases("atomic_t", "atomic64_t", "atomic_long_t", "refcount_t", true)
      .Cases("refcount_struct", "local_t", "kref", true)
      .Default(false);
}

/// Position of the pointer, -1 if the name is none of the kernel's.
int kernelTarget(const CallExpr &Call, StringRef Name) {
  if (Name.ends_with("xchg") || Name.contains("xchg_"))
    if (!Name.starts_with("atomic") && !Name.starts_with("arch_atomic") &&
        Call.getNumArgs() >= 2 && Call.getArg(0)->getType()->isPointerType())
      return Name.trim('_').starts_with("xchg") ||
                     Name.trim('_').starts_with("cmpxchg") ||
                     Name.starts_with("try_cmpxchg")
                 ? 0
                 : -1;
  if (!Name.starts_with("atomic") && !Name.starts_with("arch_atomic") &&
      !Name.starts_with("raw_atomic") && !Name.starts_with("refcount_") &&
      !Name.starts_with("kref_"))
    return -1;
  for (unsigned I = 0; I < Call.getNumArgs(); ++I)
    if (isKernelAtomic(Call.getArg(I)->IgnoreParenImpCasts()->getType()) ||
        isKernelAtomic(Call.getArg(I)->getType()))
      return int(I);
  return -1;
}

std::optional<AtomicUse> kernelUse(const CallExpr &Call, StringRef Name) {
  int Arg = kernelTarget(Call, Name);
  if (Arg < 0)
    return std::nullopt;
  const Expr *Target = Call.getArg(unsigned(Arg));
  if (Name.contains("_read"))
    return AtomicUse{Target, AccessKind::Load,
                     orderOfSuffix(Name, /*Returns=*/false)};
  if (Name.ends_with("_set") || Name.ends_with("_set_release") ||
      Name.ends_with("_init"))
    return AtomicUse{Target, AccessKind::Store,
                     orderOfSuffix(Name, /*Returns=*/false),
                     storedBy(Call, 1, AccessKind::Store)};
  bool Returns = !Call.getType()->isVoidType();
  return AtomicUse{Target, AccessKind::Rmw, orderOfSuffix(Name, Returns)};
}

const CXXRecordDecl *receiverClass(const CXXMethodDecl &Method,
                                   const Expr *Object) {
  QualType T = Object->IgnoreParenImpCasts()->getType().getNonReferenceType();
  if (T->isAnyPointerType())
    T = T->getPointeeType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  return isStdAtomic(R) || isAtomicRef(R) ? R : Method.getParent();
}

std::optional<AtomicUse> methodUse(const CXXMethodDecl &Method,
                                   const CallExpr &Call, const Expr *Object,
                                   const ASTContext &Context) {
  const CXXRecordDecl *R = receiverClass(Method, Object);
  if (!isStdAtomic(R) && !isAtomicRef(R))
    return std::nullopt;
  const Expr *Target = Object->IgnoreParenImpCasts();
  if (isa<CXXConversionDecl>(Method))
    return AtomicUse{Target, AccessKind::Load, MemoryOrder::SeqCst};
  switch (Method.getOverloadedOperator()) {
  case OO_Equal:
    return AtomicUse{Target, AccessKind::Store, MemoryOrder::SeqCst,
                     Call.getNumArgs() > 1 ? Call.getArg(1) : nullptr};
  case OO_None:
    break;
  default:
    return AtomicUse{Target, AccessKind::Rmw, MemoryOrder::SeqCst};
  }
  if (!Method.getIdentifier())
    return std::nullopt;
  if (auto Kind = kindOfName(Method.getName()))
    return AtomicUse{Target, *Kind, orderAmong(Call, Context),
                     storedBy(Call, 0, *Kind)};
  return std::nullopt;
}

} // namespace

bool isStdAtomic(const RecordDecl *R) {
  if (!R || !R->isInStdNamespace() || !R->getIdentifier())
    return false;
  return llvm::StringSwitch<bool>(R->getName())
      .Cases("atomic", "__atomic_base", "__atomic_float", "atomic_flag", true)
      .Cases("__atomic_flag_base", "__atomic_impl", true)
      .Default(false);
}

bool isAtomicRef(const RecordDecl *R) {
  return R && R->isInStdNamespace() && R->getIdentifier() &&
         (R->getName() == "atomic_ref" || R->getName() == "__atomic_ref");
}

std::optional<AtomicUse> atomicUse(const AtomicExpr &E,
                                   const ASTContext &Context) {
  StringRef Name = E.getOpAsString();
  if (Name.ends_with("_init"))
    return AtomicUse{E.getPtr(), AccessKind::Store, MemoryOrder::Plain};
  AccessKind Kind = AccessKind::Rmw;
  if (Name.ends_with("_load") || Name.ends_with("_load_n"))
    Kind = AccessKind::Load;
  else if (Name.ends_with("_store") || Name.ends_with("_store_n"))
    Kind = AccessKind::Store;
  return AtomicUse{E.getPtr(), Kind, orderOf(E.getOrder(), Context),
                   Kind == AccessKind::Store ? E.getVal1() : nullptr};
}

std::optional<AtomicUse> atomicUse(const CallExpr &Call,
                                   const ASTContext &Context) {
  const FunctionDecl *Callee = Call.getDirectCallee();
  if (!Callee)
    return std::nullopt;
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(&Call)) {
    const CXXMethodDecl *Method = Member->getMethodDecl();
    return Method ? methodUse(*Method, Call,
                              Member->getImplicitObjectArgument(), Context)
                  : std::nullopt;
  }
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee))
    return isa<CXXOperatorCallExpr>(Call) && Call.getNumArgs() >= 1
               ? methodUse(*Method, Call, Call.getArg(0), Context)
               : std::nullopt;
  if (!Callee->getIdentifier() || Call.getNumArgs() < 1)
    return std::nullopt;
  StringRef Name = Callee->getName();
  if (Name.starts_with("__sync_")) {
    if (Name == "__sync_synchronize")
      return std::nullopt;
    if (Name.starts_with("__sync_lock_release"))
      return AtomicUse{Call.getArg(0), AccessKind::Store, MemoryOrder::Release};
    return AtomicUse{Call.getArg(0), AccessKind::Rmw,
                     Name.starts_with("__sync_lock_test_and_set")
                         ? MemoryOrder::Acquire
                         : MemoryOrder::SeqCst};
  }
  if (Name == "__atomic_test_and_set" || Name == "__atomic_clear")
    return AtomicUse{Call.getArg(0),
                     Name == "__atomic_clear" ? AccessKind::Store
                                              : AccessKind::Rmw,
                     Call.getNumArgs() > 1 ? orderOf(Call.getArg(1), Context)
                                           : MemoryOrder::SeqCst};
  if (Callee->isInStdNamespace() || Callee->getBuiltinID()) {
    if (!Name.starts_with("atomic_") || Name.contains("_fence"))
      return std::nullopt;
    if (auto Kind = kindOfName(Name))
      return AtomicUse{Call.getArg(0), *Kind, orderAmong(Call, Context),
                       storedBy(Call, 1, *Kind)};
    return std::nullopt;
  }
  // C11's functions where <stdatomic.h> declares them as functions.
  if (Name.starts_with("atomic_flag_"))
    if (auto Kind = kindOfName(Name))
      return AtomicUse{Call.getArg(0), *Kind,
                       Call.getNumArgs() > 1 ? orderOf(Call.getArg(1), Context)
                                             : MemoryOrder::SeqCst};
  return kernelUse(Call, Name);
}

} // namespace linemate
