//===- Starts.cpp - Threads that objects and directives start -------------===//
//
// Owns which function a callable object runs.  Functions of C that start
// threads are ordinary calls with the address of a function.
//
//===----------------------------------------------------------------------===//

#include "Body.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/OpenMPKinds.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxCallableDepth = 8;

StringRef threadClass(const CXXRecordDecl *R) {
  if (!R || !R->getIdentifier())
    return {};
  bool Std = R->isInStdNamespace();
  if (Std && R->getName() == "thread")
    return "std::thread";
  if (Std && R->getName() == "jthread")
    return "std::jthread";
  const auto *Space = dyn_cast<NamespaceDecl>(R->getDeclContext());
  if (Space && Space->getName() == "boost" && R->getName() == "thread")
    return "boost::thread";
  return {};
}

/// The thread class that a container holds.
StringRef heldThreads(const CXXRecordDecl *R) {
  const auto *Of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!Of || !Of->isInStdNamespace() || !Of->getTemplateArgs().size() ||
      Of->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return {};
  return threadClass(
      Of->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl());
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

bool Body::starts(const CXXConstructExpr &C) {
  StringRef Api = threadClass(C.getConstructor()->getParent());
  if (Api.empty())
    return false;
  if (C.getNumArgs() && !C.getConstructor()->isCopyOrMoveConstructor()) {
    start(callable(C.getArg(0)), Api, false, C.getExprLoc());
    for (const Expr *Arg : llvm::drop_begin(C.arguments()))
      escapes(Arg);
  }
  return true;
}

bool Body::starts(const CallExpr &C) {
  const FunctionDecl *F = C.getDirectCallee();
  if (!F->getIdentifier())
    return false;
  StringRef Name = F->getName();
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(&C)) {
    StringRef Held = Name.starts_with("emplace")
                         ? heldThreads(Member->getRecordDecl())
                         : StringRef();
    if (!Held.empty() && C.getNumArgs()) {
      start(callable(C.getArg(0)), Held, false, C.getExprLoc());
      return false; // the container itself is written
    }
  }
  if (Name == "async" && F->isInStdNamespace()) {
    for (const Expr *Arg : C.arguments())
      if (const FunctionDecl *Entry = callable(Arg)) {
        start(Entry, "std::async", false, C.getExprLoc());
        break;
      }
    return true;
  }
  // A pool of the project: plain functions are found by their address.
  const ThreadRow *Row = Unit.knowledge().thread(F->getQualifiedNameAsString());
  if (!Row && Context.getLangOpts().CPlusPlus && !F->isExternC() &&
      !Unit.inSystemHeader(F->getLocation()))
    Row = Unit.knowledge().thread(Unit.linkageName(*F));
  if (!Row)
    return false;
  unsigned Entry = unsigned(Row->Entry);
  if (isa<CXXMemberCallExpr>(C)) {
    if (!Entry)
      return false;
    --Entry; // `this` is 0
  }
  if (Entry >= C.getNumArgs())
    return false;
  const Expr *Arg = C.getArg(Entry)->IgnoreParenImpCasts();
  if (const FunctionDecl *Run = callable(Arg);
      Run && (Context.getLangOpts().CPlusPlus && !F->isExternC()))
    start(Run, F->getQualifiedNameAsString(), Row->Many, C.getExprLoc());
  return false;
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
