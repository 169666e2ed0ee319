//===- Callee.cpp - What calling a function does to locks -----------------===//
//
// Owns the order in which rows, annotations and bodies are believed.
//
//===----------------------------------------------------------------------===//

#include "Callee.h"

#include "QualifiedName.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

const Callees::RecordInfo &Callees::info(const CXXRecordDecl &R) {
  const auto *Key = cast<RecordDecl>(R.getCanonicalDecl());
  auto Known = Records.find(Key);
  if (Known != Records.end())
    return Known->second;
  RecordInfo Info;
  if (R.getIdentifier()) {
    std::string Name = qualifiedName(R);
    Info.Row = Unit.knowledge().lockType(Name);
    Info.Holds = Unit.knowledge().guard(Name);
  }
  if (!Info.Holds && R.hasAttr<ScopedLockableAttr>())
    Info.Holds = &Unit.knowledge().usualGuard();
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

const Guard *Callees::guard(const CXXRecordDecl *R) {
  return R ? info(*R).Holds : nullptr;
}

GuardMode Callees::guardMode(const Guard &G, QualType T) {
  const RecordDecl *R = T.getNonReferenceType()->getAsRecordDecl();
  return R && R->getIdentifier()
             ? Unit.knowledge().guardMode(G, qualifiedName(*R))
             : GuardMode::Locks;
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
    byName(F, C);
  return *Known.try_emplace(Key, std::move(Made)).first->second;
}

void Callees::add(const LockCall &Call, Callee &Out) {
  Effect E;
  E.Where.In = Location::Kind::Parameter;
  E.Where.Param = unsigned(Call.Arg);
  E.What = Call.Effect;
  E.Shared = Call.Shared;
  E.Row = Call.Row;
  E.Excludes = Call.Holds;
  E.ZeroIsSuccess = Call.ZeroIsSuccess;
  Out.Effects.push_back(E);
  Out.IsPrimitive = true;
}

void Callees::byName(const FunctionDecl &F, Callee &Out) {
  const Knowledge &Rows = Unit.knowledge();
  const auto *M = dyn_cast<CXXMethodDecl>(&F);
  if (!M && (F.isExternC() || !Unit.context().getLangOpts().CPlusPlus ||
             F.isInAnonymousNamespace())) {
    if (F.getIdentifier())
      for (const LockCall &Call : Rows.lockCalls(F.getName()))
        if (F.isVariadic() || !F.hasPrototype() ||
            unsigned(Call.Arg) < F.getNumParams()) // else its body says it
          add(Call, Out);
    if (Out.Effects.empty())
      byConvention(F, Out);
    return;
  }
  std::string Name = qualifiedName(F);
  if (Name.empty())
    return;
  ArrayRef<LockCall> Calls = Rows.qualifiedLockCalls(Name);
  if (Calls.empty() && !F.isInStdNamespace())
    Calls = Rows.lockCalls(Unit.linkageName(F)); // as a project may say it
  for (const LockCall &Call : Calls)
    // What else a library does to its objects stands in Body::library.
    if (Call.Effect != LockEffect::Init &&
        (!Out.IsLibrary || (M && Call.Holds)))
      add(Call, Out);
  if (!Calls.empty() || !M || M->isStatic() || !M->getIdentifier())
    return;
  if (int Row = lockRow(M->getParent()); Row >= 0)
    if (auto Call = Rows.usualMethod(Row, M->getName()))
      add(*Call, Out);
}

namespace {

struct Verb {
  LockEffect What;
  bool Shared;
};

/// What the end of a C function's name says that it does to a lock.
std::optional<Verb> verbOf(StringRef End) {
  using E = LockEffect;
  return llvm::StringSwitch<std::optional<Verb>>(End)
      .Cases("lock", "wrlock", "wlock", "write_lock", "writelock",
             Verb{E::Lock, false})
      .Cases("rdlock", "rlock", "read_lock", "readlock", Verb{E::Lock, true})
      .Cases("trylock", "try_lock", "trywrlock", "wtrylock",
             Verb{E::TryLock, false})
      .Cases("tryrdlock", "rtrylock", Verb{E::TryLock, true})
      .Cases("unlock", "wrunlock", "wunlock", "write_unlock", "writeunlock",
             Verb{E::Unlock, false})
      .Cases("rdunlock", "runlock", "read_unlock", "readunlock",
             Verb{E::Unlock, true})
      .Cases("init", "destroy", Verb{E::Init, false})
      .Default(std::nullopt);
}

/// `rwlock` of `isc_rwlock_t`: a name without its ending, if it is a lock's.
StringRef stemOfLock(StringRef Name) {
  for (StringRef Ending : {"_t", "_s"})
    if (Name.consume_back(Ending))
      break;
  return Name.ends_with("lock") || Name.ends_with("mutex") ? Name : "";
}

} // namespace

/// The typedef or tag that names a type as a lock, "" where neither does.
static StringRef stemOfLock(QualType T) {
  for (const auto *Name = T->getAs<TypedefType>(); Name;
       Name = Name->desugar()->getAs<TypedefType>())
    if (StringRef Stem = stemOfLock(Name->getDecl()->getName()); !Stem.empty())
      return Stem;
  const RecordDecl *R = T->getAsRecordDecl();
  return R && R->getIdentifier() ? stemOfLock(R->getName()) : "";
}

/// A C function whose body is elsewhere and that is handed one lock: a type of
/// the vocabulary and a name that ends with what it does, or a type that is
/// named a lock and a function that is named after the type (`x_lock_t`,
/// `x_lock_unlock`).
void Callees::byConvention(const FunctionDecl &F, Callee &Out) {
  if (Out.IsSystem || !F.getIdentifier() || F.hasBody() || F.isVariadic() ||
      !F.getNumParams() || F.getReturnType()->isAnyPointerType())
    return;
  QualType Given = F.getParamDecl(0)->getType();
  if (!Given->isPointerType() || Given->getPointeeType().isConstQualified())
    return;
  QualType Lock = Given->getPointeeType();
  StringRef Name = F.getName();
  std::optional<Verb> Does;
  int Row = lockRowOf(Given);
  if (Row >= 0) {
    for (size_t At = Name.find('_'); At != StringRef::npos && !Does;
         At = Name.find('_', At + 1))
      Does = verbOf(Name.drop_front(At + 1));
  } else if (StringRef Stem = stemOfLock(Lock);
             !Stem.empty() && Name.consume_front(Stem)) {
    Does = verbOf(Name.ltrim('_'));
    Row = Unit.knowledge().lockType(
        Does && (Does->Shared || Stem.ends_with("rwlock"))
            ? "a project's rwlock"
            : "a project's lock");
  }
  if (!Does || Row < 0)
    return;
  bool ZeroIsSuccess = !F.getReturnType()->isBooleanType();
  add({Row, 0, Does->What, Does->Shared, Does->What != LockEffect::Init,
       ZeroIsSuccess},
      Out);
}

/// A class of the project that is annotated as a lock and has one lock of the
/// vocabulary as a member: that one is taken, as the bodies of its functions
/// say where they are read.
void Callees::wrapped(const RecordDecl *R, Locations &At, Effect &E) {
  R = R && E.Row < 0 && E.Where.isReported() ? R->getDefinition() : nullptr;
  const FieldDecl *Only = nullptr;
  for (const FieldDecl *Field :
       R ? R->fields() : RecordDecl::field_range({}, {})) {
    if (!Field->getType()->isRecordType() || lockRowOf(Field->getType()) < 0)
      continue;
    if (Only)
      return;
    Only = Field;
  }
  if (!Only)
    return;
  E.Where = At.member(E.Where, *Only);
  E.Row = lockRowOf(Only->getType());
}

/// An attribute names a pointer without loading it, as no body does.
static const Expr *loaded(const Expr &Pointer, const ASTContext &Context) {
  if (!Pointer.isGLValue())
    return &Pointer;
  return ImplicitCastExpr::Create(
      Context, Pointer.getType().getUnqualifiedType(), CK_LValueToRValue,
      const_cast<Expr *>(&Pointer), nullptr, VK_PRValue, FPOptionsOverride());
}

/// Clang's thread-safety attributes; their arguments speak of the callee's
/// parameters.
void Callees::annotated(const FunctionDecl &F, Callee &Out) {
  Locations At(Unit.context(), &F, nullptr);
  bool InGuard = false;
  if (const auto *M = dyn_cast<CXXMethodDecl>(&F))
    InGuard = M->getParent()->hasAttr<ScopedLockableAttr>();
  auto Say = [&](llvm::iterator_range<Expr **> Args, LockEffect What,
                 bool Shared, bool ZeroIsSuccess,
                 llvm::SmallVectorImpl<Effect> &To) {
    Effect E;
    E.What = What;
    E.Shared = Shared;
    E.ZeroIsSuccess = ZeroIsSuccess;
    if (Args.empty()) {
      E.Where.In = Location::Kind::Parameter;
      if (const auto *M = dyn_cast<CXXMethodDecl>(&F)) {
        E.OfGuard = InGuard;
        E.Row = lockRow(M->getParent());
        if (!InGuard)
          wrapped(M->getParent(), At, E);
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
      E.Where = Plain->getType()->isAnyPointerType()
                    ? At.pointee(loaded(*Arg, Unit.context()))
                    : At.object(Plain);
      QualType T = Plain->getType();
      E.Row = lockRowOf(T);
      wrapped(
          (T->isAnyPointerType() ? T->getPointeeType() : T)->getAsRecordDecl(),
          At, E);
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
