//===- Callee.cpp - What calling a function does to locks -----------------===//
//
// Owns the names that the C++ standard gives to the operations of lockable
// types ([thread.req.lockable]) and their usual spellings elsewhere.
//
//===----------------------------------------------------------------------===//

#include "Callee.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

using namespace clang;

namespace linemate {

namespace {

struct MethodEffect {
  LockEffect What;
  bool Shared;
};

std::optional<MethodEffect> methodEffect(StringRef Name) {
  using E = LockEffect;
  using O = std::optional<MethodEffect>;
  return llvm::StringSwitch<O>(Name)
      .Cases("lock", "Lock", "WriterLock", "wr_lock", "lockForWrite",
             MethodEffect{E::Lock, false})
      .Cases("unlock", "Unlock", "WriterUnlock", "wr_unlock",
             MethodEffect{E::Unlock, false})
      .Cases("try_lock", "TryLock", "WriterTryLock", "tryLock", "try_lock_for",
             "try_lock_until", MethodEffect{E::TryLock, false})
      .Cases("lock_shared", "ReaderLock", "rd_lock", "lockForRead",
             MethodEffect{E::Lock, true})
      .Cases("unlock_shared", "ReaderUnlock", "rd_unlock",
             MethodEffect{E::Unlock, true})
      .Cases("try_lock_shared", "ReaderTryLock", "try_lock_shared_for",
             "try_lock_shared_until", MethodEffect{E::TryLock, true})
      .Default(std::nullopt);
}

/// Attempts of C libraries and lockers that a signal may interrupt return 0
/// when the lock is held; those of the kernel and of C++ return true.
bool zeroIsSuccess(StringRef Name) {
  for (StringRef Start : {"pthread_", "__pthread_", "mtx_", "uv_", "__gthread",
                          "psi_", "inline_mysql"})
    if (Name.starts_with(Start))
      return true;
  return Name.contains("interruptible") || Name.contains("killable") ||
         Name == "down_trylock" || Name == "down_timeout";
}

bool isWait(StringRef Name) {
  return Name.contains("cond_") || Name.starts_with("cnd_");
}

GuardKind guardOfName(StringRef Name) {
  return llvm::StringSwitch<GuardKind>(Name)
      .Cases("std::lock_guard", "std::unique_lock", "std::scoped_lock",
             GuardKind::Exclusive)
      .Cases("boost::lock_guard", "boost::unique_lock",
             "boost::mutex::scoped_lock", GuardKind::Exclusive)
      .Cases("absl::MutexLock", "absl::WriterMutexLock",
             "absl::ReleasableMutexLock", "absl::MutexLockMaybe",
             GuardKind::Exclusive)
      .Cases("QMutexLocker", "QWriteLocker", GuardKind::Exclusive)
      .Cases("std::shared_lock", "boost::shared_lock", "absl::ReaderMutexLock",
             "QReadLocker", GuardKind::Shared)
      .Default(GuardKind::None);
}

} // namespace

GuardMode guardMode(QualType T) {
  const RecordDecl *R = T.getNonReferenceType()->getAsRecordDecl();
  if (!R || !R->getIdentifier())
    return GuardMode::Locks;
  return llvm::StringSwitch<GuardMode>(R->getName())
      .Case("defer_lock_t", GuardMode::Defers)
      .Cases("try_to_lock_t", "duration", "time_point", GuardMode::Tries)
      .Case("adopt_lock_t", GuardMode::Adopts)
      .Default(GuardMode::Locks);
}

bool excludes(StringRef Kind) {
  return Kind == "mutex" || Kind == "spinlock" || Kind == "rwlock" ||
         Kind == "rwsem";
}

const Callees::RecordInfo &Callees::info(const CXXRecordDecl &R) {
  const auto *Key = cast<RecordDecl>(R.getCanonicalDecl());
  auto Known = Records.find(Key);
  if (Known != Records.end())
    return Known->second;
  RecordInfo Info;
  if (R.getIdentifier()) {
    std::string Name = R.getQualifiedNameAsString();
    Info.Row = Unit.knowledge().lockType(Name);
    Info.Guard = guardOfName(Name);
    const auto *Outer = dyn_cast<CXXRecordDecl>(R.getDeclContext());
    // tbb::spin_mutex::scoped_lock and its kin.
    if (Info.Guard == GuardKind::None && R.getName() == "scoped_lock" &&
        Outer && lockRow(Outer) >= 0)
      Info.Guard = GuardKind::Exclusive;
  }
  if (Info.Guard == GuardKind::None && R.hasAttr<ScopedLockableAttr>())
    Info.Guard = GuardKind::Exclusive;
  return Records.try_emplace(Key, Info).first->second;
}

int Callees::lockRow(const CXXRecordDecl *R) { return R ? info(*R).Row : -1; }

int Callees::lockRowOf(QualType T) {
  T = T.getNonReferenceType();
  if (T->isAnyPointerType())
    T = T->getPointeeType();
  while (const Type *Array = T->getArrayElementTypeNoTypeQual())
    T = QualType(Array, 0);
  // In C the name is often a typedef of an anonymous record or a number.
  for (const auto *Name = T->getAs<TypedefType>(); Name;
       Name = Name->desugar()->getAs<TypedefType>())
    if (int Row = Unit.knowledge().lockType(Name->getDecl()->getName());
        Row >= 0)
      return Row;
  const RecordDecl *R = T->getAsRecordDecl();
  if (const auto *Class = dyn_cast_or_null<CXXRecordDecl>(R))
    return lockRow(Class);
  return R && R->getIdentifier() ? Unit.knowledge().lockType(R->getName()) : -1;
}

GuardKind Callees::guard(const CXXRecordDecl *R) {
  return R ? info(*R).Guard : GuardKind::None;
}

const CXXMethodDecl *Callees::method(const CXXRecordDecl &R, StringRef Name) {
  const CXXRecordDecl *Definition = R.getDefinition();
  if (!Definition)
    return nullptr;
  for (const CXXMethodDecl *M : Definition->methods())
    if (M->getIdentifier() && M->getName() == Name)
      return M;
  return nullptr;
}

void Callees::learn(const FunctionDecl &F, ArrayRef<Effect> Effects) {
  if (Effects.empty())
    return;
  of(F);
  Callee &C = *Known[F.getCanonicalDecl()];
  if (C.Effects.empty() && !C.IsPrimitive)
    C.Effects.append(Effects.begin(), Effects.end());
}

const Callee &Callees::of(const FunctionDecl &F) {
  const FunctionDecl *Key = F.getCanonicalDecl();
  auto Found = Known.find(Key);
  if (Found != Known.end())
    return *Found->second;
  auto Made = std::make_unique<Callee>();
  Callee &C = *Made;
  C.IsSystem = Unit.inSystemHeader(F.getLocation());
  const DeclContext *Around = F.getDeclContext();
  while (Around->isRecord() || Around->isTransparentContext())
    Around = Around->getParent();
  C.IsLibrary = C.IsSystem && Around->isNamespace();
  if (F.hasAttrs())
    annotated(F, C);
  if (C.Effects.empty())
    if (const auto *M = dyn_cast<CXXMethodDecl>(&F))
      byMethod(*M, C);
  if (C.Effects.empty() && !F.isInStdNamespace())
    byName(F, C);
  return *Known.try_emplace(Key, std::move(Made)).first->second;
}

void Callees::byMethod(const CXXMethodDecl &M, Callee &Out) {
  if (!M.getIdentifier() || M.isStatic())
    return;
  auto Known = methodEffect(M.getName());
  int Row = Known ? lockRow(M.getParent()) : -1;
  if (Row < 0)
    return;
  Effect E;
  E.Where.In = Place::Kind::Parameter;
  E.Where.Param = 0;
  E.What = Known->What;
  E.Shared = Known->Shared;
  E.Row = Row;
  E.Excludes = excludes(Unit.knowledge().locks()[unsigned(Row)].Kind);
  Out.Effects.push_back(E);
  Out.IsPrimitive = true;
}

void Callees::byName(const FunctionDecl &F, Callee &Out) {
  if (!F.getIdentifier())
    return;
  std::string Name = F.isExternC() || !Unit.context().getLangOpts().CPlusPlus ||
                             F.isInAnonymousNamespace()
                         ? F.getName().str()
                         : Unit.linkageName(F);
  for (const LockCall &Call : Unit.knowledge().lockCalls(Name)) {
    Effect E;
    E.Where.In = Place::Kind::Parameter;
    E.Where.Param = unsigned(Call.Arg);
    E.What = Call.Effect;
    E.Shared = Call.Shared;
    E.Row = Call.Row;
    E.Excludes = excludes(Unit.knowledge().locks()[unsigned(Call.Row)].Kind) &&
                 !isWait(Name);
    E.ZeroIsSuccess = zeroIsSuccess(Name);
    Out.Effects.push_back(E);
    Out.IsPrimitive = true;
  }
}

/// Clang's thread-safety attributes; their arguments speak of the callee's
/// parameters.
void Callees::annotated(const FunctionDecl &F, Callee &Out) {
  Places At(Unit.context(), &F, nullptr);
  bool InGuard = false;
  if (const auto *M = dyn_cast<CXXMethodDecl>(&F))
    InGuard = guard(M->getParent()) != GuardKind::None &&
              M->getParent()->hasAttr<ScopedLockableAttr>();
  auto Say = [&](llvm::iterator_range<Expr **> Args, LockEffect What,
                 bool Shared, bool ZeroIsSuccess,
                 llvm::SmallVectorImpl<Effect> &To) {
    Effect E;
    E.What = What;
    E.Shared = Shared;
    E.ZeroIsSuccess = ZeroIsSuccess;
    if (Args.empty()) {
      E.Where.In = Place::Kind::Parameter;
      if (const auto *M = dyn_cast<CXXMethodDecl>(&F)) {
        E.OfGuard = InGuard;
        E.Row = lockRow(M->getParent());
        To.push_back(E);
      }
      return;
    }
    for (const Expr *Arg : Args) {
      const Expr *Plain = Arg->IgnoreParenImpCasts();
      const auto *Not = dyn_cast<UnaryOperator>(Plain);
      if (Plain->isTypeDependent() || isa<StringLiteral>(Plain) ||
          (Not && Not->getOpcode() == UO_LNot))
        continue;
      E.Where = Plain->getType()->isAnyPointerType() ? At.pointee(Arg)
                                                     : At.object(Plain);
      E.Row = lockRowOf(Plain->getType());
      E.Text = Unit.text(Plain->getSourceRange()).str();
      if (E.Where.isReported())
        To.push_back(E);
    }
  };
  for (const Attr *A : F.attrs()) {
    if (const auto *Take = dyn_cast<AcquireCapabilityAttr>(A)) {
      Say(Take->args(), LockEffect::Lock, Take->isShared(), false, Out.Effects);
    } else if (const auto *Drop = dyn_cast<ReleaseCapabilityAttr>(A)) {
      Say(Drop->args(), LockEffect::Unlock, Drop->isShared(), false,
          Out.Effects);
    } else if (const auto *Try = dyn_cast<TryAcquireCapabilityAttr>(A)) {
      bool Value = true;
      if (const Expr *Success = Try->getSuccessValue();
          !Success->isValueDependent())
        Success->EvaluateAsBooleanCondition(Value, Unit.context());
      Say(Try->args(), LockEffect::TryLock, Try->isShared(), !Value,
          Out.Effects);
    } else if (const auto *Need = dyn_cast<RequiresCapabilityAttr>(A)) {
      Say(Need->args(), LockEffect::Lock, Need->isShared(), false,
          Out.Requires);
    } else if (const auto *Assert = dyn_cast<AssertCapabilityAttr>(A)) {
      Say(Assert->args(), LockEffect::Lock, Assert->isShared(), false,
          Out.Effects);
    }
  }
  if (const auto *M = dyn_cast<CXXMethodDecl>(&F))
    Out.IsPrimitive = !Out.Effects.empty() && lockRow(M->getParent()) >= 0;
}

} // namespace linemate
