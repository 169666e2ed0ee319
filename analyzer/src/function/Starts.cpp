//===- Starts.cpp - Threads that objects and directives start -------------===//
//
// Owns which function a callable object runs.  Functions of C that start
// threads are ordinary calls with the address of a function.
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
  if (const auto *C = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *F = C->getDirectCallee();
    if (F && F->isInStdNamespace() && C->getNumArgs() && F->getIdentifier() &&
        llvm::StringSwitch<bool>(F->getName())
            .Cases("bind", "ref", "cref", "move", "forward", true)
            .Cases("bind_front", "mem_fn", "decay_copy", true)
            .Default(false))
      return callable(C->getArg(0), Depth + 1);
  }
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
  for (const FunctionDecl *Entry : chosen(Run))
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
    startAny(C.getArg(0), Api, false, C.getExprLoc());
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
      startAny(C.getArg(0), Held, false, C.getExprLoc());
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
  start(Run, Name, Row->Many, C.getExprLoc());
  // What is handed to a library's template is not called here.
  if (!Run || HasThis || !Known.of(*F).IsLibrary)
    return false;
  for (const Expr *Arg : C.arguments())
    escapes(Arg);
  return true;
}

void Body::regions(const OMPExecutableDirective &D) {
  if (!parallelBody(D))
    return;
  auto Region = llvm::find(Seen.Regions, &D) - Seen.Regions.begin();
  addStart(-2 - int64_t(Region),
           ("omp " + getOpenMPDirectiveName(D.getDirectiveKind())).str(), true,
           D.getBeginLoc());
}

} // namespace linemate
