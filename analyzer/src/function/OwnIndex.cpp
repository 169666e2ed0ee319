//===- OwnIndex.cpp - Where does an index come from? ----------------------===//
//
// Owns what makes an element of an array one thread's own: an index that is the
// number of the running thread, or was handed over with the call; and what
// small functions return, an element at such an index or always the same
// object.  How the index is used is Location.cpp's.
//
//===----------------------------------------------------------------------===//

#include "Location.h"
#include "QualifiedName.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxLooked = 64;   ///< statements behind one index
constexpr unsigned MaxAccessor = 6;  ///< statements of an accessor
constexpr unsigned MaxAccessors = 3; ///< that call each other
constexpr unsigned MaxOwnSteps = 3;  ///< from local pointer to local pointer
constexpr unsigned MaxOwnValues = 4; ///< of a pointer that is set again

/// "threadId" and "thread_id" are thread and id.
llvm::SmallVector<std::string, 4> wordsOf(StringRef Name) {
  llvm::SmallVector<std::string, 4> Words;
  char Before = '_';
  for (char C : Name) {
    bool Letter = llvm::isAlpha(C);
    if (Letter &&
        (!llvm::isAlpha(Before) || (llvm::isUpper(C) && llvm::isLower(Before))))
      Words.emplace_back();
    if (Letter)
      Words.back().push_back(llvm::toLower(C));
    Before = C;
  }
  return Words;
}

enum class Word : uint8_t { Other, Runner, Number, Own, Another };

Word meaningOf(StringRef Text) {
  return llvm::StringSwitch<Word>(Text)
      .Cases("thread", "tid", "worker", "cpu", "core", "lcore", Word::Runner)
      .Case("processor", Word::Runner)
      .Cases("id", "idx", "index", "number", "no", Word::Number)
      .Cases("my", "this", "current", "cur", "self", Word::Own)
      .Cases("next", "new", "num", "nr", "max", "main", "master", Word::Another)
      .Cases("first", "last", "any", "free", "random", "parent", Word::Another)
      .Default(Word::Other);
}

/// Does the name of a number say nothing but which thread or processor it is
/// of: "tid", "worker_id", "my_cpu"?
bool numbersThread(StringRef Name) {
  bool Runner = false;
  for (const std::string &Text : wordsOf(Name)) {
    Word W = meaningOf(Text);
    if (W == Word::Other || W == Word::Another)
      return false;
    Runner |= W == Word::Runner;
  }
  return Runner;
}

/// Does the name of a function end in whose number it tells:
/// "raw_smp_processor_id", "get_current_core", but not "next_thread_id"?
bool asksForThread(StringRef Name) {
  auto Words = wordsOf(Name);
  if (Words.size() < 2)
    return false;
  for (const std::string &Text : Words)
    if (meaningOf(Text) == Word::Another)
      return false;
  Word Last = meaningOf(Words.back()), Before = meaningOf(Words.end()[-2]);
  return (Before == Word::Runner && Last == Word::Number) ||
         (Before == Word::Own && Last == Word::Runner);
}

/// What an event loop hands back as it was registered, which leads to what that
/// loop alone works on: the pointer beside each event.
bool isEventData(const MemberExpr &M) {
  const auto *Field = dyn_cast<FieldDecl>(M.getMemberDecl());
  const RecordDecl *R = Field ? Field->getParent() : nullptr;
  if (!R || !Field->getIdentifier())
    return false;
  StringRef Of = R->getName();
  if (const TypedefNameDecl *Alias = R->getTypedefNameForAnonDecl())
    Of = Alias->getName();
  return llvm::StringSwitch<bool>((Of + "." + Field->getName()).str())
      .Cases("epoll_data.ptr", "epoll_data_t.ptr", "kevent.udata", true)
      .Cases("io_uring_cqe.user_data", "port_event.portev_user", true)
      .Default(false);
}

/// Functions that return what this thread has set for itself.
bool returnsOwn(const FunctionDecl &F) {
  return F.getIdentifier() &&
         llvm::StringSwitch<bool>(F.getName())
             .Cases("pthread_getspecific", "tss_get", "thrd_getspecific", true)
             .Cases("TlsGetValue", "FlsGetValue", "g_private_get", true)
             .Case("io_uring_cqe_get_data", true)
             .Default(false);
}

/// Does the name of a number end in that it is one of something?
bool isNumbered(StringRef Name) {
  auto Words = wordsOf(Name);
  for (const std::string &Text : Words)
    if (meaningOf(Text) == Word::Another)
      return false;
  return !Words.empty() && meaningOf(Words.back()) == Word::Number;
}

/// Does a record say in its name that there is one of each thread: "worker",
/// "worker_t", "WorkerInfo", "thread_data"?
bool describesThread(const RecordDecl &R) {
  StringRef Name = R.getIdentifier() ? R.getName() : StringRef();
  if (const TypedefNameDecl *Alias = R.getTypedefNameForAnonDecl())
    Name = Alias->getName();
  bool Runner = false;
  for (const std::string &Text : wordsOf(Name)) {
    bool Kind = llvm::StringSwitch<bool>(Text)
                    .Cases("t", "s", "data", "info", "state", "desc", true)
                    .Cases("arg", "args", "ctx", "context", "record", true)
                    .Default(false);
    // A processor or a core is as often a part of a program as of a machine.
    bool Runs = llvm::StringSwitch<bool>(Text)
                    .Cases("thread", "worker", "lcore", "cpu", true)
                    .Default(false);
    if (!Runs && !Kind)
      return false;
    Runner |= Runs;
  }
  return Runner;
}

/// The values that a statement returns.
void collectReturned(const Stmt *S, SmallVectorImpl<const Expr *> &Values) {
  if (!S || isa<LambdaExpr>(S))
    return;
  if (const auto *Return = dyn_cast<ReturnStmt>(S))
    Values.push_back(Return->getRetValue());
  for (const Stmt *Child : S->children())
    collectReturned(Child, Values);
}

/// Is there a way out of the function in a statement?
bool returns(const Stmt *S) {
  SmallVector<const Expr *, 1> Values;
  collectReturned(S, Values);
  return !Values.empty();
}

} // namespace

/// Is it a number that a call handed over, which stays the same all through:
/// a parameter, or a copy that a lambda has?
bool Locations::isGiven(const DeclRefExpr &Ref) const {
  const auto *V = dyn_cast<VarDecl>(Ref.getDecl());
  if (!V || !Function)
    return false;
  const auto *P = dyn_cast<ParmVarDecl>(V);
  if (P && P->getDeclContext() == Function)
    return P->getType()->isIntegerType();
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  if (!Ref.refersToEnclosingVariableOrCapture() || !Method ||
      !Method->getParent()->isLambda() || !V->getType()->isIntegerType())
    return false;
  return llvm::any_of(Method->getParent()->captures(), [&](const auto &C) {
    return C.capturesVariable() && C.getCapturedVar() == V &&
           C.getCaptureKind() == LCK_ByCopy;
  });
}

bool Locations::isGivenNumber(const Expr &E) const {
  const auto *Ref = dyn_cast<DeclRefExpr>(E.IgnoreParenCasts());
  return Ref && isGiven(*Ref);
}

/// Does a pointer lead to what is the running thread's, because it is in
/// thread-local storage or an event loop handed it over?
bool Locations::isOwnPointer(const Expr *Pointer, unsigned Steps) const {
  const Expr *Plain = Pointer->IgnoreParenCasts();
  if (const auto *M = dyn_cast<MemberExpr>(Plain))
    return isEventData(*M);
  // What an element of the running thread leads to is that thread's.
  if (const auto *Of = dyn_cast<ArraySubscriptExpr>(Plain))
    return Of->getType()->isPointerType() &&
           originOf(Of->getIdx()) == IndexOrigin::OwnThread;
  if (const auto *Call = dyn_cast<CallExpr>(Plain))
    return Call->getDirectCallee() &&
           (returnsOwn(*Call->getDirectCallee()) ||
            returnsOwnPointer(*Call->getDirectCallee()));
  if (const auto *Either = dyn_cast<AbstractConditionalOperator>(Plain)) {
    const auto *Short = dyn_cast<BinaryConditionalOperator>(Either);
    const Expr *First = Short ? Short->getCommon() : Either->getTrueExpr();
    return areOwnPointers({First, Either->getFalseExpr()}, Steps);
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(Plain);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || !V->getType()->isPointerType())
    return false;
  if (V->getTLSKind() != VarDecl::TLS_None)
    return true;
  auto Found =
      Locals ? Locals->Locals.find(V) : decltype(Locals->Locals.find(V))();
  return Locals && Found != Locals->Locals.end() && Steps < MaxOwnSteps &&
         !isa<ParmVarDecl>(V) && !Found->second.escapes() &&
         areOwnPointers(Found->second.Values, Steps + 1);
}

/// Do all these pointers lead to what is the running thread's, but those that
/// lead nowhere?
bool Locations::areOwnPointers(ArrayRef<const Expr *> Pointers,
                               unsigned Steps) const {
  if (Pointers.size() > MaxOwnValues)
    return false;
  bool Any = false;
  for (const Expr *Pointer : Pointers) {
    if (!Pointer)
      return false;
    if (Pointer->isNullPointerConstant(Context,
                                       Expr::NPC_ValueDependentIsNotNull))
      continue;
    if (!isOwnPointer(Pointer, Steps))
      return false;
    Any = true;
  }
  return Any;
}

/// Does a function return, on all ways, a pointer or reference to what is the
/// running thread's: what thread-local storage has, or what is first put there?
bool Locations::returnsOwnPointer(const FunctionDecl &F) const {
  const FunctionDecl *Defined = nullptr;
  QualType Result = F.getReturnType();
  if (!Known || Within >= MaxAccessors || F.isInStdNamespace() ||
      !(Result->isPointerType() || Result->isReferenceType()) ||
      !F.hasBody(Defined))
    return false;
  auto [Slot, IsNew] = Known->ReturnsOwn.try_emplace(Defined, false);
  if (!IsNew)
    return Slot->second;
  const Stmt *Body = Defined->getBody();
  SmallVector<const Expr *, MaxOwnValues> Values;
  collectReturned(Body, Values);
  for (const Expr *&Value : Values)
    if (const auto *Of =
            Value ? dyn_cast<UnaryOperator>(Value->IgnoreParenCasts())
                  : nullptr;
        Of && Of->getOpcode() == UO_Deref && Result->isReferenceType())
      Value = Of->getSubExpr();
  Scan Seen;
  Seen.add(Body);
  Locations Inside(Context, Defined, &Seen, Known);
  Inside.Within = Within + 1;
  bool Owns = Inside.areOwnPointers(Values, 0);
  Known->ReturnsOwn[Defined] = Owns;
  return Owns;
}

/// Is it the number of a thread's record, which the function was given or is a
/// method of?  The record of another thread is looked for.
bool Locations::isNumberOfRunner(const MemberExpr &M) const {
  const auto *Field = dyn_cast<FieldDecl>(M.getMemberDecl());
  if (!Field || !isNumbered(Field->getName()) ||
      !Field->getType()->isIntegerType() ||
      !describesThread(*Field->getParent()))
    return false;
  const Expr *Of = M.getBase()->IgnoreParenCasts();
  for (unsigned Steps = 0; Steps < MaxOwnSteps; ++Steps) {
    if (isa<CXXThisExpr>(Of))
      return true;
    const auto *Ref = dyn_cast<DeclRefExpr>(Of);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || V->getDeclContext() != Function)
      return false;
    auto Found =
        Locals ? Locals->Locals.find(V) : decltype(Locals->Locals.find(V))();
    bool IsKnown = Locals && Found != Locals->Locals.end();
    if (isa<ParmVarDecl>(V))
      return V->getType()->isReferenceType() || !IsKnown ||
             (Found->second.Values.empty() && !Found->second.escapes());
    if (!IsKnown || Found->second.escapes() || Found->second.Values.size() != 1)
      return false;
    Of = Found->second.Values.front()->IgnoreParenCasts();
  }
  return false;
}

/// Is the index made of what only the running thread has (a number in
/// thread-local storage, one that a function returns for that purpose, or one
/// that is named after it), or of what the function was given?
IndexOrigin Locations::originOf(const Expr *Index) const {
  llvm::SmallVector<const Stmt *, 16> Work{Index};
  llvm::SmallPtrSet<const VarDecl *, 4> Seen;
  IndexOrigin Found = IndexOrigin::Unknown;
  for (unsigned Looked = 0; !Work.empty() && Looked < MaxLooked; ++Looked) {
    const Stmt *S = Work.pop_back_val();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      if (V && V->getTLSKind() != VarDecl::TLS_None)
        return IndexOrigin::OwnThread;
      if (V && V->getType()->isIntegerType() && V->getIdentifier() &&
          numbersThread(V->getName()))
        return IndexOrigin::OwnThread;
      if (isGiven(*Ref))
        Found = IndexOrigin::Given;
      if (V && Locals && Locals->Rounds.contains(V))
        Found = IndexOrigin::Round;
      if (!V || !Locals || !Seen.insert(V).second)
        continue;
      if (auto Numbers = Locals->Numbers.find(V);
          Numbers != Locals->Numbers.end()) {
        if (isCounted(Numbers->second))
          Found = std::max(Found, IndexOrigin::Counted);
        Work.append(Numbers->second.Values.begin(),
                    Numbers->second.Values.end());
      }
    } else if (const auto *Call = dyn_cast<CallExpr>(S)) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (F && tellsThread(*F))
        return IndexOrigin::OwnThread;
      continue; // what is made of arguments is no number of a thread
    } else if (isa<ArraySubscriptExpr>(S)) {
      continue;
    } else if (const auto *C = dyn_cast<CastExpr>(S);
               C && C->getCastKind() == CK_PointerToIntegral) {
      // The argument of a thread, which is a number as often.
      const auto *Ref =
          dyn_cast<DeclRefExpr>(C->getSubExpr()->IgnoreParenCasts());
      if (Ref && Ref->getDecl()->getDeclContext() == Function &&
          isa<ParmVarDecl>(Ref->getDecl()))
        Found = IndexOrigin::Given;
    } else if (const auto *M = dyn_cast<MemberExpr>(S)) {
      if (const ValueDecl *D = M->getMemberDecl();
          D->getIdentifier() && (numbersThread(D->getName()) ||
                                 (M->isArrow() && isNumbered(D->getName()) &&
                                  isOwnPointer(M->getBase())) ||
                                 isNumberOfRunner(*M)))
        return IndexOrigin::OwnThread;
    }
    for (const Stmt *Child : S->children())
      if (Child)
        Work.push_back(Child);
  }
  return Found;
}

/// A function known for it, one without arguments whose name says so, or one
/// that does nothing but return a number in thread-local storage.
bool Locations::tellsThread(const FunctionDecl &F) const {
  if (Known && F.getIdentifier() &&
      Known->Known.tellsThread(F.isExternC() || !Context.getLangOpts().CPlusPlus
                                   ? F.getName().str()
                                   : qualifiedName(F)))
    return true;
  if (!F.getReturnType()->isIntegerType())
    return false;
  if (F.getIdentifier() && !F.getNumParams() && asksForThread(F.getName()))
    return true;
  const auto *Body = dyn_cast_or_null<CompoundStmt>(F.getBody());
  if (!Body || Body->body_empty() || Body->size() > MaxAccessor)
    return false;
  // It may be declared right there.
  for (const Stmt *S : llvm::drop_end(Body->body()))
    if (!isa<DeclStmt>(S))
      return false;
  const auto *Return = dyn_cast<ReturnStmt>(Body->body_back());
  const Expr *Value = Return ? Return->getRetValue() : nullptr;
  if (!Value)
    return false;
  const auto *Ref = dyn_cast<DeclRefExpr>(Value->IgnoreParenCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->getTLSKind() != VarDecl::TLS_None;
}

/// What a small function returns, by address or reference.
GivenPlace Locations::returned(const FunctionDecl &F) const {
  const FunctionDecl *Defined = nullptr;
  if (!Known || Within >= MaxAccessors || F.isInStdNamespace() ||
      !F.hasBody(Defined))
    return {};
  const auto *Body = dyn_cast<CompoundStmt>(Defined->getBody());
  if (!Body || Body->body_empty() || Body->size() > MaxAccessor)
    return {};
  auto [Slot, IsNew] = Known->Returned.try_emplace(Defined);
  if (!IsNew)
    return Slot->second; // nothing while it is being looked at: it calls itself
  GivenPlace Found = returnedBy(*Defined, *Body);
  return Known->Returned[Defined] = Found;
}

GivenPlace Locations::returnedBy(const FunctionDecl &Defined,
                                 const CompoundStmt &Body) const {
  const auto *Return = dyn_cast<ReturnStmt>(Body.body_back());
  const Expr *Value = Return ? Return->getRetValue() : nullptr;
  if (!Value)
    return {};
  Scan Seen;
  Seen.add(&Body);
  Locations Inside(Context, &Defined, &Seen, Known);
  Inside.Within = Within + 1;
  Location P = Value->getType()->isAnyPointerType() ? Inside.pointee(Value)
                                                    : Inside.object(Value);
  bool IsParameter = P.In == Location::Kind::Parameter && !P.Offset;
  // An override may return another object, and a way out before the end too.
  const auto *Method = dyn_cast<CXXMethodDecl>(&Defined);
  bool Always = !(Method && Method->isVirtual()) &&
                llvm::none_of(llvm::drop_end(Body.body()), returns);
  if ((P.In == Location::Kind::Variable || IsParameter) && !P.Indexed) {
    if (!Always)
      return {};
    unsigned First = Method && Method->isInstance() ? 1 : 0;
    if (IsParameter)
      return {.Parameter = P.Param < First ? -1 : int(P.Param - First)};
    return {.Var = P.Var, .Offset = P.Offset};
  }
  if (!P.Indexed || P.Walks || P.Offset)
    return {};
  bool There = Always && P.In == Location::Kind::Variable;
  return {.Stride = P.Stride, .Own = P.Own, .Var = There ? P.Var : nullptr};
}

} // namespace linemate
