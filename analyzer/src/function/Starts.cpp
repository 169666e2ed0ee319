//===- Starts.cpp - Threads that objects and directives start -------------===//
//
// Owns which function a callable object runs, and which threads an object
// waits for as it is destroyed.  Functions of C that start threads are ordinary
// calls with the address of a function.
//
//===----------------------------------------------------------------------===//

#include "Body.h"

#include "QualifiedName.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/OpenMPKinds.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxCallableDepth = 8;
constexpr unsigned MaxEndingDepth = 4;

/// The types of what an object of a library's template has, and whether it has
/// several; of what others may have as well it has nothing.
std::pair<QualType, bool> heldBy(const CXXRecordDecl &R) {
  const auto *Of = dyn_cast<ClassTemplateSpecializationDecl>(&R);
  if (!Of || !Of->getIdentifier() || !Of->getTemplateArgs().size() ||
      Of->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return {};
  enum class Holds { Nothing, One, Several };
  auto How = llvm::StringSwitch<Holds>(Of->getName())
                 .Cases("unique_ptr", "optional", Holds::One)
                 .Cases("vector", "deque", "list", Holds::Several)
                 .Cases("array", "forward_list", Holds::Several)
                 .Default(Holds::Nothing);
  if (How == Holds::Nothing)
    return {};
  return {Of->getTemplateArgs()[0].getAsType(), How == Holds::Several};
}

/// The method of \p R or of the nearest class that it is derived from.
const CXXMethodDecl *methodOf(const CXXRecordDecl *R, StringRef Name,
                              unsigned Depth = 0) {
  R = R ? R->getDefinition() : nullptr;
  if (!R || Depth > MaxCallableDepth)
    return nullptr;
  for (const CXXMethodDecl *M : R->methods())
    if (M->getIdentifier() && M->getName() == Name)
      return M;
  for (const CXXBaseSpecifier &Base : R->bases())
    if (const CXXMethodDecl *M =
            methodOf(Base.getType()->getAsCXXRecordDecl(), Name, Depth + 1))
      return M;
  return nullptr;
}

const FunctionDecl *callOperator(const CXXRecordDecl &R) {
  const CXXMethodDecl *Found = nullptr;
  if (R.isLambda()) {
    Found = R.getLambdaCallOperator();
  } else if (const CXXRecordDecl *D = R.getDefinition()) {
    for (const CXXMethodDecl *M : D->methods())
      if (M->getOverloadedOperator() == OO_Call)
        Found = M;
  }
  // Of a generic lambda the one instance that has a body, if one has.
  if (Found && Found->getDescribedFunctionTemplate())
    for (const FunctionDecl *F :
         Found->getDescribedFunctionTemplate()->specializations())
      if (F->hasBody())
        return F;
  return Found;
}

/// What a wrapper of the library that can be called is made from.
const Expr *wrapped(const CallExpr &C) {
  const FunctionDecl *F = C.getDirectCallee();
  bool Wraps = F && F->isInStdNamespace() && C.getNumArgs() &&
               F->getIdentifier() &&
               llvm::StringSwitch<bool>(F->getName())
                   .Cases("bind", "ref", "cref", "move", "forward", true)
                   .Cases("bind_front", "mem_fn", "decay_copy", true)
                   .Default(false);
  return Wraps ? C.getArg(0) : nullptr;
}

/// \p E without the library's wrappers around it.
const Expr *unwrapped(const Expr *E) {
  for (unsigned Depth = 0; Depth < MaxCallableDepth; ++Depth) {
    const Expr *Inner = E->IgnoreParenImpCasts();
    if (const auto *Kept = dyn_cast<MaterializeTemporaryExpr>(Inner))
      Inner = Kept->getSubExpr()->IgnoreParenImpCasts();
    if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(Inner))
      Inner = Bound->getSubExpr()->IgnoreParenImpCasts();
    const auto *C = dyn_cast<CallExpr>(Inner);
    Inner = C ? wrapped(*C) : nullptr;
    if (!Inner)
      break;
    E = Inner;
  }
  return E;
}

} // namespace

const FunctionDecl *Body::callable(const Expr *E, unsigned Depth) {
  if (Depth > MaxCallableDepth)
    return nullptr;
  E = E->IgnoreParenImpCasts();
  if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(E))
    E = Bound->getSubExpr()->IgnoreParenImpCasts();
  if (const auto *Kept = dyn_cast<MaterializeTemporaryExpr>(E))
    return callable(Kept->getSubExpr(), Depth + 1);
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_AddrOf)
    E = U->getSubExpr()->IgnoreParens();
  const CXXRecordDecl *R =
      E->getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl()))
      return F;
    // A packaged_task, a std::function: what it was made from.
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (V && R && R->isInStdNamespace() && V->getInit())
      return callable(V->getInit(), Depth + 1);
  }
  if (const auto *C = dyn_cast<CallExpr>(E))
    if (const Expr *Inner = wrapped(*C))
      return callable(Inner, Depth + 1);
  if (const auto *Made = dyn_cast<CXXConstructExpr>(E))
    if (Made->getNumArgs() && R &&
        (R->isInStdNamespace() ||
         Made->getConstructor()->isCopyOrMoveConstructor()))
      return callable(Made->getArg(0), Depth + 1);
  if (const auto *List = dyn_cast<CXXFunctionalCastExpr>(E))
    return callable(List->getSubExpr(), Depth + 1);
  return R && !R->isInStdNamespace() ? callOperator(*R) : nullptr;
}

void Body::start(const FunctionDecl *Entry, StringRef Api, bool Many,
                 SourceLocation Where) {
  if (!Entry)
    return;
  addStart(Unit.symbol(*Entry), Api, Many, Where);
  Started.push_back(Entry->getCanonicalDecl());
  Known.elements().Started.insert(Entry->getCanonicalDecl());
}

/// The functions that an expression may choose.
llvm::SmallVector<const FunctionDecl *, 4> Body::chosen(const Expr *E) {
  Chosen Functions(Context, Seen, Known.members());
  auto Found = Functions.of(E);
  return {Found.begin(), Found.end()};
}

/// A thread that runs \p Run, which may be chosen among several functions.
void Body::startAny(const Expr *Run, StringRef Api, bool Many,
                    SourceLocation Where) {
  if (const FunctionDecl *Entry = callable(Run))
    return start(Entry, Api, Many, Where);
  for (const FunctionDecl *Entry : chosen(unwrapped(Run)))
    start(Entry, Api, Many, Where);
}

void Body::addStart(int64_t Entry, StringRef Api, bool Many,
                    SourceLocation Where) {
  StartFact S;
  S.Entry = Entry;
  S.Api = Api.str();
  S.Many = Many;
  Position P = Unit.position(Where);
  S.File = P.File;
  S.Line = P.Line;
  S.Column = P.Column;
  S.LoopDepth = Here.Shape.LoopDepth;
  S.Rarity = Here.Shape.Rarity;
  S.Order = Here.Shape.Order;
  Out.Starts.push_back(std::move(S));
}

/// What a class is called whose constructor starts a thread, "" for others.
std::string Body::threadClass(const CXXRecordDecl *R) {
  std::string Name = R && R->getIdentifier() ? qualifiedName(*R) : "";
  return Unit.knowledge().threadClass(Name) ? Name : std::string();
}

/// The thread class that a container holds.
std::string Body::heldThreads(const CXXRecordDecl *R) {
  const auto *Of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!Of || !Of->isInStdNamespace() || !Of->getTemplateArgs().size() ||
      Of->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return {};
  return threadClass(
      Of->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl());
}

bool Body::starts(const CXXConstructExpr &C) {
  std::string Api = threadClass(C.getConstructor()->getParent());
  if (Api.empty())
    return false;
  if (C.getNumArgs() && !C.getConstructor()->isCopyOrMoveConstructor()) {
    size_t First = Out.Starts.size();
    startAny(C.getArg(0), Api, false, C.getExprLoc());
    llvm::SmallVector<const Expr *, 4> Given(C.arguments());
    handed(First, Given);
    for (const Expr *Arg : llvm::drop_begin(C.arguments()))
      escapes(Arg);
  }
  return true;
}

/// Plain functions that C functions are handed are found by their address.
bool Body::starts(const CallExpr &C) {
  const FunctionDecl *F = C.getDirectCallee();
  if (!F->getIdentifier())
    return false;
  const auto *Member = dyn_cast<CXXMemberCallExpr>(&C);
  if (Member) {
    std::string Held = F->getName().starts_with("emplace")
                           ? heldThreads(Member->getRecordDecl())
                           : std::string();
    if (!Held.empty() && C.getNumArgs()) {
      size_t First = Out.Starts.size();
      startAny(C.getArg(0), Held, false, C.getExprLoc());
      llvm::SmallVector<const Expr *, 4> Given(C.arguments());
      handed(First, Given);
      return false; // the container itself is written
    }
  }
  std::string Name = qualifiedName(*F);
  const ThreadRow *Row = Unit.knowledge().thread(Name);
  bool IsCxx = Context.getLangOpts().CPlusPlus && !F->isExternC();
  if (!Row && IsCxx && !Unit.inSystemHeader(F->getLocation()))
    Row = Unit.knowledge().thread(Unit.linkageName(*F));
  if (!Row || !IsCxx)
    return false;
  Actual A = actual(C);
  bool HasThis = A.HasThis;
  const FunctionDecl *Run = nullptr;
  if (!Row->Entry) {
    for (const Expr *Arg : C.arguments())
      if (!Run)
        Run = callable(Arg);
  } else if (size_t(*Row->Entry) < A.Args.size()) {
    const Expr *Arg = A.Args[size_t(*Row->Entry)]->IgnoreParenImpCasts();
    QualType T = Arg->getType();
    if (T->isAnyPointerType())
      T = T->getPointeeType();
    Run = Row->Runs.empty() ? callable(Arg)
                            : methodOf(T->getAsCXXRecordDecl(), Row->Runs);
  }
  size_t First = Out.Starts.size();
  start(Run, Name, Row->Many, C.getExprLoc());
  // What an algorithm is given it divides among its threads itself: the ends of
  // a range are nobody's elements.
  bool Divides = Row->Many && !Row->Entry;
  llvm::SmallVector<const Expr *, 4> Given;
  for (const Expr *Arg : C.arguments())
    if (!Divides || callable(Arg))
      Given.push_back(Arg);
  handed(First, Given);
  // What is handed to a library's template is not called here.
  if (!Run || HasThis || !Known.of(*F).IsLibrary)
    return false;
  for (const Expr *Arg : C.arguments())
    escapes(Arg);
  return true;
}

/// Has an object of this type threads, at whatever depth?
bool Body::keepsThreads(QualType T, unsigned Depth) {
  const CXXRecordDecl *R =
      QualType(T->getBaseElementTypeUnsafe(), 0)->getAsCXXRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!R || R->isInvalidDecl() || Depth > MaxEndingDepth ||
      R->hasTrivialDestructor())
    return false;
  if (!threadClass(R).empty())
    return true;
  if (R->isInStdNamespace()) {
    QualType Held = heldBy(*R).first;
    return !Held.isNull() && keepsThreads(Held, Depth + 1);
  }
  return llvm::any_of(R->bases(),
                      [&](const CXXBaseSpecifier &B) {
                        return keepsThreads(B.getType(), Depth + 1);
                      }) ||
         llvm::any_of(R->fields(), [&](const FieldDecl *F) {
           return keepsThreads(F->getType(), Depth + 1);
         });
}

/// Destructors that the program wrote are followed.
Body::Ending Body::ending(QualType T, unsigned Depth) {
  if (Depth > MaxEndingDepth)
    return {};
  if (const ArrayType *Elements = Context.getAsArrayType(T))
    return {ending(Elements->getElementType(), Depth + 1).By, true};
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!R || R->isInvalidDecl() || R->hasTrivialDestructor())
    return {};
  const CXXDestructorDecl *D = R->getDestructor();
  if (D && Unit.knowledge().joins(qualifiedName(*D)))
    return {D, false};
  if (R->isInStdNamespace()) {
    auto [Held, Several] = heldBy(*R);
    Ending Of = Held.isNull() ? Ending() : ending(Held, Depth + 1);
    return {Of.By, Of.Each || Several};
  }
  if (D && D->isUserProvided())
    return {!Known.of(*D).IsLibrary && keepsThreads(T) ? D : nullptr, false};
  for (const FieldDecl *F : R->fields())
    if (const CXXDestructorDecl *By = ending(F->getType(), Depth + 1).By)
      return {By, false}; // as often as what starts them, the constructor
  for (const CXXBaseSpecifier &Base : R->bases())
    if (const CXXDestructorDecl *By = ending(Base.getType(), Depth + 1).By)
      return {By, false};
  return {};
}

/// An object ends, and with it the threads that it has; \p Said is the
/// destructor whose call is a row already.
void Body::joined(QualType Destroyed, const CXXDestructorDecl *Said,
                  SourceLocation Where) {
  Ending Of = ending(Destroyed);
  if (!Of.By ||
      (Of.By == Said && Said->isUserProvided() && !Known.of(*Said).IsLibrary))
    return;
  auto Depth = Here.Shape.LoopDepth;
  Here.Shape.LoopDepth += Of.Each;
  if (Of.Each && !Depth)
    EndLoops.insert(Here.Block);
  callRow(Of.By, false, Where);
  Here.Shape.LoopDepth = Depth;
}

/// Do the threads of a region wait for each other at this directive, or at its
/// end (OpenMP API 5.2, sections 11.3, 11.5 and 15.3)?
static bool isBarrier(const OMPExecutableDirective &D) {
  OpenMPDirectiveKind Kind = D.getDirectiveKind();
  bool Shares = isOpenMPWorksharingDirective(Kind) &&
                !isOpenMPParallelDirective(Kind) &&
                !isa<OMPSectionDirective>(D);
  return isa<OMPBarrierDirective>(D) ||
         (Shares && !D.hasClausesOfKind<OMPNowaitClause>());
}

void Body::regions(const OMPExecutableDirective &D) {
  const FunctionDecl *Around = Seen.Around ? Seen.Around : Function;
  if (Around && isBarrier(D)) {
    callRow(Unit.symbol("omp barrier", *Around), D.getBeginLoc());
    Turns.waits(Here.Block);
  }
  if (!regionBody(D))
    return;
  auto Region = llvm::find(Seen.Regions, &D) - Seen.Regions.begin();
  // Of sections each is one thread's, the first without a directive as well.
  bool Once = isa<OMPSectionDirective, OMPParallelSectionsDirective>(D);
  addStart(-2 - int64_t(Region),
           Once ? "omp section"
                : "omp " + getOpenMPDirectiveName(D.getDirectiveKind()).str(),
           !Once, D.getBeginLoc());
}

} // namespace linemate
